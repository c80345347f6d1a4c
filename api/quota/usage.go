package quota

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// Usage is statistics of counted requests: kept in memory and written every few seconds. A node that is killed
// loses what it has not written; a database that is away is waited for. What is counted is written once, or lost:
// never twice.
type Usage struct {
	store  *store.Store
	now    func() time.Time
	log    *slog.Logger
	seed   maphash.Seed
	shards [64]usageShard

	writing sync.Mutex // one write at a time; it guards what follows
	away    bool
	pruneAt time.Time
}

type usageShard struct {
	mu     sync.Mutex
	counts map[string][]usageCount // by account; an account has few
}

// usageCount is requests that the database does not have yet.
type usageCount struct {
	endpoint string
	day      models.Date
	class    uint8
	idle     bool // nothing came since the last write

	waiting int64
	flying  int64 // being written just now
}

const (
	// usageEvery is how often statistics are written.
	usageEvery = 2 * time.Second
	// usagePortion is how many rows are written at once. On SQLite the daily quotas wait meanwhile, and they wait
	// only for 50 ms.
	usagePortion = 200
	// usageRest is how much longer than a portion took the rest after it is: with many accounts, the writing takes
	// longer rather than the machine.
	usageRest = 39
	// usageTimeout is how long a portion may take before the database counts as away.
	usageTimeout = 5 * time.Second
	// pruneTimeout bounds the search for what is too old, during which statistics wait: a look through a large table,
	// where there is nothing.
	pruneTimeout = time.Minute
)

// NewUsage makes a Usage; Run writes what it counts. now = nil means time.Now.
func NewUsage(st *store.Store, now func() time.Time, log *slog.Logger) *Usage {
	if now == nil {
		now = time.Now
	}
	u := &Usage{store: st, now: now, log: log, seed: maphash.MakeSeed()}
	for i := range u.shards {
		u.shards[i].counts = map[string][]usageCount{}
	}
	return u
}

// Record counts one request that was answered with status. day is the one in which the counters have it, which may be
// another than this machine's clock says; endpoint is the route, one of a few. It never waits for the database.
func (u *Usage) Record(account string, day models.Date, endpoint string, status int) {
	class := uint8(status / 100)
	sh := u.shard(account)
	sh.mu.Lock()
	if n := sh.find(account, endpoint, day, class); n != nil {
		n.waiting++
		n.idle = false
	} else {
		sh.counts[account] = append(sh.counts[account], usageCount{endpoint: endpoint, day: day, class: class, waiting: 1})
	}
	sh.mu.Unlock()
}

func (sh *usageShard) find(account, endpoint string, day models.Date, class uint8) *usageCount {
	counts := sh.counts[account]
	for i := range counts {
		if n := &counts[i]; n.class == class && n.day == day && n.endpoint == endpoint {
			return n
		}
	}
	return nil
}

// Pending is an account's requests of a day that this node has counted and not written yet.
func (u *Usage) Pending(account string, day models.Date) int64 {
	sh := u.shard(account)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	var n int64
	for _, count := range sh.counts[account] {
		if count.day == day {
			n += count.waiting + count.flying
		}
	}
	return n
}

func (u *Usage) shard(account string) *usageShard {
	return &u.shards[maphash.String(u.seed, account)%uint64(len(u.shards))]
}

// dateOf is the UTC day of t.
func dateOf(t time.Time) models.Date { return models.Date(t.Unix() / int64(Day/time.Second)) }

// Run writes what was counted, and takes away what is too old, until ctx ends. Flush then writes the rest.
func (u *Usage) Run(ctx context.Context) {
	tick := time.NewTicker(usageEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			u.writing.Lock()
			_ = u.write(ctx, true) // logged, and tried again
			u.prune(ctx)
			u.writing.Unlock()
		}
	}
}

// Flush writes all that was counted until now.
func (u *Usage) Flush(ctx context.Context) error {
	u.writing.Lock()
	defer u.writing.Unlock()
	return u.write(ctx, false)
}

// write adds what waits to the database, in portions, at leisure or as fast as it goes.
func (u *Usage) write(ctx context.Context, leisure bool) error {
	rows := u.take()
	for len(rows) > 0 {
		portion := rows[:min(len(rows), usagePortion)]
		began := time.Now()
		err := u.add(ctx, portion)
		if err != nil && !errors.Is(err, store.ErrUsageUnclear) {
			u.settle(rows, false)
			u.note(err)
			return err
		}
		if err != nil { // written or not: a second time might be once too often
			u.log.Warn("usage statistics of a few seconds may be lost", "error", err)
		}
		u.note(nil)
		u.settle(portion, true)
		rows = rows[len(portion):]
		if leisure && !rest(ctx, usageRest*time.Since(began)) {
			u.settle(rows, false)
			return ctx.Err()
		}
	}
	return nil
}

// add writes one portion. The end of ctx does not cut it short: that would leave open whether it was written.
func (u *Usage) add(ctx context.Context, rows []models.UsageDay) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTimeout)
	defer cancel()
	return u.store.AddUsage(ctx, rows)
}

// rest waits, and tells whether ctx lasted.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// take is what waits, as rows; it is flying until settle. Counts that have been idle are forgotten.
func (u *Usage) take() []models.UsageDay {
	var rows []models.UsageDay
	for i := range u.shards {
		sh := &u.shards[i]
		sh.mu.Lock()
		for account, counts := range sh.counts {
			counts = slices.DeleteFunc(counts, func(n usageCount) bool { return n.idle && n.waiting == 0 })
			if len(counts) == 0 {
				delete(sh.counts, account)
				continue
			}
			sh.counts[account] = counts
			for i := range counts {
				n := &counts[i]
				if n.waiting > 0 {
					rows = append(rows, models.UsageDay{AccountID: account, Day: n.day, Endpoint: n.endpoint, Class: int(n.class), Requests: n.waiting})
					n.flying, n.waiting = n.waiting, 0
				}
				n.idle = true
			}
		}
		sh.mu.Unlock()
	}
	slices.SortFunc(rows, store.CompareUsage) // so that portions touch few pages, and nodes the same ones in one order
	return rows
}

// settle ends the flight of rows: they were written, or wait again.
func (u *Usage) settle(rows []models.UsageDay, written bool) {
	for i := range rows {
		row := &rows[i]
		sh := u.shard(row.AccountID)
		sh.mu.Lock()
		if n := sh.find(row.AccountID, row.Endpoint, row.Day, uint8(row.Class)); n != nil {
			if !written {
				n.waiting += n.flying
			}
			n.flying = 0
		}
		sh.mu.Unlock()
	}
}

// note logs when the database goes away and when it is back.
func (u *Usage) note(err error) {
	switch {
	case err != nil && !u.away:
		u.log.Warn("usage statistics cannot be written now; they are kept in memory", "error", err)
	case err == nil && u.away:
		u.log.Info("usage statistics can be written again")
	}
	u.away = err != nil
}

// prune takes away, once a day, what is older than it is kept; a little at every call, until all is gone.
func (u *Usage) prune(ctx context.Context) {
	now := u.now()
	if now.Before(u.pruneAt) || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pruneTimeout)
	defer cancel()
	more, err := u.store.PruneUsage(ctx)
	switch {
	case err != nil:
		u.pruneAt = now.Add(time.Hour)
		u.log.Warn("old usage statistics cannot be taken away now", "error", err)
	case !more:
		u.pruneAt = now.Add(Day)
	}
}
