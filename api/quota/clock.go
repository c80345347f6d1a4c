package quota

import (
	"sync"
	"sync/atomic"
	"time"
)

// clock tells the ledger's time between two contacts: the local clock and how far it was from the ledger's at the
// last contact. Go's time carries the monotonic reading, so setting the machine's clock in between changes nothing.
type clock struct {
	local  func() time.Time
	base   time.Time
	mu     sync.Mutex   // one correction at a time: two of the same error would be one too many
	offset atomic.Int64 // nanoseconds to add to the local clock
}

func newClock(local func() time.Time) *clock {
	return &clock{local: local, base: local()}
}

// now is the ledger's time, as far as this node knows.
func (c *clock) now() time.Time {
	return c.base.Add(c.local().Sub(c.base) + time.Duration(c.offset.Load()))
}

// set is told the ledger's time at a contact. A contact takes a while, so up to its length is no difference:
// it would only make the clock jump to and fro.
func (c *clock) set(ledger time.Time, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	off := ledger.Sub(c.now())
	if off > took || off < -took {
		c.offset.Add(int64(off))
	}
}
