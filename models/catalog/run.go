package catalog

// run is draws of one tod of one game that are still to be listed: those at low…high-1 of draws; or those of
// draws that list names at low…high-1; or those at low…high-1 of draws whose indices the set holds.
type run struct {
	game      *Game
	draws     []draw
	list      []uint32
	set       *bitset
	left      int
	low, high int
	draw      draw // at the head
}

// adjacent tells whether the run's draws stand side by side.
func (r *run) adjacent() bool { return r.list == nil && r.set == nil }

// take moves the head to the next draw in list order. There must be one.
func (r *run) take(ascending bool) {
	var index int
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
	r.draw = r.draws[index]
}

// key orders the heads of runs as the list does, smallest first. No two are equal: runs of one game differ in
// tod.
func (r *run) key(ascending bool) uint64 {
	key := uint64(r.draw.slot().moment())<<32 | uint64(^r.game.rank)
	if !ascending {
		key = ^key
	}
	return key
}

// head is the next draw of a run.
type head struct {
	key uint64
	run int32
}
