package catalog

// run is draws of one game still to be listed: draws[low…high-1]; or, if list is not nil, the draws whose indices are
// list[low…high-1]; or, if set is not nil, those of draws[low…high-1] whose indices are in set.
type run struct {
	game      *Game
	draws     []draw
	list      []uint32
	set       *bitset
	left      int
	low, high int
	draw      draw // the head
}

// adjacent reports whether the run's draws are adjacent in memory.
func (r *run) adjacent() bool { return r.list == nil && r.set == nil }

// take makes the next draw in list order the head. There must be one.
func (r *run) take(ascending bool) { r.draw = r.draws[r.next(ascending)] }

// next removes the next draw in list order, of which there must be one, and returns its index in draws.
func (r *run) next(ascending bool) (index int) {
	switch {
	case ascending && r.set != nil:
		index = r.set.next(r.low)
	case ascending:
		index = r.low
	case r.set != nil:
		index = r.set.previous(r.high)
	default:
		index = r.high - 1
	}
	if ascending {
		r.low = index + 1
	} else {
		r.high = index
	}
	r.left--
	if r.list != nil {
		index = int(r.list[index])
	}
	return index
}

// key orders the heads of runs as in the list, smallest first. No two are equal: runs of the same game differ in tod.
func (r *run) key(ascending bool) uint64 {
	key := uint64(r.draw.slot().moment())<<32 | uint64(^r.game.rank)
	if !ascending {
		key = ^key
	}
	return key
}

// head is the first draw of a run that is not listed yet.
type head struct {
	key uint64
	run int32
}
