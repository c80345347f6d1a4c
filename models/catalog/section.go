package catalog

import "lottery/models"

// section is the draws of one tod of a game: base…end-1 of the game's draws, ascending. It knows the position
// at which every 32nd day starts, so that a date is found in one small part of them.
type section struct {
	base, end   uint32
	first, last slot
	tod         models.Tod
	starts      []uint32 // position of the first draw on or after the first day + 32 i; one more for the end
}

// sectionStep is the log2 of the days between two starts: few enough draws to find one among them, few enough
// starts to stay in the cache.
const sectionStep = 5

func newSection(tod models.Tod, draws []draw, base, end uint32) section {
	s := section{base: base, end: end, first: draws[base].slot(), last: draws[end-1].slot(), tod: tod}
	s.starts = make([]uint32, (s.last.day()-s.first.day())>>sectionStep+2)
	next := 0
	for i, d := range draws[base:end] {
		for block := int(d.slot().day()-s.first.day()) >> sectionStep; next <= block; next++ {
			s.starts[next] = base + uint32(i)
		}
	}
	s.starts[next] = end
	return s
}

// before is the position of the first draw that does not come before at.
func (s *section) before(draws []draw, at slot) uint32 {
	if at <= s.first {
		return s.base
	}
	if at > s.last {
		return s.end
	}
	days := at.day() - s.first.day()
	block := days >> sectionStep
	low, high := s.starts[block], s.starts[block+1]
	guess := days % (1 << sectionStep) * (high - low) >> sectionStep
	return low + uint32(bound(draws[low:high], at.first(), int(guess)))
}

// among is how many of list, which is some of the section's draws, come before at.
func (s *section) among(list []draw, at slot) int {
	if at <= s.first {
		return 0
	}
	if at > s.last {
		return len(list)
	}
	days, all := uint64(at.day()-s.first.day()), uint64(s.last.day()-s.first.day()+1)
	return bound(list, at.first(), int(days*uint64(len(list))/all))
}

// below is how many of list, which is positions in the section, are less than position.
func (s *section) below(list []uint32, position uint32) int {
	if position <= s.base {
		return 0
	}
	if position >= s.end {
		return len(list)
	}
	return bound(list, position, int(uint64(position-s.base)*uint64(len(list))/uint64(s.end-s.base)))
}

// wanted tells whether the query is about the section's tod.
func (s *section) wanted(q *Query) bool { return q.Tod == 0 || q.Tod == s.tod }

// bound is how many entries of an ascending list are less than value. It searches from guess outwards, which
// touches less memory than halving the whole list: draws of a kind come at a fairly even rate, so that a good
// guess is at hand. A bad one costs no more than twice the halvings.
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

// window is the draws of a game that the dates of a query allow, as slots from…to-1, and those of them that
// its cursor leaves, restFrom…restTo-1.
type window struct {
	from, to         slot
	restFrom, restTo slot
}

func (g *Game) window(q *Query) window {
	w := window{to: lastSlot}
	if q.From > models.FirstDate {
		w.from = startOfDay(q.From)
	}
	if q.To < models.LastDate {
		w.to = max(startOfDay(q.To+1), w.from)
	}
	w.restFrom, w.restTo = w.from, w.to
	if q.After == nil {
		return w
	}
	at := slotNear(q.After)
	moment := at &^ sequenceMask
	nextMoment := moment + 1<<sequenceBits
	if q.Ascending {
		switch {
		case g.ID < q.After.GameID: // ids descend within a moment: all of this game is still to come
			at = moment
		case g.ID > q.After.GameID:
			at = nextMoment
		default:
			at++
		}
		w.restFrom = min(max(w.from, at), w.to)
		return w
	}
	switch {
	case g.ID > q.After.GameID:
		at = nextMoment
	case g.ID < q.After.GameID:
		at = moment
	}
	w.restTo = max(min(w.to, at), w.from)
	return w
}

// span is a window in one section, as positions or as indices of a list.
type span struct{ low, high, restLow, restHigh int }

// span is the window as positions.
func (s *section) span(draws []draw, w *window) span {
	return s.spanOf(w, func(at slot) int { return int(s.before(draws, at)) })
}

// spanOf is the window as whatever where makes of a slot, which it is asked no more often than needed.
func (s *section) spanOf(w *window, where func(slot) int) span {
	p := span{low: where(w.from), high: where(w.to)}
	p.restLow, p.restHigh = p.low, p.high
	if w.restFrom != w.from {
		p.restLow = where(w.restFrom)
	}
	if w.restTo != w.to {
		p.restHigh = where(w.restTo)
	}
	return p
}
