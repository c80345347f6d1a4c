package middleware

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lottery/api/problem"
	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
)

// Keys finds the account that a key belongs to: in memory if the key has been seen, else in the database. Run keeps the
// memory current: a change by this process is seen at once, by any other within pollInterval. While the database is
// away, known keys keep working.
type Keys struct {
	store *store.Store
	plans models.Plans
	now   func() time.Time
	log   *slog.Logger
	every time.Duration // pollInterval

	known keyMap

	mu        sync.Mutex
	byAccount map[string]*knownKey // the newest key of each account; next links to the others
	seen      store.AccountChange  // the last change that Run has processed; used by Run only
	looks     atomic.Int64         // how often Run has listed known keys to reload; written under mu

	lookUps lookUps
	ahead   readAhead
	uses    uses
	away    atomic.Bool // Run's last attempt to read changes failed
}

// pollInterval is how often a node asks for changed accounts. We promise 2 seconds, but somebody who has just paid or
// revoked a key tries it at once.
const pollInterval = 100 * time.Millisecond

// NewKeys returns Keys that know no key yet and track account changes from now on.
func NewKeys(ctx context.Context, st *store.Store, plans models.Plans, now func() time.Time, log *slog.Logger) (*Keys, error) {
	k := &Keys{store: st, plans: plans, now: now, log: log, every: pollInterval, byAccount: map[string]*knownKey{}}
	k.lookUps.store = st
	k.ahead = readAhead{keys: k, wanted: make(chan struct{})}
	k.uses = uses{keys: k}
	newest, err := st.NewestAccountChange(ctx)
	if err != nil {
		return nil, err
	}
	k.seen = newest
	return k, nil
}

// Authenticate returns the principal of a key, or the problem with it; a key that is known but refused has both.
func (k *Keys) Authenticate(ctx context.Context, key string) (*Principal, error) {
	hash := secret.Hash(key)
	entry := k.known.get(hash)
	if entry == nil {
		if !secret.WellFormed(key) { // no lookup needed
			return nil, problem.New(problem.InvalidAPIKey, "the key in X-API-Key is mistyped or incomplete, or from another service; keys begin with %s", secret.KeyPrefix)
		}
		var err error
		if entry, err = k.lookUp(ctx, hash); err != nil {
			return nil, err
		}
	}
	p := entry.principal.Load()
	now := k.now()
	if err := p.check(now); err != nil {
		return p, err
	}
	entry.touch(now)
	return p, nil
}

// lookUp reads a key from the database and remembers it.
func (k *Keys) lookUp(ctx context.Context, hash [32]byte) (*knownKey, error) {
	entry, err := k.learn(func() ([]store.Key, error) {
		stored, err := k.lookUps.key(ctx, hash)
		switch {
		case models.ErrorCode(err) == models.CodeNotFound:
			return nil, problem.New(problem.InvalidAPIKey, "the key in X-API-Key is not known to this service")
		case err != nil:
			return nil, &problem.Problem{
				Code: problem.Unavailable, Detail: "keys cannot be looked up at the moment; try again shortly",
				RetryAfter: 5 * time.Second, Cause: err, Logged: errors.Is(err, errStillAway),
			}
		}
		return []store.Key{stored}, nil
	})
	if err == nil {
		k.ahead.lookedUp()
	}
	return entry, err
}

// learn reads keys and remembers them, and returns the last one. If Run has meanwhile listed the known keys to reload,
// the keys read may predate a change that Run will not look for again; so they are discarded and read again. The second
// read may fail, or return fewer keys.
func (k *Keys) learn(read func() ([]store.Key, error)) (*knownKey, error) {
	for {
		before := k.looks.Load()
		keys, err := read()
		if err != nil {
			return nil, err
		}
		if last, ok := k.remember(keys, before); ok {
			return last, nil
		}
	}
}

// remember adds keys to the known ones, or updates them, and returns the last. It does nothing, and returns false, if
// Run has listed keys more often than looks.
func (k *Keys) remember(keys []store.Key, looks int64) (last *knownKey, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.looks.Load() != looks {
		return nil, false
	}
	for i := range keys {
		hash := [32]byte(keys[i].Hash)
		if last = k.known.get(hash); last != nil {
			last.set(&keys[i], k.plans)
			continue
		}
		last = &knownKey{hash: hash}
		p := last.set(&keys[i], k.plans)
		k.known.put(last)
		last.next, k.byAccount[p.AccountID] = k.byAccount[p.AccountID], last
	}
	return last, true
}

// Run processes account changes and writes last uses until ctx ends.
func (k *Keys) Run(ctx context.Context) {
	poll := time.NewTicker(k.every)
	defer poll.Stop()
	// Neither a row that somebody has locked nor a connection that died silently may delay account changes, so last
	// uses are written and keys read ahead in other goroutines.
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { k.uses.run(ctx) })
	beside.Go(func() { k.ahead.run(ctx) })
	var outage store.Outage
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case <-k.store.AccountsChanged():
		}
		err := k.refresh(ctx)
		if ctx.Err() == nil {
			outage.Note(k.log, err, "account changes cannot be read; known keys go on working", "account changes can be read again")
		}
		k.away.Store(err != nil)
	}
}

// refresh reloads the known keys of changed accounts, or all known keys if it cannot be told which accounts changed.
func (k *Keys) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*lookUpTimeout)
	defer cancel()
	ids, newest, known, err := k.store.AccountChanges(ctx, k.seen)
	if err != nil || newest == k.seen {
		return err
	}
	var changed []*knownKey
	k.mu.Lock()
	k.looks.Add(1)
	for _, id := range ids {
		for entry := k.byAccount[id]; entry != nil; entry = entry.next {
			changed = append(changed, entry)
		}
	}
	k.mu.Unlock()
	if !known {
		k.log.Warn("the database was put back to an earlier state: all known keys are read anew")
		changed = slices.Collect(k.known.all())
	}
	for portion := range slices.Chunk(changed, lookUpsAtOnce) {
		if err := k.reload(ctx, portion); err != nil {
			return err
		}
	}
	k.seen = newest
	return nil
}

// reload rereads known keys and forgets those that are gone from the database.
func (k *Keys) reload(ctx context.Context, entries []*knownKey) error {
	hashes := make([][32]byte, len(entries))
	for i, entry := range entries {
		hashes[i] = entry.hash
	}
	keys, err := k.store.KeysByHash(ctx, hashes)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if stored, ok := keys[entry.hash]; ok {
			entry.set(&stored, k.plans)
		} else {
			k.forget(entry)
		}
	}
	return nil
}

// forget removes a key from the known ones.
func (k *Keys) forget(entry *knownKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known.remove(entry.hash)
	account := entry.principal.Load().AccountID
	if k.byAccount[account] == entry {
		if k.byAccount[account] = entry.next; entry.next == nil {
			delete(k.byAccount, account)
		}
		return
	}
	for e := k.byAccount[account]; e != nil; e = e.next {
		if e.next == entry {
			e.next = entry.next
		}
	}
}
