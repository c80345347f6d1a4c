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

// Warning says that an account has used 80 or 100 percent of its daily limit.
type Warning struct {
	AccountID string
	models.QuotaUsed
}

// Warnings watches for accounts that reach 80 and 100 percent of their daily limit and calls Notify once per account,
// day and percentage across all nodes, and once more if the limit has been raised since. An account that reaches both at
// once gets only the warning at 100.
type Warnings struct {
	// Notify is called by Run's goroutine. The default logs the warning.
	Notify func(ctx context.Context, w Warning)
	// Mailed says that emails are sent: those warnings that are news to an account's owner are queued as one.
	Mailed bool

	store  *store.Store
	now    func() time.Time
	log    *slog.Logger
	seed   maphash.Seed
	shards [16]warningShard

	mu   sync.Mutex
	due  []Warning // about two per account, day and limit at most
	wake chan struct{}
}

// warningShard records which warnings of a day this node has already passed on. Around midnight, while requests of both
// days arrive, some are passed on again: the database knows that they were given.
type warningShard struct {
	mu   sync.Mutex
	day  models.Date
	told map[string]told // by account
}

// told holds the highest limits of the day of which an account was warned that so much is used; 0 = of none.
type told struct{ most, all int64 }

// note notes a warning, and reports whether it was news.
func (t *told) note(percent int, limit int64) bool {
	last := &t.all
	if percent < 100 {
		last = &t.most
	}
	news := limit > max(*last, t.all)
	*last = max(*last, limit)
	return news
}

// warnRetry is how often warnings are retried that the database could not record.
const warnRetry = 5 * time.Second

// NewWarnings makes Warnings; Run delivers them. now is the counters' clock; nil means time.Now.
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

// Check considers an account that has used that many of its limit on a day, by the counters. It is free below 80
// percent and cheap above, and never waits for the database.
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
		sh.day, sh.told = day, map[string]told{}
	}
	t := sh.told[account]
	news := t.note(percent, limit)
	if news {
		sh.told[account] = t
	}
	sh.mu.Unlock()
	if !news {
		return
	}
	w.mu.Lock()
	w.due = append(w.due, Warning{account, models.QuotaUsed{Day: day, Percent: percent, Limit: limit}})
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run delivers warnings until ctx ends. While the database is away they wait, until their day is over.
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

// handOn delivers the due warnings, up to the first failure.
func (w *Warnings) handOn(ctx context.Context) error {
	w.mu.Lock()
	due := w.due
	w.due = nil
	w.mu.Unlock()
	for i, warning := range due {
		if warning.Day < dateOf(w.now()) {
			continue // a new day has begun: the warning is void
		}
		asked, cancel := w.store.Bounded(ctx)
		first, err := w.store.WarnUsage(asked, warning.AccountID, warning.QuotaUsed, w.Mailed)
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
