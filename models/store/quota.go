package store

import (
	"context"
	"errors"
	"time"

	"lottery/models"
)

// QuotaKind is what a QuotaOp does.
type QuotaKind uint8

// The kinds of operation on a counter.
const (
	QuotaTake  QuotaKind = iota // grant up to Need, and perhaps an advance, while the limit allows
	QuotaAdd                    // add N, which may be negative, whatever the limit
	QuotaPeek                   // only look
	QuotaReset                  // back to zero
	QuotaFloor                  // at least N: what a node knew of a counter that its ledger may have lost
)

// QuotaOp is one operation on the counter of one key in one period.
type QuotaOp struct {
	Kind   QuotaKind
	Key    string        // the account's id
	Period time.Duration // periods begin at multiples of it since 1970 UTC: 24 h is the UTC day
	Start  int64         // QuotaAdd, QuotaFloor: the period's beginning (Unix seconds); other kinds act on the period of the store's clock

	Need   int64 // QuotaTake: requests that wait
	Recent int64 // QuotaTake: what the node used of late: the most that it may take in advance; 0 = no advance
	Held   int64 // QuotaTake: what the node holds in advance already
	Limit  int64 // QuotaTake: of the period
	N      int64 // QuotaAdd, QuotaFloor
}

// QuotaResult is what became of a QuotaOp.
type QuotaResult struct {
	Granted int64 // QuotaTake
	Used    int64 // afterwards: granted in the period, over all nodes
	Start   int64 // of the period, Unix seconds
}

// quotaSingly is where advances stop: when this few requests are left, every request is counted singly.
const (
	quotaSingly   = 256
	quotaFraction = 16 // of what is left may be held in advance
)

// Dated tells whether the operation names its period, rather than meaning the present one.
func (op *QuotaOp) Dated() bool { return op.Kind == QuotaAdd || op.Kind == QuotaFloor }

// grant is how much of a counter at used the operation gets.
func (op *QuotaOp) grant(used int64) int64 {
	left := op.Limit - used
	if left <= 0 {
		return 0
	}
	granted := min(op.Need, left)
	left -= granted
	return granted + max(0, QuotaAdvance(left, op.Recent)-op.Held)
}

// QuotaAdvance is how much a node may hold in advance when left requests are left and it used recent of late.
func QuotaAdvance(left, recent int64) int64 {
	if left <= quotaSingly {
		return 0
	}
	return min(left/quotaFraction, recent)
}

// apply changes a counter at used. On PostgreSQL the function quota_apply of migration 11 does the same.
func (op *QuotaOp) apply(used int64) (after int64, r QuotaResult) {
	switch op.Kind {
	case QuotaTake:
		r.Granted = op.grant(used)
		used += r.Granted
	case QuotaAdd:
		used = max(0, used+op.N)
	case QuotaFloor:
		used = max(used, op.N)
	case QuotaReset:
		used = 0
	case QuotaPeek:
	}
	r.Used = used
	return used, r
}

// ErrQuotaUnclear marks a failure after which nobody knows whether the operations were applied.
var ErrQuotaUnclear = errors.New("the counters may have been changed")

// counterKey is a counter's row.
type counterKey struct {
	key   string
	start int64
}

// ApplyQuota does the operations in their order, in one transaction, and tells the time of the counters' clock:
// PostgreSQL's own, or for SQLite this machine's. An error wraps ErrQuotaUnclear unless nothing was applied; it is an
// ErrQuotaRestarted where another PostgreSQL has taken the place of the one that was counted in (see AcceptCounters).
func (s *Store) ApplyQuota(ctx context.Context, ops []QuotaOp) ([]QuotaResult, time.Time, error) {
	if s.dialect == Postgres {
		return s.quotaPostgres(ctx, ops)
	}
	return s.quota.apply(ctx, ops)
}

// ReadQuota reads a counter of the running period without the write lock: on SQLite that works while an import holds
// it. On PostgreSQL a database that cannot be written cannot be read either: ok is false.
func (s *Store) ReadQuota(ctx context.Context, key string, period time.Duration) (used, start int64, ok bool) {
	if s.dialect != SQLite {
		return 0, 0, false
	}
	start = models.PeriodStart(s.now(), period)
	used, err := s.quota.look(ctx, counterKey{key, start})
	return used, start, err == nil
}

// compactQuota brings all counters to quota_counters, so that old ones can be taken away.
func (s *Store) compactQuota(ctx context.Context) error {
	if s.dialect != SQLite {
		return nil
	}
	if err := s.quota.compact(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}

// openCounters gives the counters their own way in.
func (s *Store) openCounters() error {
	if s.dialect == Postgres {
		var err error
		s.counters, err = s.write.DB()
		return err
	}
	read, err := s.read.DB()
	if err != nil {
		return err
	}
	if s.quota, err = openQuotaLog(s.path, read, s.now); err != nil {
		return err
	}
	s.counters = s.quota.write
	return nil
}
