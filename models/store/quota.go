package store

import (
	"context"
	"errors"
	"time"

	"lottery/models"
)

// QuotaKind is the kind of a QuotaOp.
type QuotaKind uint8

// The kinds of operation on a counter.
const (
	QuotaTake    QuotaKind = iota // grant up to Need, and perhaps an advance, while the limit allows
	QuotaAdd                      // add N, which may be negative, whatever the limit
	QuotaPeek                     // only read the counter
	QuotaReset                    // back to zero
	QuotaFloor                    // raise to at least N
	QuotaRestore                  // raise what each server counted to at least what Known says
)

// QuotaOp is one operation on the counter of one key in one period.
type QuotaOp struct {
	Kind   QuotaKind
	Key    string        // the account's id
	Period time.Duration // periods begin at multiples of it since 1970 UTC: 24 h is the UTC day
	Start  int64         // start of the period (Unix seconds) if the operation is Dated; others use the current one

	Need   int64 // QuotaTake: number of waiting requests
	Recent int64 // QuotaTake: the node's recent use, the most that it may take in advance; 0 = no advance
	Held   int64 // QuotaTake: what the node already holds in advance
	Limit  int64 // QuotaTake: limit of the period
	N      int64 // QuotaAdd, QuotaFloor

	// Known is, for QuotaRestore, what a node knows of the counter: how much each server has counted, by its name. The
	// name of one that does not tell is "".
	Known map[string]int64
}

// QuotaResult is the result of a QuotaOp.
type QuotaResult struct {
	Granted int64 // QuotaTake
	Used    int64 // afterwards: granted in the period to all nodes
	Start   int64 // start of the period, Unix seconds
	// Former is how much of Used former servers counted, by their names; nil = nothing. The server that answers has
	// counted the rest.
	Former map[string]int64
}

// quotaSingly is the remainder at which advances stop: from there every request is counted singly.
const (
	quotaSingly   = 256
	quotaFraction = 16 // 1/quotaFraction of what is left may be held in advance
)

// Dated reports whether the operation names its period instead of using the current one.
func (op *QuotaOp) Dated() bool {
	return op.Kind == QuotaAdd || op.Kind == QuotaFloor || op.Kind == QuotaRestore
}

// grant returns how much a QuotaTake gets of a counter at used.
func (op *QuotaOp) grant(used int64) int64 {
	left := op.Limit - used
	if left <= 0 {
		return 0
	}
	granted := min(op.Need, left)
	left -= granted
	return granted + max(0, QuotaAdvance(left, op.Recent)-op.Held)
}

// QuotaAdvance is how much a node may hold in advance if left requests remain and it used recent of them recently.
func QuotaAdvance(left, recent int64) int64 {
	if left <= quotaSingly {
		return 0
	}
	return min(left/quotaFraction, recent)
}

// apply changes a counter at used. On PostgreSQL the function quota_apply (migration 17) does the same, and keeps how much
// each server has counted; no server takes the place of a SQLite file.
func (op *QuotaOp) apply(used int64) (after int64, r QuotaResult) {
	switch op.Kind {
	case QuotaTake:
		r.Granted = op.grant(used)
		used += r.Granted
	case QuotaAdd:
		used = max(0, used+op.N)
	case QuotaFloor:
		used = max(used, op.N)
	case QuotaRestore:
		var known int64
		for _, n := range op.Known {
			known += n
		}
		used = max(used, known)
	case QuotaReset:
		used = 0
	case QuotaPeek:
	}
	r.Used = used
	return used, r
}

// ErrQuotaUnclear marks a failure that leaves unclear whether the operations were applied.
var ErrQuotaUnclear = errors.New("the counters may have been changed")

// counterKey identifies a counter's row.
type counterKey struct {
	key   string
	start int64
}

// ApplyQuota applies the operations in order, in one transaction, and returns the time of the counters' clock:
// PostgreSQL's, or for SQLite this machine's. An error wraps ErrQuotaUnclear unless nothing was applied. It is
// ErrQuotaRestarted if another PostgreSQL has replaced the one that was counted in (see AcceptCounters).
func (s *Store) ApplyQuota(ctx context.Context, ops []QuotaOp) ([]QuotaResult, time.Time, error) {
	if s.dialect == Postgres {
		return s.quotaPostgres(ctx, ops)
	}
	return s.quota.apply(ctx, ops)
}

// ReadQuota reads a counter of the running period without the write lock, which on SQLite works while an import holds
// it. For PostgreSQL ok is false: if it cannot be written, it cannot be read either.
func (s *Store) ReadQuota(ctx context.Context, key string, period time.Duration) (used, start int64, ok bool) {
	if s.dialect != SQLite {
		return 0, 0, false
	}
	start = models.PeriodStart(s.now(), period)
	used, err := s.quota.look(ctx, counterKey{key, start})
	return used, start, err == nil
}

// compactQuota moves all counters to quota_counters, so that old ones can be deleted.
func (s *Store) compactQuota(ctx context.Context) error {
	if s.dialect != SQLite {
		return nil
	}
	return unavailable(s.quota.compact(ctx))
}
