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

// Day is the period of a plan's limit: the UTC day.
const Day = 24 * time.Hour
