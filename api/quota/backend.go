// Package quota is the gate in front of /v1. It counts every request of an account against its daily limit, exactly,
// across all its keys and all nodes. Counters are limiter.Store implementations (github.com/ulule/limiter/v3) on a
// backend: the database or Redis.
//
// What was counted is also recorded for people: by day, endpoint and status (Usage), and when an account comes to its
// limit (Warnings).
package quota

import (
	"context"
	"time"

	"lottery/models/store"
)

// Backend keeps the counters of all nodes. Its clock decides which period it is.
type Backend interface {
	// ApplyQuota applies the operations in order, all or none, and returns the backend's time. An error wraps
	// store.ErrQuotaUnclear unless it is certain that nothing was applied.
	ApplyQuota(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error)
}

// replaceable is a backend that another server may replace, without all the counts of the old one. The first
// answer of a new server is store.ErrQuotaRestarted; it must not be counted with before it is told what the
// nodes know (see Store.tell).
type replaceable interface {
	// AcceptCounters makes the new server the one to count with.
	AcceptCounters()
	// CountersOf returns a name of the server being counted with; "" if it does not tell.
	CountersOf() string
}

// readable is a backend that can be read while it cannot be written: SQLite, while an import holds its write lock.
type readable interface {
	// ReadQuota returns a counter of the running period, and when that period began (Unix seconds).
	ReadQuota(ctx context.Context, key string, period time.Duration) (used, start int64, ok bool)
}

// Day is the period of a plan's limit: one UTC day.
const Day = 24 * time.Hour
