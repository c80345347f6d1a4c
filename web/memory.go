package web

import (
	"sync"

	"lottery/models/catalog"
)

// memory caches what is derived from one catalog. It keeps that catalog, with all its draws, alive: see forget.
type memory struct {
	cat    *catalog.Catalog
	sample *sample // nil = there are no draws
	totals totals
	games  []*gameView
	pages  sync.Map // by name: the *keptPage of a page
}

// kept returns where the page of a name is kept; nil while no catalog is loaded.
func (m *memory) kept(name string) *keptPage {
	if m == nil {
		return nil
	}
	k, _ := m.pages.LoadOrStore(name, &keptPage{})
	kept, _ := k.(*keptPage) // holds nothing else
	return kept
}

// remember returns the cache for the catalog in force, filling it if need be; nil while no catalog is loaded.
func (h *Handler) remember() *memory {
	cat := h.deps.Catalog.Load()
	if cat == nil {
		return nil
	}
	if m := h.memory.Load(); m != nil && m.cat == cat {
		return m
	}
	m := &memory{cat: cat}
	m.totals = totals{Draws: cat.TotalDraws(), Games: len(cat.Games())}
	if first, last, ok := cat.Range(); ok {
		m.totals.First, m.totals.Last = first, last
		m.totals.FirstYear, _, _ = first.Civil()
	}
	for _, g := range cat.Games() {
		m.games = append(m.games, &gameView{Game: g})
	}
	if len(m.games) > 0 {
		m.sample = sampleOf(cat, liveliest(cat))
	}
	h.memory.Store(m)
	if h.deps.Catalog.Load() != cat { // replaced in the meantime: forget may have run before the Store above
		h.memory.CompareAndSwap(m, nil)
	}
	return m
}

// forget drops the cache when its catalog is replaced.
func (h *Handler) forget() { h.memory.Store(nil) }
