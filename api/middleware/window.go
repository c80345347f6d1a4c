package middleware

import (
	"context"
	"time"

	"github.com/ulule/limiter/v3"
)

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
