package catalog

import (
	"cmp"
	"math"
	"slices"
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
	stats := make([]SumStat, sums.used)
	for i, e := range sums.list() {
		stats[i] = SumStat{
			Sum:           int(e.key),
			Count:         e.count,
			Share:         share(e.count, s.total),
			ExpectedShare: float64(sumWays()[t.digits][e.key]) / float64(powerOf10(t.digits)),
		}
	}
	return stats
}

func numberStats(t *tally, s *selection) []NumberStat {
	stats := make([]NumberStat, t.numbers.used)
	for i, e := range t.numbers.list() {
		stats[i] = NumberStat{
			Number:        padded(e.key, t.digits),
			Count:         e.count,
			Share:         share(e.count, s.total),
			ExpectedShare: 1 / float64(powerOf10(t.digits)),
			LastDate:      s.last(&s.game.exact, e.key).slot().date(),
		}
	}
	return stats
}

func boxStats(t *tally, s *selection) []BoxStat {
	boxes := t.topBoxes()
	stats := make([]BoxStat, boxes.used)
	for i, e := range boxes.list() {
		number := boxNumber(uint32(e.key), t.digits)
		stats[i] = BoxStat{
			Normalized:    padded(number, t.digits),
			Count:         e.count,
			Share:         share(e.count, s.total),
			ExpectedShare: float64(boxWays(number, t.digits)) / float64(powerOf10(t.digits)),
			LastDate:      s.last(&s.game.box, e.key).slot().date(),
		}
	}
	return stats
}

func digitStats(t *tally, s *selection) []DigitStat {
	stats := make([]DigitStat, 10)
	places := make([]int, 10*t.digits)
	for d := range stats {
		byPosition := places[d*t.digits : (d+1)*t.digits : (d+1)*t.digits]
		for place := range byPosition {
			byPosition[place] = t.places[place][d]
		}
		stats[d] = DigitStat{
			Digit:         digitNames[d : d+1],
			Count:         t.digit(d),
			Share:         share(t.digit(d), s.total*t.digits),
			ExpectedShare: 0.1,
			ByPosition:    byPosition,
		}
	}
	slices.SortStableFunc(stats, func(a, b DigitStat) int { return cmp.Compare(b.Count, a.Count) })
	return stats
}

const digitNames = "0123456789"

// overdueDigits looks back from the newest draw until it has seen every digit that there is.
func overdueDigits(t *tally, s *selection) []OverdueDigit {
	var since [10]int
	stats := make([]OverdueDigit, 10)
	missing := 0
	for d := range stats {
		stats[d].Digit = digitNames[d : d+1]
		since[d] = math.MaxInt // none has it
		if t.digit(d) > 0 {
			missing++
		}
	}
	at := s.high
	for ago := 0; missing > 0; ago++ {
		at = s.previous(at)
		last := s.game.draws[at]
		number := last.number()
		for range t.digits {
			if d := number % 10; since[d] == math.MaxInt {
				date := last.slot().date()
				since[d] = ago
				stats[d].DrawsSince, stats[d].LastDate = &since[d], &date
				missing--
			}
			number /= 10
		}
	}
	slices.SortStableFunc(stats, func(a, b OverdueDigit) int {
		return cmp.Compare(since[b.Digit[0]-'0'], since[a.Digit[0]-'0'])
	})
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

// padded is number with its leading zeros.
func padded(number uint64, digits int) string {
	var text [models.MaxDigits]byte
	for i := digits - 1; i >= 0; i-- {
		text[i] = byte('0' + number%10)
		number /= 10
	}
	return string(text[:digits])
}
