package catalog

import (
	"slices"

	"lottery/models"
)

// leaders knows, for games of four and five digits, what was drawn between any two of a few marks in the game's draws:
// how often each box and each digit by place, and the numbers that were drawn most. The statistics of a range are those
// between the marks nearest to its ends, mended by the few draws between those and the ends, so that nobody has to look
// at ten thousand numbers. It is of one tod or of all.
type leaders struct {
	tod   models.Tod // 0: all
	step  int        // from mark to mark, in positions; 0: the game has too few draws, or numbers, to be worth it
	end   int        // the last mark, which is where the draws end
	marks int
	sums  []uint32 // of each mark, how often each box and each digit by place was drawn before it
	leads []lead   // of each two marks: those of the first, of the second, …
	list  []leader
}

// lead is the numbers that were drawn at least floor times between two marks, of which there are ten or more unless
// floor is 1: where they end in the list. Where floor is 0 there would be too many, or too few.
type lead struct {
	end   uint32
	floor uint32
}

// leader is a number and how much more often than floor it was drawn.
type leader uint32

const (
	leaderBits = 15 // of how much more often
	mostAbove  = 1<<leaderBits - 1
)

func (l leader) number() uint64 { return uint64(l >> leaderBits) }
func (l leader) above() int     { return int(l & mostAbove) }

const (
	// leadersPart of all numbers, and mostLeaders, are leaders at most. Where nearly all numbers were drawn once or
	// twice, half of them may have come as often as the tenth.
	leadersPart = 1. / 16
	mostLeaders = 1_000
	// fewDraws between two marks are sooner looked at one by one.
	fewDraws = 2_500
	// fewLeaders are too few if the tenth number has no more than floor: were some of them mended away, another number
	// might be among the first ten, and too many would have to be looked at.
	fewLeaders = 40
)

// marked tells whether a game of so many digits is worth it: of three digits all numbers are quickly looked through.
func marked(digits int) bool { return digits > 3 && digits <= tableDigits }

// spacing is how many draws there are from mark to mark, at least, and how many marks, at most. What a range is mended by
// takes longer with more draws, and what is known of the marks more memory with more of them: of five digits, three times
// as much as of four.
func spacing(digits int) (draws, marks int) {
	if digits == tableDigits {
		return boxCount(digits) / 2, 32
	}
	return 2 * boxCount(digits), 64
}

func newLeaders(g *Game, tod models.Tod) leaders {
	l := leaders{tod: tod}
	step, marks := spacing(g.Digits)
	if tod != 0 {
		step *= len(g.sections)
	}
	step = max(step, g.Len()/marks)
	if !marked(g.Digits) || g.Len() < 4*step {
		return l
	}
	l.step, l.end = step, g.Len()
	l.marks = (l.end-1)/step + 2
	l.addUp(g)
	l.rank(g)
	return l
}

func (l *leaders) at(mark int) int { return min(mark*l.step, l.end) }

// nearest is the mark nearest to a position.
func (l *leaders) nearest(position int) int {
	mark := min((position+l.step/2)/l.step, l.marks-1)
	if last := l.marks - 1; l.end-position < max(l.at(mark)-position, position-l.at(mark)) {
		return last
	}
	return mark
}

// sumsBefore is how often each box, and then each digit by place, was drawn before a mark.
func (l *leaders) sumsBefore(mark int) []uint32 {
	width := len(l.sums) / l.marks
	return l.sums[mark*width:][:width]
}

// between is the leaders between two marks, the first of which comes first. They are none if floor is 0.
func (l *leaders) between(first, last int) (list []leader, floor int) {
	pair := first*(l.marks-1) - first*(first-1)/2 + last - first - 1
	if pair > 0 {
		list = l.list[l.leads[pair-1].end:l.leads[pair].end]
	} else {
		list = l.list[:l.leads[pair].end]
	}
	return list, int(l.leads[pair].floor)
}

func (l *leaders) addUp(g *Game) {
	table := boxTable(g.Digits)
	boxes := boxCount(g.Digits)
	width := boxes + 10*g.Digits
	l.sums = make([]uint32, l.marks*width)
	for mark := 1; mark < l.marks; mark++ {
		row := l.sums[mark*width:][:width]
		copy(row, l.sums[(mark-1)*width:])
		places := row[boxes:]
		for _, d := range g.draws[l.at(mark-1):l.at(mark)] {
			if l.tod != 0 && d.slot().tod() != l.tod {
				continue
			}
			number := d.number()
			row[table.boxes[number]]++
			for place := g.Digits - 1; place >= 0; place-- {
				places[10*place+int(number%10)]++
				number /= 10
			}
		}
	}
}

// rank finds the leaders between all marks. From one mark it goes on to the next, and the one after: what the tenth
// number has grows, so that of the numbers that are far behind it only those have to be looked at again that were drawn
// again.
func (l *leaders) rank(g *Game) {
	counts := make([]uint32, powerOf10(g.Digits))
	most := min(int(leadersPart*float64(len(counts))), mostLeaders)
	var near []uint32 // the numbers that were drawn floor times or more
	var ranks frequencies
	for first := range l.marks - 1 {
		clear(counts)
		near = near[:0]
		floor, draws := uint32(1), 0
		for last := first + 1; last < l.marks; last++ {
			for _, d := range g.draws[l.at(last-1):l.at(last)] {
				if l.tod != 0 && d.slot().tod() != l.tod {
					continue
				}
				draws++
				count := &counts[d.number()]
				if *count++; *count == floor {
					near = append(near, uint32(d.number()))
				}
			}
			ranks.set(near, counts)
			tenth := ranks.of(topCount)
			floor = less(tenth, 1)
			near = slices.DeleteFunc(near, func(number uint32) bool { return counts[number] < floor })
			switch {
			case draws < fewDraws:
				l.add(nil, counts, 0)
			case len(near) <= most:
				l.add(near, counts, floor)
			case tenth > floor && ranks.from(tenth) >= fewLeaders && ranks.from(tenth) <= most:
				l.add(near, counts, tenth)
			default:
				l.add(nil, counts, 0)
			}
		}
	}
	l.list = slices.Clip(l.list)
}

// less is count less by, but not less than 1.
func less(count, by uint32) uint32 { return max(count, by+1) - by }

// add adds what is between the next two marks: those of near that have at least floor, unless that is 0. Those that have
// more come first, so that few take the place of others.
func (l *leaders) add(near, counts []uint32, floor uint32) {
	start := len(l.list)
	for _, number := range near {
		if counts[number] <= floor || floor == 0 {
			continue
		}
		above := counts[number] - floor
		if above > mostAbove { // no lottery's
			l.list, floor = l.list[:start], 0
			continue
		}
		l.list = append(l.list, leader(number<<leaderBits|above))
	}
	for _, number := range near {
		if counts[number] == floor && floor > 0 {
			l.list = append(l.list, leader(number<<leaderBits))
		}
	}
	l.leads = append(l.leads, lead{uint32(len(l.list)), floor})
}

// frequencies is how many numbers were drawn how often.
type frequencies []uint32

func (f *frequencies) set(numbers, counts []uint32) {
	clear(*f)
	for _, number := range numbers {
		count := counts[number]
		for int(count) >= len(*f) {
			*f = append(*f, 0)
		}
		(*f)[count]++
	}
}

// from is how many numbers were drawn so often, or more often.
func (f frequencies) from(count uint32) (numbers int) {
	for _, n := range f[min(int(count), len(f)):] {
		numbers += int(n)
	}
	return numbers
}

// of is how often the number of that rank was drawn; 0 if there are fewer.
func (f frequencies) of(rank int) uint32 {
	for count := len(f) - 1; count > 0; count-- {
		if rank -= int(f[count]); rank <= 0 {
			return uint32(count)
		}
	}
	return 0
}
