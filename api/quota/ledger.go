// Package quota is the gate in front of /v1: it counts every request of an account against its daily limit, exactly,
// over all its keys and nodes. Counters are limiter.Store implementations (github.com/ulule/limiter/v3) on a ledger:
// the database, or Redis.
package quota

import (
	"context"
	"time"

	"lottery/models/store"
)

// Ledger keeps the counters of all nodes. Its clock says which period it is.
type Ledger interface {
	// ApplyQuota does the operations in their order, all or none, and tells the ledger's time. An error wraps
	// store.ErrQuotaUnclear unless it is sure that nothing was applied.
	ApplyQuota(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error)
}

// replaceable is a ledger whose place another server may take, which has forgotten what it did not hear: its first answer is
// store.ErrQuotaRestarted, and nobody may count with it before it is told what the nodes know (see Store.tell).
type replaceable interface {
	// AcceptCounters counts with the new server from now on.
	AcceptCounters()
}

// readable is a ledger that may be read while it cannot be changed: SQLite, whose write lock an import holds.
type readable interface {
	// ReadQuota is a counter of the running period, and when that began (Unix seconds).
	ReadQuota(ctx context.Context, key string, period time.Duration) (used, start int64, ok bool)
}

// Day is the period of a plan's limit: the UTC day.
const Day = 24 * time.Hour
