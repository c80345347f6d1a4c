package catalog_test

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"lottery/models"
	"lottery/models/catalog"
)

// naiveStats computes the statistics of SPEC 2.1 for one game, draw by draw.
func naiveStats(g *catalog.Game, rows []row, from, to models.Date, tod models.Tod) *catalog.Stats {
	q := question{kind: "draws", games: []string{g.ID}, tod: tod, from: from, to: to, ascending: true}
	draws := q.naive(rows).rows
	n := len(draws)
	s := &catalog.Stats{Game: g.ID, GameName: g.Name, GameType: g.Type, TotalDraws: n}
	if n > 0 {
		s.DateRange = catalog.DateRange{First: &draws[0].date, Last: &draws[n-1].date}
	}
	part := func(count, of int) float64 {
		if of == 0 {
			return 0
		}
		return float64(count) / float64(of)
	}
	all := math.Pow10(g.Digits)

	s.TopSums = []catalog.SumStat{}
	for _, e := range mostFrequent(draws, func(r row) string { return strconv.Itoa(models.DigitsSum(r.number)) }) {
		sum, _ := strconv.Atoi(e.key)
		s.TopSums = append(s.TopSums, catalog.SumStat{Sum: sum, Count: e.count, Share: part(e.count, n), ExpectedShare: float64(numbersOfSum(g.Digits, sum)) / all})
	}
	s.HotNumbers = []catalog.NumberStat{}
	for _, e := range mostFrequent(draws, func(r row) string { return r.number }) {
		s.HotNumbers = append(s.HotNumbers, catalog.NumberStat{Number: e.key, Count: e.count, Share: part(e.count, n), ExpectedShare: 1 / all, LastDate: e.last})
	}
	s.HotBoxes = []catalog.BoxStat{}
	for _, e := range mostFrequent(draws, func(r row) string { return models.Normalized(r.number) }) {
		s.HotBoxes = append(s.HotBoxes, catalog.BoxStat{Normalized: e.key, Count: e.count, Share: part(e.count, n), ExpectedShare: float64(ordersOf(e.key)) / all, LastDate: e.last})
	}
	for digit := range 10 {
		d := strconv.Itoa(digit)
		hot := catalog.DigitStat{Digit: d, ExpectedShare: 0.1, ByPosition: make([]int, g.Digits)}
		overdue := catalog.OverdueDigit{Digit: d}
		for i, r := range draws {
			for place := range g.Digits {
				if r.number[place:place+1] == d {
					hot.Count++
					hot.ByPosition[place]++
					since := n - 1 - i
					overdue.DrawsSince, overdue.LastDate = &since, &draws[i].date
				}
			}
		}
		hot.Share = part(hot.Count, n*g.Digits)
		s.HotDigits, s.OverdueDigits = append(s.HotDigits, hot), append(s.OverdueDigits, overdue)
	}
	slices.SortStableFunc(s.HotDigits, func(a, b catalog.DigitStat) int { return b.Count - a.Count })
	ago := func(o catalog.OverdueDigit) int {
		if o.DrawsSince == nil {
			return math.MaxInt
		}
		return *o.DrawsSince
	}
	slices.SortStableFunc(s.OverdueDigits, func(a, b catalog.OverdueDigit) int { return cmp.Compare(ago(b), ago(a)) })
	return s
}

type frequency struct {
	key   string
	count int
	last  models.Date
}

// mostFrequent returns the ten most frequent keys, ties by the smaller key as a number.
func mostFrequent(draws []row, key func(row) string) []frequency {
	byKey := map[string]*frequency{}
	var list []*frequency
	for _, r := range draws {
		k := key(r)
		if byKey[k] == nil {
			byKey[k] = &frequency{key: k, last: r.date}
			list = append(list, byKey[k])
		}
		byKey[k].count++
		byKey[k].last = max(byKey[k].last, r.date)
	}
	slices.SortFunc(list, func(a, b *frequency) int {
		return cmp.Or(b.count-a.count, len(a.key)-len(b.key), strings.Compare(a.key, b.key))
	})
	var top []frequency
	for _, f := range list[:min(10, len(list))] {
		top = append(top, *f)
	}
	return top
}

// numbersOfSum is how many numbers have that sum, by inclusion–exclusion:
// Σ (-1)^k C(digits, k) C(sum - 10k + digits - 1, digits - 1).
func numbersOfSum(digits, sum int) (count int64) {
	sign := int64(1)
	for k := 0; 10*k <= sum; k++ {
		count += sign * choose(digits, k) * choose(sum-10*k+digits-1, digits-1)
		sign = -sign
	}
	return count
}

func choose(n, k int) int64 {
	if k < 0 || k > n {
		return 0
	}
	c := int64(1)
	for i := range int64(k) {
		c = c * (int64(n) - i) / (i + 1)
	}
	return c
}

// ordersOf is n! / ∏ multiplicities!.
func ordersOf(digits string) int64 {
	factorial := func(n int) (f int64) {
		f = 1
		for i := range n {
			f *= int64(i) + 1
		}
		return f
	}
	ways := factorial(len(digits))
	for d := range 10 {
		ways /= factorial(strings.Count(digits, strconv.Itoa(d)))
	}
	return ways
}

func compareStats(t tester, c *catalog.Catalog, rows []row, id string, from, to models.Date, tod models.Tod) {
	t.Helper()
	g, ok := c.Game(id)
	if !ok {
		return
	}
	stats := g.Stats(from, to, tod)
	got, err := json.Marshal(stats)
	stats.Release() // the next statistics reuse its memory
	if err != nil {
		t.Fatalf("%v", err)
	}
	want, err := json.Marshal(naiveStats(g, rows, from, to, tod))
	if err != nil {
		t.Fatalf("%v", err)
	}
	if string(got) != string(want) {
		t.Fatalf("%s %s to %s, tod %d:\ngot  %s\nwant %s", id, from, to, tod, got, want)
	}
}
