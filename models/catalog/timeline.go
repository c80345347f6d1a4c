package catalog

import "math/bits"

// timeline locates a moment among a game's draws.
type timeline struct {
	first, last slot
	stretches   []stretch // the last one marks the end
}

// stretch is 32 days, counted from the game's first: short enough that a draw in it is found quickly, and long enough
// that all stretches stay in the processor's cache.
type stretch struct {
	start uint32 // position of the first draw on or after its first day
	days  uint32 // bit set of its days that have draws
	each  uint32 // draws on each of those days; 0 = the numbers differ
}

const (
	stretchShift = 5 // log2 of the days in a stretch
	stretchMask  = 1<<stretchShift - 1
)

func newTimeline(draws []draw) timeline {
	t := timeline{first: draws[0].slot(), last: draws[len(draws)-1].slot()}
	t.stretches = make([]stretch, (t.last.day()-t.first.day())>>stretchShift+2)
	next := 0
	for i := range t.stretches {
		var counts [1 << stretchShift]uint32
		t.stretches[i].start = uint32(next)
		for ; next < len(draws); next++ {
			day := draws[next].slot().day() - t.first.day()
			if int(day>>stretchShift) > i {
				break
			}
			counts[day&stretchMask]++
		}
		t.stretches[i].count(&counts)
	}
	return t
}

// count records how many draws each day has.
func (s *stretch) count(draws *[1 << stretchShift]uint32) {
	for day, n := range draws {
		switch {
		case n == 0:
			continue
		case s.days == 0:
			s.each = n
		case n != s.each:
			s.each = 0
		}
		s.days |= 1 << day
	}
}

// place is where a moment lies among a game's draws: in low…high, most likely at guess.
type place struct {
	low, high, guess int
	sure             bool // it is exactly guess
}

// around returns the place of a moment that is after the first draw and not after the last. It is sure of the start of
// a day in a stretch where all days with draws have the same number.
func (t *timeline) around(at slot) place {
	days := at.day() - t.first.day()
	s := &t.stretches[days>>stretchShift]
	p := place{low: int(s.start), high: int(t.stretches[days>>stretchShift+1].start)}
	if s.each == 0 {
		p.guess = p.low + int(days&stretchMask)*(p.high-p.low)>>stretchShift
		return p
	}
	before := s.days & (1<<(days&stretchMask) - 1)
	p.guess, p.sure = p.low+int(s.each)*bits.OnesCount32(before), at.isStartOfDay()
	return p
}

// before returns the position of the first draw that is not before at.
func (g *Game) before(at slot) int {
	if at <= g.times.first {
		return 0
	}
	if at > g.times.last {
		return len(g.draws)
	}
	p := g.times.around(at)
	if p.sure {
		return p.guess
	}
	return p.low + bound(g.draws[p.low:p.high], at.first(), p.guess-p.low)
}

// among is how many of list, an ascending list of some of the game's draws, are before at.
func (g *Game) among(list []draw, at slot) int {
	if at <= g.times.first {
		return 0
	}
	if at > g.times.last {
		return len(list)
	}
	return bound(list, at.first(), g.guess(list, at))
}

// guess is roughly how many of list are before at, which is after the game's first draw and not after its last.
func (g *Game) guess(list []draw, at slot) int {
	return g.times.around(at).guess * len(list) / len(g.draws)
}

// touch reads what among will read first.
func (g *Game) touch(list []draw, at slot) (read draw) {
	if at <= g.times.first || at > g.times.last {
		return 0
	}
	if i := g.guess(list, at); i < len(list) {
		return list[i]
	}
	return 0
}

// bound is how many entries of an ascending list are less than value. It searches outward from guess, which touches
// less memory than a binary search of the whole list: draws of a kind come at a fairly even rate, so good guesses are
// easy. A bad guess costs at most twice as many steps as a binary search.
func bound[E uint32 | draw](list []E, value E, guess int) int {
	low, high := 0, len(list)
	if guess < len(list) {
		if list[guess] < value {
			low = guess + 1
			for step := 1; guess+step < len(list); step *= 2 {
				if list[guess+step] >= value {
					high = guess + step
					break
				}
				low = guess + step + 1
			}
		} else {
			high = guess
			for step := 1; step <= guess; step *= 2 {
				if list[guess-step] < value {
					low = guess - step + 1
					break
				}
				high = guess - step
			}
		}
	}
	for low < high {
		middle := int(uint(low+high) / 2)
		if list[middle] < value {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
