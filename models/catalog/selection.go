package catalog

import "lottery/models"

// selection is the draws of one game that statistics are about: a range of dates, and one tod or all.
type selection struct {
	game  *Game
	to    slot                  // the end of the range
	parts [models.TodCount]part // by section, empty for those not wanted
	total int
}

// part is the positions low…high-1.
type part struct{ low, high int }

func (g *Game) selection(q *Query) selection {
	w := g.window(q)
	sel := selection{game: g, to: w.to}
	for i := range g.tods {
		if s := &g.sections[i]; s.wanted(q) {
			p := s.span(g.draws, &w)
			sel.parts[i] = part{p.low, p.high}
			sel.total += p.high - p.low
		}
	}
	return sel
}

// oldest is the first of the selected draws, of which there must be one.
func (s *selection) oldest() draw {
	oldest := draw(1 << 63)
	for _, p := range s.parts {
		if p.low < p.high {
			oldest = min(oldest, s.game.draws[p.low])
		}
	}
	return oldest
}

// newest is the last of the selected draws and their part.
func newest(draws []draw, parts *[models.TodCount]part) (last draw, at int) {
	for i, p := range parts {
		if p.low < p.high && draws[p.high-1] >= last {
			last, at = draws[p.high-1], i
		}
	}
	return last, at
}

// last is the newest draw of lists that is selected, of which there must be one.
func (s *selection) last(lists *keyLists) draw {
	var last draw
	for i, p := range s.parts {
		if p.low < p.high {
			if before := s.game.sections[i].among(lists[i], s.to); before > 0 {
				last = max(last, lists[i][before-1])
			}
		}
	}
	return last
}

// collect puts the number of every selected draw into dst, which has room for them.
func (s *selection) collect(dst []uint64) {
	for _, p := range s.parts {
		for i, d := range s.game.draws[p.low:p.high] {
			dst[i] = d.number()
		}
		dst = dst[p.high-p.low:]
	}
}

// count adds to counts, which is by number, how often each number was drawn.
func (s *selection) count(counts []uint32) {
	for _, p := range s.parts {
		s.game.stored.count(s.game.draws, p, counts)
	}
}

// storedCounts is how often each number was drawn among the first step, 2·step, … draws by position. With them
// the cost of counting a range does not grow with the range. They take 2 bytes a draw.
type storedCounts struct {
	step   int      // 0: the game has too few draws, or its numbers too many digits, to be worth it
	counts []uint32 // 10^digits for each multiple of step, from 0
}

func newStoredCounts(g *Game) storedCounts {
	if g.Digits > tableDigits {
		return storedCounts{}
	}
	width := int(powerOf10(g.Digits))
	step := 2 * width
	if g.Len() < 4*step {
		return storedCounts{}
	}
	counts := make([]uint32, (g.Len()/step+1)*width)
	for low := 0; low+step <= g.Len(); low += step {
		next := low/step + 1
		row := counts[next*width : (next+1)*width]
		copy(row, counts[(next-1)*width:next*width])
		addNumbers(g.draws[low:low+step], row, 1)
	}
	return storedCounts{step, counts}
}

// count adds to counts how often each number was drawn in a part: by the stored counts nearest to its ends,
// mended by the draws between those and the ends.
func (c *storedCounts) count(draws []draw, p part, counts []uint32) {
	if c.step == 0 || p.high-p.low <= 2*c.step {
		addNumbers(draws[p.low:p.high], counts, 1)
		return
	}
	width := len(counts)
	low, high := (p.low+c.step/2)/c.step, min((p.high+c.step/2)/c.step, len(c.counts)/width-1)
	before, upTo := c.counts[low*width:(low+1)*width], c.counts[high*width:(high+1)*width]
	for number := range counts {
		counts[number] += upTo[number] - before[number]
	}
	mend(draws, p.low, low*c.step, counts)
	mend(draws, high*c.step, p.high, counts)
}

// mend adds the draws from low to high, or takes away those from high to low.
func mend(draws []draw, low, high int, counts []uint32) {
	if low <= high {
		addNumbers(draws[low:high], counts, 1)
	} else {
		addNumbers(draws[high:low], counts, ^uint32(0))
	}
}

// addNumbers adds by (1, or -1 modulo 2³²) to the count of each number drawn.
func addNumbers(draws []draw, counts []uint32, by uint32) {
	for _, d := range draws {
		counts[d.number()] += by
	}
}
