package billing

import (
	"net/http"
	"sync/atomic"
	"time"

	"lottery/models/store"
)

// stripeClock is Stripe's clock as far as this process knows: this machine's, corrected by the dates of Stripe's answers
// if they differ by more than store.ClocksApart. By a clock that is days ahead, whoever is past due would lose the plan.
type stripeClock struct {
	local func() time.Time
	ahead atomic.Int64 // nanoseconds by which Stripe's is ahead
}

func (c *stripeClock) now() time.Time { return c.local().Add(time.Duration(c.ahead.Load())) }

// hear learns from the header of an answer, which tells the time to the second.
func (c *stripeClock) hear(h http.Header) {
	theirs, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return
	}
	ahead := theirs.Sub(c.local())
	if ahead.Abs() <= store.ClocksApart {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
}
