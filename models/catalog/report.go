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
	stats := &Stats{
		Game:       g.ID,
		GameName:   g.Name,
		GameType:   g.Type,
		TotalDraws: s.total,
		TopSums:    sumStats(t, s),
		HotNumbers: numberStats(t, s),
		HotBoxes:   boxStats(t, s),
		HotDigits:  digitStats(t, s),
	}
	stats.OverdueDigits = overdueDigits(t, s)
	if s.total > 0 {
		first, last := s.oldest().slot().date(), g.draws[s.previous(s.high)].slot().date()
		stats.DateRange = DateRange{&first, &last}
	}
	return stats
}

// share is count as a part of total, which may be 0 only where count is.
func share(count, total int) float64 {
	if total == 0 {
		return 0
	}
	return float64(count) / float64(total)
}

func sumStats(t *tally, s *selection) []SumStat {
	sums := t.topSums()
	list := sums.list()
	stats := make([]SumStat, len(list))
	for i, e := range list {
		stats[i] = SumStat{
			Sum:           int(e.key()),
			Count:         e.count(),
			Share:         share(e.count(), s.total),
			ExpectedShare: float64(sumWays()[t.digits][e.key()]) / float64(powerOf10(t.digits)),
		}
	}
	return stats
}

func numberStats(t *tally, s *selection) []NumberStat {
	list := t.numbers.list()
	stats := make([]NumberStat, len(list))
	var texts padding
	for i, e := range list {
		texts[i] = e.key()
		stats[i] = NumberStat{
			Count:         e.count(),
			Share:         share(e.count(), s.total),
			ExpectedShare: 1 / float64(powerOf10(t.digits)),
			LastDate:      s.last(&s.game.exact, e.key()).slot().date(),
		}
	}
	text := texts.text(len(list), t.digits)
	for i := range stats {
		stats[i].Number = text[i*t.digits : (i+1)*t.digits]
	}
	return stats
}

func boxStats(t *tally, s *selection) []BoxStat {
	boxes := t.topBoxes()
	list := boxes.list()
	stats := make([]BoxStat, len(list))
	var texts padding
	for i, e := range list {
		number := boxNumber(uint32(e.key()), t.digits)
		texts[i] = number
		stats[i] = BoxStat{
			Count:         e.count(),
			Share:         share(e.count(), s.total),
			ExpectedShare: float64(boxWays(number, t.digits)) / float64(powerOf10(t.digits)),
			LastDate:      s.last(&s.game.box, e.key()).slot().date(),
		}
	}
	text := texts.text(len(list), t.digits)
	for i := range stats {
		stats[i].Normalized = text[i*t.digits : (i+1)*t.digits]
	}
	return stats
}

func digitStats(t *tally, s *selection) []DigitStat {
	var order top // of all ten, also those that never came
	for d := range uint64(len(order)) {
		order.insert(newTopEntry(d, t.digit(int(d))))
	}
	stats := make([]DigitStat, len(order))
	places := make([]int, len(order)*t.digits)
	for i, e := range order {
		d := e.key()
		byPosition := places[i*t.digits : (i+1)*t.digits : (i+1)*t.digits]
		for place := range byPosition {
			byPosition[place] = t.places[place][d]
		}
		stats[i] = DigitStat{
			Digit:         digitNames[d : d+1],
			Count:         e.count(),
			Share:         share(e.count(), s.total*t.digits),
			ExpectedShare: 0.1,
			ByPosition:    byPosition,
		}
	}
	return stats
}

const digitNames = "0123456789"

// overdueDigits looks back from the newest draw until it has seen every digit that there is.
func overdueDigits(t *tally, s *selection) []OverdueDigit {
	const never = maxDraws
	var last [10]struct {
		ago  int
		date models.Date
	}
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
	stats := make([]OverdueDigit, len(order))
	for i, e := range order {
		d := e.key()
		stats[i].Digit = digitNames[d : d+1]
		if last[d].ago != never {
			stats[i].DrawsSince, stats[i].LastDate = &last[d].ago, &last[d].date
		}
	}
	return stats
}

// sumWays is how many numbers there are by their digits and the sum of those: the distribution of one digit,
// convolved with itself.
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

// boxWays is in how many orders the digits of a number can stand: n! / ∏ multiplicities!.
func boxWays(number uint64, digits int) int {
	var count [10]int
	ways := 1
	for i := 1; i <= digits; i++ {
		digit := number % 10
		number /= 10
		count[digit]++
		ways = ways * i / count[digit] // always whole: a multinomial coefficient
	}
	return ways
}

// padding is numbers that become texts with their leading zeros.
type padding [topCount]uint64

// text is the first count of them one after the other.
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
