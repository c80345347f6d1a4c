package quota

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// Usage gathers statistics of counted requests in memory and writes them every few seconds. A node that is killed loses
// what it has not written; while the database is away, counts are kept. Each count is written at most once.
type Usage struct {
	store  *store.Store
	now    func() time.Time
	log    *slog.Logger
	seed   maphash.Seed
	shards [64]usageShard

	writing sync.Mutex // held during a write; guards what follows
	outage  store.Outage
	pruneAt time.Time
}

type usageShard struct {
	mu     sync.Mutex
	counts map[string][]usageCount // by account, which has few
}

// usageCount counts requests that are not in the database yet.
type usageCount struct {
	endpoint string
	day      models.Date
	class    uint8
	idle     bool // no request since the last write

	waiting int64
	flying  int64 // being written
}

const (
	// usageEvery is how often statistics are written.
	usageEvery = 2 * time.Second
	// usagePortion is how many rows one transaction writes. On SQLite the daily quotas wait for it,
	// and for no more than 50 ms.
	usagePortion = 200
	// usageRest is the length of the pause after a portion, as a multiple of the time that the portion took: with many
	// accounts, writing takes longer instead of taking over the machine.
	usageRest = 39
	// usageSlow bounds the time that counts for the pause: a portion that had to wait for a lock, or for a database that
	// was away, must not keep this node from writing for minutes.
	usageSlow = 50 * time.Millisecond
	// usageTimeout is how long a portion may take before the database counts as away.
	usageTimeout = 5 * time.Second
	// pruneTimeout bounds the deletion of a portion of expired rows, during which no statistics are written.
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

// Record counts one request that was answered with status. day is the day that the counters put it in, which may differ
// from this machine's; endpoint is the route, one of a few. It never waits for the database.
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

// Pending is the number of an account's requests on a day that this node has counted and not written yet.
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

// Run writes counts and prunes expired rows until ctx ends. Call Flush then to write the rest.
func (u *Usage) Run(ctx context.Context) {
	tick := time.NewTicker(usageEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			u.writing.Lock()
			_ = u.write(ctx, true) // already logged; the next tick retries
			u.prune(ctx)
			u.writing.Unlock()
		}
	}
}

// Flush writes everything counted so far. Its error says how many requests it could not write.
func (u *Usage) Flush(ctx context.Context) error {
	u.writing.Lock()
	defer u.writing.Unlock()
	err := u.write(ctx, false)
	if err == nil {
		return nil
	}
	return fmt.Errorf("the statistics of %s could not be written: %w", models.Count(u.waiting(), "request"), err)
}

// waiting is how many requests are not in the database.
func (u *Usage) waiting() (n int64) {
	for i := range u.shards {
		sh := &u.shards[i]
		sh.mu.Lock()
		for _, counts := range sh.counts {
			for _, count := range counts {
				n += count.waiting
			}
		}
		sh.mu.Unlock()
	}
	return n
}

// write adds waiting counts to the database in portions, with pauses between them if leisure is set.
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
		if err != nil { // it is unclear whether the portion was written; a retry might count it twice
			u.log.Warn("usage statistics of a few seconds may be lost", "error", err)
		}
		u.note(nil)
		u.settle(portion, true)
		rows = rows[len(portion):]
		if leisure && len(rows) > 0 && !rest(ctx, leisureAfter(time.Since(began))) {
			u.settle(rows, false)
			return ctx.Err()
		}
	}
	return nil
}

// add writes one portion. It outlives ctx: cutting it short would leave unclear whether it was written.
func (u *Usage) add(ctx context.Context, rows []models.UsageDay) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTimeout)
	defer cancel()
	return u.store.AddUsage(ctx, rows)
}

// leisureAfter is the pause after a portion that took that long.
func leisureAfter(took time.Duration) time.Duration { return usageRest * min(took, usageSlow) }

// rest sleeps for d. It reports false if ctx ended first.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// take returns the waiting counts as rows and marks them flying until settle. It drops idle counts.
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
	slices.SortFunc(rows, store.CompareUsage) // portions touch few pages, and nodes agree on the order
	return rows
}

// settle ends the flight of rows: they were written, or they wait again.
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

func (u *Usage) note(err error) {
	u.outage.Note(u.log, err, "usage statistics cannot be written now; they are kept in memory", "usage statistics can be written again")
}

// prune deletes expired rows, a portion per call until none are left, then again after a day.
func (u *Usage) prune(ctx context.Context) {
	now := u.now()
	if now.Before(u.pruneAt) || ctx.Err() != nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, pruneTimeout)
	defer cancel()
	more, err := u.store.PruneUsage(bounded)
	switch {
	case ctx.Err() != nil: // this process stops
	case err != nil:
		u.pruneAt = now.Add(time.Hour)
		u.log.Warn("old usage statistics cannot be taken away now", "error", err)
	case !more:
		u.pruneAt = now.Add(Day)
	}
}
