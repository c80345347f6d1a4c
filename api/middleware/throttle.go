package middleware

import (
	"context"
	"hash/maphash"
	"strconv"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
)

// Throttle limits how often each K may do something. It counts on this node only.
type Throttle[K comparable] struct {
	limiter  *limiter.Limiter
	counters uint64
	seed     maphash.Seed
}

// NewThrottle allows each K limit times per period. Ks are hashed to that many counters, which bounds memory: those that
// share one are slowed down a little earlier.
func NewThrottle[K comparable](counters uint64, limit int, period time.Duration) *Throttle[K] {
	counts := memory.NewStoreWithOptions(limiter.StoreOptions{CleanUpInterval: 10 * time.Minute})
	return &Throttle[K]{limiter.New(counts, limiter.Rate{Period: period, Limit: int64(limit)}), counters, maphash.MakeSeed()}
}

// Count counts one time of who; the result's Reached says that it was one too many.
func (t *Throttle[K]) Count(ctx context.Context, who K) limiter.Context {
	state, err := Count(ctx, t.limiter, strconv.FormatUint(maphash.Comparable(t.seed, who)%t.counters, 36))
	if err != nil { // counters in memory do not fail
		return limiter.Context{}
	}
	return state
}

// Count counts one thing that l limits in this process's memory. The library ends a window by the machine's clock: one
// that began while that clock was ahead would last, after the clock is set back, for as long as it was ahead. A window
// that still lasts longer than any is therefore begun again.
func Count(ctx context.Context, l *limiter.Limiter, key string) (limiter.Context, error) {
	state, err := l.Get(ctx, key)
	if err != nil || time.Until(time.Unix(state.Reset, 0)) <= l.Rate.Period {
		return state, err
	}
	if state, err = l.Reset(ctx, key); err != nil {
		return state, err
	}
	return l.Get(ctx, key)
}
