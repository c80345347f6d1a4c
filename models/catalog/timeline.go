package catalog

// timeline finds the position of a moment among a game's draws: it knows at which draw every 32nd day starts.
type timeline struct {
	first, last slot
	starts      []uint32 // position of the first draw on or after the first day + 32 i; one more for the end
}

// timelineStep is the log2 of the days between two starts: few enough draws to find one among them, few enough
// starts to stay in the cache.
const timelineStep = 5

func newTimeline(draws []draw) timeline {
	t := timeline{first: draws[0].slot(), last: draws[len(draws)-1].slot()}
	t.starts = make([]uint32, (t.last.day()-t.first.day())>>timelineStep+2)
	next := 0
	for i, d := range draws {
		for block := int(d.slot().day()-t.first.day()) >> timelineStep; next <= block; next++ {
			t.starts[next] = uint32(i)
		}
	}
	t.starts[next] = uint32(len(draws))
	return t
}

// around is the positions low…high-1 among which the moment is, which must lie after the first draw and not after the
// last, and a guess which of them it is.
func (t *timeline) around(at slot) (low, high, guess int) {
	days := at.day() - t.first.day()
	block := days >> timelineStep
	low, high = int(t.starts[block]), int(t.starts[block+1])
	return low, high, low + int(days%(1<<timelineStep))*(high-low)>>timelineStep
}

// before is the position of the first draw that does not come before at.
func (g *Game) before(at slot) int {
	if at <= g.times.first {
		return 0
	}
	if at > g.times.last {
		return len(g.draws)
	}
	low, high, guess := g.times.around(at)
	return low + bound(g.draws[low:high], at.first(), guess-low)
}

// among is how many of list, which is some of the game's draws, come before at.
func (g *Game) among(list []draw, at slot) int {
	if at <= g.times.first {
		return 0
	}
	if at > g.times.last {
		return len(list)
	}
	_, _, guess := g.times.around(at)
	return bound(list, at.first(), guess*len(list)/len(g.draws))
}

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
