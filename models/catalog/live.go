package catalog

import "sync/atomic"

// Live is the catalog in force. The zero Live has none yet. It is safe for concurrent use.
type Live struct{ current atomic.Pointer[Catalog] }

// Load is the catalog in force, or nil before the first Swap. A request loads it once, so that its answer
// comes from one state of the data.
func (l *Live) Load() *Catalog { return l.current.Load() }

// Swap puts next in force and returns what it replaces, or nil.
func (l *Live) Swap(next *Catalog) *Catalog { return l.current.Swap(next) }
