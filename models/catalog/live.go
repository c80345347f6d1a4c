package catalog

import (
	"sync"
	"sync/atomic"
)

// Live is the catalog in force. The zero Live has none yet. It is safe for concurrent use.
type Live struct {
	current atomic.Pointer[Catalog]

	mu     sync.Mutex
	onSwap []func()
}

// Load is the catalog in force, or nil before the first Swap. A request loads it once, so that its answer
// comes from one state of the data.
func (l *Live) Load() *Catalog { return l.current.Load() }

// Swap puts next in force and returns what it replaces, or nil.
func (l *Live) Swap(next *Catalog) *Catalog {
	before := l.current.Swap(next)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.onSwap {
		f()
	}
	return before
}

// OnSwap has f called after each Swap: who keeps what was made of a catalog lets go of it then, since it may hold all
// draws in memory.
func (l *Live) OnSwap(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onSwap = append(l.onSwap, f)
}
