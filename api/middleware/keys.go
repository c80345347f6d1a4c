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

// Keys answers which account a key belongs to: from memory for every key it has seen, from the database else.
// Run keeps the memory true: a change by this process is seen at once, by any other within pollInterval. While the database is away,
// keys that were seen go on working.
type Keys struct {
	store *store.Store
	plans models.Plans
	now   func() time.Time
	log   *slog.Logger
	every time.Duration // pollInterval

	known keyMap

	mu        sync.Mutex
	byAccount map[string]*knownKey // the newest; the others follow
	seen      store.AccountChange  // the last that Run has worked off; Run's alone
	looks     atomic.Int64         // how often Run has seen which known keys are to be read anew; written under mu

	lookUps lookUps
	ahead   readAhead
	uses    uses
	away    atomic.Bool // changes could not be read at Run's last look
}

// pollInterval is how often a node asks for changed accounts. 2 seconds are promised; but somebody who has just paid, or
// revoked a key, tries it at once.
const pollInterval = 100 * time.Millisecond

// NewKeys starts with what the database says now of its own changes.
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

// Authenticate gives the principal of a key, or the problem.
func (k *Keys) Authenticate(ctx context.Context, key string) (*Principal, error) {
	hash := secret.Hash(key)
	entry := k.known.get(hash)
	if entry == nil {
		if !secret.WellFormed(key) { // no need to look it up
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

// learn reads keys and remembers them, and gives the last. If Run has looked meanwhile which known keys are to be read
// anew, what was read may be older than the change, and Run will not look for it again: so nothing of it is remembered,
// and it is read again, which may fail or not give all keys that it gave before.
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

// remember makes keys known, or what is known of them what the database says, unless Run has looked more often than
// looks. It gives the last of them.
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

// Run works off account changes and writes down last uses until ctx ends.
func (k *Keys) Run(ctx context.Context) {
	poll := time.NewTicker(k.every)
	defer poll.Stop()
	// Nothing may keep changes of accounts from being seen: neither a row that somebody has locked nor a connection
	// that was lost without a word. So last uses are written beside it, and keys read ahead.
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { k.uses.run(ctx) })
	beside.Go(func() { k.ahead.run(ctx) })
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case <-k.store.AccountsChanged():
		}
		err := k.refresh(ctx)
		if err != nil && !k.away.Load() && ctx.Err() == nil {
			k.log.Warn("account changes cannot be read; known keys go on working", "error", err)
		} else if err == nil && k.away.Load() {
			k.log.Info("account changes can be read again")
		}
		k.away.Store(err != nil)
	}
}

// refresh reloads the known keys of the accounts that changed, or all of them where nobody can tell which did.
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

// reload reads known keys anew. One that the database has no more is forgotten.
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
			k.known.remove(entry.hash)
		}
	}
	return nil
}
