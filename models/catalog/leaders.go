package catalog

import (
	"slices"

	"lottery/models"
)

// leaders precomputes, for games of four and five digits, what was drawn between any two of a few marks in the game's
// draws: how often each box and each digit by place, and the most frequent numbers. The statistics of a range are those
// between the marks nearest to its ends, corrected by the few draws between marks and ends; so ten thousand numbers
// need not be scanned. It covers one tod or all.
type leaders struct {
	tod   models.Tod // 0 = all
	step  int        // distance of marks in positions; 0 = the game has too few draws, or numbers, for this to pay off
	end   int        // the last mark, at the end of the draws
	marks int
	sums  []uint32 // per mark: how often each box, and each digit by place, was drawn before it
	leads []lead   // per pair of marks: (0,1), (0,2), …, (1,2), …
	list  []leader
}

// lead describes the numbers drawn at least floor times between two marks; there are at least ten of them unless floor
// is 1. end is where they end in leaders.list. floor is 0 if there would be too many or too few of them.
type lead struct {
	end   uint32
	floor uint32
}

// leader is a number, and how many times more often than floor it was drawn.
type leader uint32

const (
	leaderBits = 15 // for how many times more
	mostAbove  = 1<<leaderBits - 1
)

func (l leader) number() uint64 { return uint64(l >> leaderBits) }
func (l leader) above() int     { return int(l & mostAbove) }

const (
	// leadersPart (a fraction of all numbers) and mostLeaders bound the leaders of a pair of marks. Where most numbers
	// were drawn once or twice, half of them may tie with the tenth.
	leadersPart = 1. / 16
	mostLeaders = 1_000
	// fewDraws is the number of draws between two marks below which it is faster to count them one by one.
	fewDraws = 2_500
	// fewLeaders is the least number of leaders if the tenth of them has no more than floor: if corrections remove
	// some, too many other numbers might enter the top ten and have to be looked at.
	fewLeaders = 40
)

// marked reports whether leaders pay off for games of that many digits: three-digit numbers are quickly scanned.
func marked(digits int) bool { return digits > 3 && digits <= tableDigits }

// spacing returns the least number of draws between marks, and the most marks. More draws make corrections slower; more
// marks take more memory, which for five digits is three times as much as for four.
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

// nearest returns the mark nearest to a position.
func (l *leaders) nearest(position int) int {
	mark := min((position+l.step/2)/l.step, l.marks-1)
	if last := l.marks - 1; l.end-position < max(l.at(mark)-position, position-l.at(mark)) {
		return last
	}
	return mark
}

// sumsBefore returns how often each box, and then each digit by place, was drawn before a mark.
func (l *leaders) sumsBefore(mark int) []uint32 {
	width := len(l.sums) / l.marks
	return l.sums[mark*width:][:width]
}

// between returns the leaders between two marks, first < last. There are none if floor is 0.
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

// rank finds the leaders between all pairs of marks. From each first mark it extends the range one mark at a time. The
// tenth count only grows, so a number far behind it need not be considered until it is drawn again.
func (l *leaders) rank(g *Game) {
	counts := make([]uint32, models.PowerOf10(g.Digits))
	most := min(int(leadersPart*float64(len(counts))), mostLeaders)
	var near []uint32 // the numbers drawn at least floor times
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

// less is count minus by, but at least 1.
func less(count, by uint32) uint32 { return max(count, by+1) - by }

// add appends the leaders of the next pair of marks: the numbers of near that have at least floor, unless floor is 0.
// Those above floor come first, so that few entries of the top ten are replaced later.
func (l *leaders) add(near, counts []uint32, floor uint32) {
	start := len(l.list)
	for _, number := range near {
		if counts[number] <= floor || floor == 0 {
			continue
		}
		above := counts[number] - floor
		if above > mostAbove { // does not happen in a lottery
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

// frequencies[count] is how many numbers were drawn count times.
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

// from is how many numbers were drawn at least count times.
func (f frequencies) from(count uint32) (numbers int) {
	for _, n := range f[min(int(count), len(f)):] {
		numbers += int(n)
	}
	return numbers
}

// of is how often the number of that rank was drawn; 0 if there are fewer numbers.
func (f frequencies) of(rank int) uint32 {
	for count := len(f) - 1; count > 0; count-- {
		if rank -= int(f[count]); rank <= 0 {
			return uint32(count)
		}
	}
	return 0
}
