package catalog

import (
	"math/bits"
	"slices"

	"lottery/models"
)

// selection is the draws of one game that statistics cover: a range of dates, and one tod or all.
type selection struct {
	game      *Game
	tod       models.Tod // 0 = all
	set       *bitset    // the draws of the tod; nil = all
	from, to  slot       // the range
	low, high int        // positions of the range: low…high-1
	total     int
}

func (g *Game) selection(q *Query) selection {
	w := g.window(q)
	p := w.mapped(g.before)
	sel := selection{game: g, from: w.low, to: w.high, low: p.low, high: p.high}
	switch section := g.section(q.Tod); {
	case q.Tod == 0:
		sel.total = p.high - p.low
	case section >= 0:
		sel.tod, sel.set = q.Tod, &g.sections[section].draws
		sel.total = sel.set.before(p.high) - sel.set.before(p.low)
	}
	return sel
}

// oldest returns the first selected draw. There must be one.
func (s *selection) oldest() draw {
	if s.set == nil {
		return s.game.draws[s.low]
	}
	return s.game.draws[s.set.next(s.low)]
}

// previous returns the position of the newest selected draw before position. There must be one.
func (s *selection) previous(position int) int {
	if s.set == nil {
		return position - 1
	}
	return s.set.previous(position)
}

// last returns the newest selected draw of a key. There must be one.
func (s *selection) last(x *keyIndex, key uint64) draw {
	p, list := x.within(s.game, &span[slot]{high: s.to, restHigh: s.to}, key, s.tod)
	if list != nil {
		return x.list[list[p.high-1]]
	}
	return x.list[p.high-1]
}

// drawn is how often a number was drawn.
func (s *selection) drawn(number uint64) int {
	p, _ := s.game.exact.within(s.game, &span[slot]{s.from, s.to, s.from, s.to}, number, s.tod)
	return p.high - p.low
}

// collect puts the number of every selected draw into dst, which must have room for them.
func (s *selection) collect(dst []uint64) {
	next := 0
	for _, d := range s.game.draws[s.low:s.high] {
		if s.tod == 0 || d.slot().tod() == s.tod {
			dst[next] = d.number()
			next++
		}
	}
}

// appendNumbers appends the numbers of those of draws low…high-1 that have the selection's tod.
func (s *selection) appendNumbers(list []uint32, low, high int) []uint32 {
	draws := s.game.draws[low:high]
	at := len(list)
	list = slices.Grow(list, len(draws))[:at+len(draws)]
	if s.set == nil {
		for i, d := range draws {
			list[at+i] = uint32(d.number())
		}
		return list
	}
	for word := low >> wordShift; word<<wordShift < high; word++ {
		first := word << wordShift
		members := s.set.word(word)
		if first < low {
			members &= ^uint64(0) << (low - first)
		}
		if first+wordMask >= high {
			members &= ^uint64(0) >> (first + wordMask + 1 - high)
		}
		for ; members != 0; members &= members - 1 {
			list[at] = uint32(s.game.draws[first+bits.TrailingZeros64(members)].number())
			at++
		}
	}
	return list[:at]
}

// count adds to counts, indexed by number, how often each number was drawn.
func (s *selection) count(counts []uint32) {
	s.game.stored[s.tod].count(s.game.draws, s.low, s.high, counts)
}

// storedCounts is how often each number was drawn among the first step, 2·step, … draws by position, of one tod or of
// all. They make the cost of counting a range independent of its length. The counts of all tods take 2 bytes a draw,
// those of the single tods together as much again.
type storedCounts struct {
	tod    models.Tod // 0 = all
	step   int        // 0 = the game has too few draws for this to pay off, or has leaders
	counts []uint32   // 10^digits counts for each multiple of step, from 0
}

func newStoredCounts(g *Game, tod models.Tod) storedCounts {
	c := storedCounts{tod: tod}
	if g.Digits > tableDigits || marked(g.Digits) {
		return c
	}
	width := int(models.PowerOf10(g.Digits))
	step := 2 * width
	if tod != 0 {
		step *= len(g.sections)
	}
	if g.Len() < 4*step {
		return c
	}
	c.step, c.counts = step, make([]uint32, (g.Len()/step+1)*width)
	for low := 0; low+step <= g.Len(); low += step {
		next := low/step + 1
		row := c.counts[next*width : (next+1)*width]
		copy(row, c.counts[(next-1)*width:next*width])
		c.add(g.draws[low:low+step], row, 1)
	}
	return c
}

// count adds to counts how often each number was drawn among draws[low:high]: it uses the stored counts nearest to the
// ends, corrected by the draws in between.
func (c *storedCounts) count(draws []draw, low, high int, counts []uint32) {
	if c.step == 0 || high-low <= 2*c.step {
		c.add(draws[low:high], counts, 1)
		return
	}
	width := len(counts)
	first, last := (low+c.step/2)/c.step, min((high+c.step/2)/c.step, len(c.counts)/width-1)
	before, upTo := c.counts[first*width:][:width], c.counts[last*width:][:width]
	for number, n := range upTo {
		counts[number] += n - before[number]
	}
	c.mend(draws, low, first*c.step, counts)
	c.mend(draws, last*c.step, high, counts)
}

// mend adds draws[low:high], or subtracts draws[high:low].
func (c *storedCounts) mend(draws []draw, low, high int, counts []uint32) {
	if low <= high {
		c.add(draws[low:high], counts, 1)
	} else {
		c.add(draws[high:low], counts, ^uint32(0))
	}
}

// add adds by (1, or -1 modulo 2³²) to the count of each number drawn.
func (c *storedCounts) add(draws []draw, counts []uint32, by uint32) {
	for _, d := range draws {
		if c.tod == 0 || d.slot().tod() == c.tod {
			counts[d.number()] += by
		}
	}
}
