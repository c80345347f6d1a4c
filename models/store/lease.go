package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
	"lottery/models/secret"
)

// Lease is a time-limited lock across all nodes. If its holder dies, it ends by itself. Work done under it is stored in
// a transaction that checks that it is still held.
type Lease struct {
	name, holder string
	since        time.Time // just before it was taken, by this machine
}

// ErrLeaseLost means that a lease ended, and may have been taken by somebody else, before the work under it was stored.
var ErrLeaseLost = errors.New("the lock on this work ended before the work did")

// nowMicros is SQL for the database's clock: one clock for all nodes.
func (s *Store) nowMicros() clause.Expr {
	if s.dialect == Postgres {
		return clause.Expr{SQL: "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"}
	}
	return clause.Expr{SQL: "CAST(? AS INTEGER)", Vars: []any{s.now().UnixMicro()}}
}

// leaseAhead is longer than any lease lasts, even with waits for the database. A lease that ends later was taken while
// the clock was ahead; if its holder died, it would block everybody until then, so it counts as free. A holder that
// lives extends it by the current clock.
const leaseAhead = 2 * time.Hour

// TryLease takes the lock of that name until d from now, an hour at most; ok is false if somebody else holds it.
func (s *Store) TryLease(ctx context.Context, name string, d time.Duration) (l Lease, ok bool, err error) {
	l = Lease{name, secret.NewID(""), time.Now()}
	now := s.nowMicros()
	done := s.writer(ctx).Exec(`INSERT INTO leases (name, holder, until_us) VALUES (?, ?, ? + ?)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_us = excluded.until_us
		WHERE leases.until_us < ? OR leases.until_us > ? + ?`,
		l.name, l.holder, now, d.Microseconds(), now, now, leaseAhead.Microseconds())
	if done.Error != nil {
		return l, false, unavailable(done.Error)
	}
	return l, done.RowsAffected == 1, nil
}

// KeepLease extends the lock to d from now; held is false if somebody else has taken it.
func (s *Store) KeepLease(ctx context.Context, l Lease, d time.Duration) (held bool, err error) {
	done := s.writer(ctx).Exec("UPDATE leases SET until_us = ? + ? WHERE name = ? AND holder = ?",
		s.nowMicros(), d.Microseconds(), l.name, l.holder)
	if done.Error != nil {
		return false, unavailable(done.Error)
	}
	return done.RowsAffected == 1, nil
}

// HoldLease extends l, taken for d, again and again until ctx ends. If somebody else has taken l, or just before that may
// happen because l cannot be extended, it calls lost and returns: the work under l must stop.
func (s *Store) HoldLease(ctx context.Context, l Lease, d time.Duration, lost func()) {
	every, safe := d/5, d*5/6
	tick := time.NewTicker(every)
	defer tick.Stop()
	for since := l.since; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		within, cancel := context.WithDeadline(ctx, since.Add(safe))
		held, err := s.KeepLease(within, l, d)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && held:
			since = asked
		case err == nil, time.Since(since) >= safe-every:
			lost()
			return
		}
	}
}

// Leased reports whether somebody holds the lock of that name.
func (s *Store) Leased(ctx context.Context, name string) (held bool, err error) {
	now := s.nowMicros()
	var n int64
	err = s.reader(ctx).Table("leases").Where("name = ? AND until_us BETWEEN ? AND ? + ?", name, now, now, leaseAhead.Microseconds()).Count(&n).Error
	return n == 1, unavailable(err)
}

// EndLease releases the lock.
func (s *Store) EndLease(ctx context.Context, l Lease) error {
	return unavailable(s.writer(ctx).Exec("DELETE FROM leases WHERE name = ? AND holder = ?", l.name, l.holder).Error)
}

// under runs fn in a transaction that is rolled back unless l is held until its end.
func (s *Store) under(ctx context.Context, l Lease, fn func(tx *gorm.DB) error) error {
	return s.transaction(ctx, func(tx *gorm.DB) error {
		var holder string
		if err := s.locking(tx).Table("leases").Select("holder").Where("name = ?", l.name).Limit(1).Scan(&holder).Error; err != nil {
			return err
		}
		if holder != l.holder {
			return &models.Error{Code: models.CodeUnavailable, Message: "another process is working on this; try again", Err: ErrLeaseLost}
		}
		return fn(tx)
	})
}
