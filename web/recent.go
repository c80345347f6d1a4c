package web

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// recently is how old what pages show of a database may be, where it is the same for everybody.
	recently = time.Second
	// stale is how old it may be while it is read anew, which takes seconds if the database hangs.
	stale = 10 * time.Second
)

// recent is something that was read from the database, for all pages. It is read anew once it is older than recently,
// by one request; meanwhile, others get what was read before. At first, or if nobody has asked for it lately, they wait.
type recent[T any] struct {
	last    atomic.Pointer[reading[T]]
	reading sync.Mutex // held while reading
}

type reading[T any] struct {
	of T
	at time.Time
}

// get returns what was read last, and when. read gets what was read before, if anything.
func (c *recent[T]) get(now func() time.Time, read func(before T) T) (T, time.Time) {
	last := c.last.Load()
	switch {
	case last == nil || now().Sub(last.at) > stale:
		c.reading.Lock()
	case now().Sub(last.at) < recently || !c.reading.TryLock():
		return last.of, last.at
	}
	defer c.reading.Unlock()
	if newer := c.last.Load(); newer != last { // read by another request, just before this one had the lock
		return newer.of, newer.at
	}
	var before T
	if last != nil {
		before = last.of
	}
	made := &reading[T]{read(before), now()}
	c.last.Store(made)
	return made.of, made.at
}
