package quota

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// Warning tells that an account has used Percent of its daily limit.
type Warning struct {
	AccountID string
	Day       models.Date // UTC
	Percent   int         // 80 or 100
	Limit     int64
}

// Warnings watches for accounts that come to 80 and to 100 percent of their day, and tells Notify: once for each
// account, day and percent, over all nodes. Whoever comes to both at once is told of 100 alone.
type Warnings struct {
	// Notify is told, by Run's goroutine. The default writes a line to the log.
	Notify func(ctx context.Context, w Warning)

	store  *store.Store
	now    func() time.Time
	log    *slog.Logger
	seed   maphash.Seed
	shards [16]warningShard

	mu   sync.Mutex
	due  []Warning // at most two for an account and day
	wake chan struct{}
}

// warningShard is what this node has handed over already.
type warningShard struct {
	mu   sync.Mutex
	day  models.Date
	told map[string]int // account → percent
}

// warnRetry is how often a warning is tried again that the database did not take.
const warnRetry = 5 * time.Second

// NewWarnings makes Warnings; Run hands them on. now is the counters' clock; nil = time.Now.
func NewWarnings(st *store.Store, now func() time.Time, log *slog.Logger) *Warnings {
	if now == nil {
		now = time.Now
	}
	w := &Warnings{store: st, now: now, log: log, seed: maphash.MakeSeed(), wake: make(chan struct{}, 1)}
	w.Notify = func(ctx context.Context, warning Warning) {
		log.InfoContext(ctx, "an account comes to its daily limit", "account", warning.AccountID, "percent", warning.Percent, "limit", warning.Limit)
	}
	return w
}

// Check looks at an account that has used so many of limit in a day by the counters. Below 80 percent it costs nothing,
// above it little; it never waits for the database.
func (w *Warnings) Check(account string, day models.Date, limit, used int64) {
	percent := 80
	switch {
	case limit <= 0 || used < limit-limit/5:
		return
	case used >= limit:
		percent = 100
	}
	sh := &w.shards[maphash.String(w.seed, account)%uint64(len(w.shards))]
	sh.mu.Lock()
	if sh.day != day {
		sh.day, sh.told = day, map[string]int{}
	}
	known := sh.told[account] >= percent
	if !known {
		sh.told[account] = percent
	}
	sh.mu.Unlock()
	if known {
		return
	}
	w.mu.Lock()
	w.due = append(w.due, Warning{account, day, percent, limit})
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run hands warnings on until ctx ends. While the database is away they wait, as long as their day lasts.
func (w *Warnings) Run(ctx context.Context) {
	retry := time.NewTicker(warnRetry)
	defer retry.Stop()
	away := false
	for {
		wake := w.wake
		if away {
			wake = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-retry.C:
		}
		err := w.handOn(ctx)
		if err != nil && !away && ctx.Err() == nil {
			w.log.Warn("warnings about daily limits wait for the database", "error", err)
		}
		away = err != nil
	}
}

// handOn works off what is due, up to the first failure.
func (w *Warnings) handOn(ctx context.Context) error {
	w.mu.Lock()
	due := w.due
	w.due = nil
	w.mu.Unlock()
	for i, warning := range due {
		if warning.Day < dateOf(w.now()) {
			continue // it is a new day: nothing to be warned of
		}
		asked, cancel := w.store.Bounded(ctx)
		first, err := w.store.WarnUsage(asked, warning.AccountID, warning.Day, warning.Percent)
		cancel()
		if err != nil {
			w.mu.Lock()
			w.due = append(due[i:], w.due...)
			w.mu.Unlock()
			return err
		}
		if first {
			w.Notify(ctx, warning)
		}
	}
	return nil
}
