package catalog

import (
	"sync"
	"sync/atomic"
)

// Live holds the current catalog. The zero Live has none yet. It is safe for concurrent use.
type Live struct {
	current atomic.Pointer[Catalog]

	mu     sync.Mutex
	onSwap []func()
}

// Load returns the current catalog, or nil before the first Swap. A request calls it once, so that its answer comes
// from one state of the data.
func (l *Live) Load() *Catalog { return l.current.Load() }

// Swap makes next the current catalog and returns the previous one, or nil.
func (l *Live) Swap(next *Catalog) *Catalog {
	before := l.current.Swap(next)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.onSwap {
		f()
	}
	return before
}

// OnSwap registers f to be called after each Swap. Use it to drop what was derived from a catalog, which may keep
// all its draws in memory.
func (l *Live) OnSwap(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onSwap = append(l.onSwap, f)
}
