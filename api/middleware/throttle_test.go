package middleware_test

import (
	"testing"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"

	"lottery/api/middleware"
)

// A window that began while the machine's clock was a day ahead does not last a day once the clock is set back. Windows
// of the usual length keep their counts.
func TestWindowBegunByAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	counts := memory.NewStoreWithOptions(limiter.StoreOptions{Prefix: "window", CleanUpInterval: time.Hour})
	rate := limiter.Rate{Period: time.Minute, Limit: 3}
	ahead := limiter.Rate{Period: 24*time.Hour + time.Minute, Limit: 3}
	if state, err := counts.Increment(t.Context(), "who", 4, ahead); err != nil || !state.Reached {
		t.Fatalf("%+v %v", state, err)
	}
	l := limiter.New(counts, rate)
	for n := int64(1); n <= 4; n++ {
		state, err := middleware.Count(t.Context(), l, "who")
		if err != nil || state.Remaining != max(0, 3-n) || state.Reached != (n > 3) {
			t.Errorf("call %d: %+v %v", n, state, err)
		}
		if left := time.Until(time.Unix(state.Reset, 0)); left > time.Minute {
			t.Errorf("call %d: the window lasts %v more", n, left)
		}
	}
}
