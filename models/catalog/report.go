package catalog

import (
	"sync"

	"lottery/models"
)

// report turns the tally of a selection into Stats.
func report(s *selection) *Stats {
	t := newTally(s)
	defer t.release()
	g := s.game
	r := reports.Get().(*Stats) //nolint:forcetypeassert // the pool makes nothing else
	r.Game, r.GameName, r.GameType, r.TotalDraws = g.ID, g.Name, g.Type, s.total
	r.addSums(t, s)
	r.addNumbers(t, s)
	r.addBoxes(t, s)
	r.addDigits(t, s)
	r.addOverdue(t, s)
	r.DateRange = DateRange{}
	if s.total > 0 {
		r.room.first, r.room.last = s.oldest().slot().date(), g.draws[s.previous(s.high)].slot().date()
		r.DateRange = DateRange{&r.room.first, &r.room.last}
	}
	return r
}

// share is count as a fraction of total; 0 if both are 0.
func share(count, total int) float64 {
	if total == 0 {
		return 0
	}
	return float64(count) / float64(total)
}

func (r *Stats) addSums(t *tally, s *selection) {
	sums := t.topSums()
	r.TopSums = r.TopSums[:0]
	for _, e := range sums.list() {
		r.TopSums = append(r.TopSums, SumStat{
			Sum:           int(e.key()),
			Count:         e.count(),
			Share:         share(e.count(), s.total),
			ExpectedShare: SumShare(t.digits, int(e.key())),
		})
	}
}

func (r *Stats) addNumbers(t *tally, s *selection) {
	r.HotNumbers = r.HotNumbers[:0]
	var texts padding
	for i, e := range t.numbers.list() {
		texts[i] = e.key()
		r.HotNumbers = append(r.HotNumbers, NumberStat{
			Count:         e.count(),
			Share:         share(e.count(), s.total),
			ExpectedShare: 1 / float64(models.PowerOf10(t.digits)),
			LastDate:      s.last(&s.game.exact, e.key()).slot().date(),
		})
	}
	text := texts.text(len(r.HotNumbers), t.digits)
	for i := range r.HotNumbers {
		r.HotNumbers[i].Number = text[i*t.digits : (i+1)*t.digits]
	}
}

func (r *Stats) addBoxes(t *tally, s *selection) {
	boxes := &t.topBoxes
	r.HotBoxes = r.HotBoxes[:0]
	var texts padding
	for i, e := range boxes.list() {
		number, ways := boxDigits(uint32(e.key()), t.digits)
		texts[i] = number
		r.HotBoxes = append(r.HotBoxes, BoxStat{
			Count:         e.count(),
			Share:         share(e.count(), s.total),
			ExpectedShare: float64(ways) / float64(models.PowerOf10(t.digits)),
			LastDate:      s.last(&s.game.box, e.key()).slot().date(),
		})
	}
	text := texts.text(len(r.HotBoxes), t.digits)
	for i := range r.HotBoxes {
		r.HotBoxes[i].Normalized = text[i*t.digits : (i+1)*t.digits]
	}
}

func (r *Stats) addDigits(t *tally, s *selection) {
	var order top // all ten, including those never drawn
	for d := range uint64(len(order)) {
		order.insert(newTopEntry(d, t.digit(int(d))))
	}
	r.HotDigits = r.HotDigits[:0]
	for i, e := range order {
		d := e.key()
		byPosition := r.room.places[i*t.digits : (i+1)*t.digits : (i+1)*t.digits]
		for place := range byPosition {
			byPosition[place] = t.places[place][d]
		}
		r.HotDigits = append(r.HotDigits, DigitStat{
			Digit:         digitNames[d : d+1],
			Count:         e.count(),
			Share:         share(e.count(), s.total*t.digits),
			ExpectedShare: 0.1,
			ByPosition:    byPosition,
		})
	}
}

const digitNames = "0123456789"

// addOverdue goes back from the newest draw until it has seen every digit that was drawn.
func (r *Stats) addOverdue(t *tally, s *selection) {
	const never = maxDraws
	last := &r.room.drawn
	missing := 0
	for d := range last {
		last[d].ago = never
		if t.digit(d) > 0 {
			missing++
		}
	}
	at := s.high
	for ago := 0; missing > 0; ago++ {
		at = s.previous(at)
		drawn := s.game.draws[at]
		number := drawn.number()
		for range t.digits {
			if d := &last[number%10]; d.ago == never {
				d.ago, d.date = ago, drawn.slot().date()
				missing--
			}
			number /= 10
		}
	}
	var order top
	for d := range last {
		order.insert(newTopEntry(uint64(d), last[d].ago))
	}
	r.OverdueDigits = r.OverdueDigits[:0]
	for _, e := range order {
		d := e.key()
		digit := OverdueDigit{Digit: digitNames[d : d+1]}
		if last[d].ago != never {
			digit.DrawsSince, digit.LastDate = &last[d].ago, &last[d].date
		}
		r.OverdueDigits = append(r.OverdueDigits, digit)
	}
}

// SumShare is the share of numbers of so many digits that add up to sum: what fair, independent digits give.
func SumShare(digits, sum int) float64 {
	return float64(sumWays()[digits][sum]) / float64(models.PowerOf10(digits))
}

// sumWays[digits][sum] is how many numbers have that many digits and that sum: the distribution of one
// digit, convolved with itself.
var sumWays = sync.OnceValue(func() *[models.MaxDigits + 1][9*models.MaxDigits + 1]uint64 {
	ways := new([models.MaxDigits + 1][9*models.MaxDigits + 1]uint64)
	ways[0][0] = 1
	for digits := 1; digits <= models.MaxDigits; digits++ {
		for sum := range 9*digits + 1 {
			for digit := range min(9, sum) + 1 {
				ways[digits][sum] += ways[digits-1][sum-digit]
			}
		}
	}
	return ways
})

// boxDigits returns the digits of a box in ascending order, as a number, and the number of their distinct orders.
func boxDigits(box uint32, digits int) (number uint64, ways int) {
	if t := boxTable(digits); t != nil {
		return uint64(t.numbers[box]), int(t.ways[box])
	}
	number = boxNumber(box, digits)
	return number, boxWays(number, digits)
}

// boxWays is the number of distinct orders of a number's digits: n! / ∏ multiplicities!.
func boxWays(number uint64, digits int) int {
	var count [10]int
	ways := 1
	for i := 1; i <= digits; i++ {
		digit := number % 10
		number /= 10
		count[digit]++
		ways = ways * i / count[digit] // always divisible: a multinomial coefficient
	}
	return ways
}

// padding is numbers to be written with their leading zeros.
type padding [topCount]uint64

// text returns the first count numbers, concatenated.
func (p *padding) text(count, digits int) string {
	var text [topCount * models.MaxDigits]byte
	for i, number := range p[:count] {
		for place := digits - 1; place >= 0; place-- {
			text[i*digits+place] = byte('0' + number%10)
			number /= 10
		}
	}
	return string(text[:count*digits])
}
