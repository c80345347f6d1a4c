package quota

import (
	"sync"
	"sync/atomic"
	"time"
)

// clock estimates the backend's time between contacts: the local clock plus its offset from the backend's at the last
// contact. It runs on Go's monotonic reading, so setting the machine's clock has no effect on it.
type clock struct {
	local  func() time.Time
	base   time.Time
	mu     sync.Mutex   // one correction at a time, or the same error would be corrected twice
	offset atomic.Int64 // nanoseconds to add to the local clock
}

func newClock(local func() time.Time) *clock {
	return &clock{local: local, base: local()}
}

// now is the backend's time, as far as this node knows.
func (c *clock) now() time.Time {
	return c.base.Add(c.local().Sub(c.base) + time.Duration(c.offset.Load()))
}

// set corrects the clock to the backend's time, learned in a contact of length took. A difference no larger than took
// is ignored: correcting it would only make the clock jitter.
func (c *clock) set(backend time.Time, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	off := backend.Sub(c.now())
	if off > took || off < -took {
		c.offset.Add(int64(off))
	}
}
