package quota_test

import (
	"testing"
	"time"

	"github.com/ulule/limiter/v3"

	"lottery/api/quota"
)

// The backend's clock was ahead, beyond midnight, and is set back: the day that runs again is counted on, with a block of
// its own, and looked at as what it is. The day that had begun too early keeps its count.
func TestBackendsClockIsSetBackOverMidnight(t *testing.T) {
	t.Parallel()
	clockedBackends(t, func(t *testing.T, l quota.Backend, advance bool, c *testClock) {
		n := watch(t, l, quota.Options{Advance: advance, Now: c.now})
		n.Sync()
		today, tomorrow := c.day(), c.day()+int64(quota.Day/time.Second)
		const limit = 1000
		request := func(times int, day, remaining int64) {
			t.Helper()
			var got limiter.Context
			for range times {
				var err error
				if got, err = n.Get(t.Context(), "acc", limiter.Rate{Period: quota.Day, Limit: limit}); err != nil {
					t.Fatal(err)
				}
			}
			if got.Reset != day+int64(quota.Day/time.Second) || got.Remaining != remaining {
				t.Errorf("the last of %d requests: remaining %d, reset %d; want %d of the day of %d", times, got.Remaining, got.Reset, remaining, day)
			}
		}
		look := func(day, used int64) {
			t.Helper()
			n.Settle()
			got, remaining, resets, err := n.Used(t.Context(), "acc", limit)
			if err != nil || got != used || remaining != limit-used || resets.Unix() != day+int64(quota.Day/time.Second) {
				t.Errorf("looked at: used %d, remaining %d, resets %v, %v; want %d used of the day of %d", got, remaining, resets, err, used, day)
			}
		}
		request(10, today, limit-10)
		c.toMidnight(30 * time.Minute)
		request(40, tomorrow, limit-40)
		look(tomorrow, 40)
		c.move(-time.Hour)
		look(today, 10)
		n.Sync()
		request(30, today, limit-40)
		look(today, 40)
		if advance && n.Held("acc") == 0 {
			t.Error("no block is taken on the day that runs again")
		}
		c.toMidnight(time.Minute)
		n.Sync()
		request(5, tomorrow, limit-45)
		look(tomorrow, 45)
		closeNode(t, n.Store)
	})
}
