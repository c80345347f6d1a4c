package catalog_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// The draws of the golden tables, newest first like lists. Each has the letter that the tables use for it.
const goldenDraws = `
A bb-pick-3  2024-01-03 Night     1 112
B cc-pick-5  2024-01-03 Morning   1 00000
C aa-pick-3  2024-01-02 Evening   1 123
D cc-pick-5  2024-01-02 Evening   1 86691
E ee-pick-10 2024-01-02 Evening   1 9876543210
F dd-pick-1  2024-01-02 Day       1 5
G aa-pick-3  2024-01-01 Evening   2 070
H aa-pick-3  2024-01-01 Evening   1 700
I bb-pick-3  2024-01-01 Evening   1 070
J ee-pick-10 2024-01-01 Afternoon 1 0123456789
K aa-pick-3  2024-01-01 Midday    1 007
L bb-pick-3  2024-01-01 Midday    1 777
`

var goldenGames = []models.Game{
	game("ee-pick-10", 10), game("aa-pick-3", 3), game("bb-pick-3", 3),
	game("cc-pick-5", 5), game("dd-pick-1", 1), game("zz-without-draws", 4),
}

func goldenRows(t testing.TB) (rows []row, letters map[row]string) {
	letters = map[row]string{}
	for line := range strings.Lines(strings.TrimSpace(goldenDraws)) {
		var letter, day, tod string
		var r row
		if _, err := fmt.Sscan(line, &letter, &r.game, &day, &tod, &r.seq, &r.number); err != nil {
			t.Fatal(err)
		}
		r.date = date(t, day)
		r.tod, _ = models.ParseTod(tod)
		rows = append(rows, r)
		letters[r] = letter
	}
	return rows, letters
}

func goldenCatalog(t testing.TB) (*catalog.Catalog, []row, map[row]string) {
	rows, letters := goldenRows(t)
	return build(t, goldenGames, shuffled(rows, rand.New(rand.NewPCG(1, 2)))), rows, letters
}

func TestQueriesGolden(t *testing.T) {
	c, rows, letters := goldenCatalog(t)
	of := func(kind string, change func(*question)) question {
		q := everything()
		q.kind = kind
		change(&q)
		return q
	}
	list := func(change func(*question)) question { return of("draws", change) }
	sum := func(n int) question { return of("sum", func(q *question) { q.sum = n }) }
	pair := func(p catalog.PairPosition, first, second byte) question {
		return of("pair", func(q *question) { q.pair = catalog.Pair{Position: p, First: first, Second: second} })
	}
	search := func(number string) question { return of("search", func(q *question) { q.number = number }) }
	only := func(q question, games ...string) question { q.allGames, q.games = false, games; return q }
	asc := func(q question) question { q.ascending = true; return q }
	exactly := func(q question) question { q.exactOnly = true; return q }
	during := func(q question, from, to string) question { q.from, q.to = date(t, from), date(t, to); return q }
	at := func(q question, tod models.Tod) question { q.tod = tod; return q }
	all := func(*question) {}

	for name, test := range map[string]struct {
		ask        question
		want       string // letters in list order; lower case marks exact matches
		exact, box int
	}{
		"all":                          {ask: list(all), want: "ABCDEFGHIJKL"},
		"all, oldest first":            {ask: asc(list(all)), want: "LKJIHGFEDCBA"},
		"one game":                     {ask: only(list(all), "aa-pick-3"), want: "CGHK"},
		"one game, oldest first":       {ask: asc(only(list(all), "aa-pick-3")), want: "KHGC"},
		"two games":                    {ask: only(list(all), "bb-pick-3", "aa-pick-3"), want: "ACGHIKL"},
		"two games, oldest first":      {ask: asc(only(list(all), "bb-pick-3", "aa-pick-3")), want: "LKIHGCA"},
		"no games":                     {ask: only(list(all)), want: ""},
		"one game, one tod":            {ask: at(only(list(all), "aa-pick-3"), models.Evening), want: "CGH"},
		"one tod":                      {ask: at(list(all), models.Evening), want: "CDEGHI"},
		"one tod, oldest first":        {ask: asc(at(list(all), models.Evening)), want: "IHGEDC"},
		"a tod that a game lacks":      {ask: at(only(list(all), "aa-pick-3"), models.Night), want: ""},
		"a tod that does not exist":    {ask: at(list(all), 7), want: ""},
		"one date":                     {ask: during(list(all), "2024-01-01", "2024-01-01"), want: "GHIJKL"},
		"another date, oldest first":   {ask: asc(during(list(all), "2024-01-02", "2024-01-02")), want: "FEDC"},
		"from a date":                  {ask: during(list(all), "2024-01-02", "2100-12-31"), want: "ABCDEF"},
		"to a date":                    {ask: during(list(all), "1900-01-01", "2024-01-02"), want: "CDEFGHIJKL"},
		"before all":                   {ask: during(list(all), "1900-01-01", "2023-12-31"), want: ""},
		"after all":                    {ask: during(list(all), "2024-01-04", "2100-12-31"), want: ""},
		"from after to":                {ask: during(list(all), "2024-01-03", "2024-01-01"), want: ""},
		"sum 0":                        {ask: sum(0), want: "B"},
		"sum 4":                        {ask: sum(4), want: "A"},
		"sum 5, one digit":             {ask: sum(5), want: "F"},
		"sum 7":                        {ask: sum(7), want: "GHIK"},
		"sum 7, oldest first":          {ask: asc(sum(7)), want: "KIHG"},
		"sum 7, one tod, one game":     {ask: at(only(sum(7), "aa-pick-3"), models.Evening), want: "GH"},
		"sum 21":                       {ask: sum(21), want: "L"},
		"sum 30":                       {ask: sum(30), want: "D"},
		"sum 45":                       {ask: sum(45), want: "EJ"},
		"sum 45, one date":             {ask: during(sum(45), "2024-01-02", "2024-01-03"), want: "E"},
		"sum 90":                       {ask: sum(90), want: ""},
		"sum 91":                       {ask: sum(91), want: ""},
		"sum -1":                       {ask: sum(-1), want: ""},
		"pair 07 anywhere":             {ask: pair(catalog.PairAny, 0, 7), want: "EGHIJK"},
		"pair 70 anywhere":             {ask: pair(catalog.PairAny, 7, 0), want: "EGHIJK"},
		"pair 70 anywhere, last first": {ask: asc(pair(catalog.PairAny, 7, 0)), want: "KJIHGE"},
		"pair 07, one tod":             {ask: at(pair(catalog.PairAny, 0, 7), models.Midday), want: "K"},
		"pair 07, one date":            {ask: during(pair(catalog.PairAny, 0, 7), "2024-01-02", "2024-01-02"), want: "E"},
		"pair 00":                      {ask: pair(catalog.PairAny, 0, 0), want: "BGHIK"},
		"pair 77":                      {ask: pair(catalog.PairAny, 7, 7), want: "L"},
		"pair 66":                      {ask: pair(catalog.PairAny, 6, 6), want: "D"},
		"pair 96":                      {ask: pair(catalog.PairAny, 9, 6), want: "DEJ"},
		"pair 55, not of one digit":    {ask: pair(catalog.PairAny, 5, 5), want: ""},
		"front 07":                     {ask: pair(catalog.PairFront, 0, 7), want: "GI"},
		"front 70":                     {ask: pair(catalog.PairFront, 7, 0), want: "H"},
		"front 01":                     {ask: pair(catalog.PairFront, 0, 1), want: "J"},
		"front 86":                     {ask: pair(catalog.PairFront, 8, 6), want: "D"},
		"front 68":                     {ask: pair(catalog.PairFront, 6, 8), want: ""},
		"back 07":                      {ask: pair(catalog.PairBack, 0, 7), want: "K"},
		"back 70":                      {ask: pair(catalog.PairBack, 7, 0), want: "GI"},
		"back 00":                      {ask: pair(catalog.PairBack, 0, 0), want: "BH"},
		"back 10":                      {ask: pair(catalog.PairBack, 1, 0), want: "E"},
		"split 00":                     {ask: pair(catalog.PairSplit, 0, 0), want: "BGI"},
		"split 70":                     {ask: pair(catalog.PairSplit, 7, 0), want: "H"},
		"split 09":                     {ask: pair(catalog.PairSplit, 0, 9), want: "J"},
		"split 81":                     {ask: pair(catalog.PairSplit, 8, 1), want: "D"},
		"a pair of no digits":          {ask: pair(catalog.PairAny, 0, 10), want: ""},
		"a pair at no position":        {ask: pair(9, 0, 7), want: ""},
		"search 700":                   {ask: search("700"), want: "GhIK", exact: 1, box: 4},
		"search 700 exactly":           {ask: exactly(search("700")), want: "h", exact: 1, box: 4},
		"search 070":                   {ask: search("070"), want: "gHiK", exact: 2, box: 4},
		"search 070, oldest first":     {ask: asc(search("070")), want: "KiHg", exact: 2, box: 4},
		"search 070 exactly, a game":   {ask: exactly(only(search("070"), "bb-pick-3", "cc-pick-5")), want: "i", exact: 1, box: 1},
		"search 070, one tod":          {ask: at(search("070"), models.Midday), want: "K", exact: 0, box: 1},
		"search 070, no date":          {ask: during(search("070"), "2024-01-02", "2024-01-03"), want: ""},
		"search 777":                   {ask: search("777"), want: "l", exact: 1, box: 1},
		"search 5":                     {ask: search("5"), want: "f", exact: 1, box: 1},
		"search 4":                     {ask: search("4"), want: ""},
		"search 68961":                 {ask: search("68961"), want: "D", exact: 0, box: 1},
		"search 68961 exactly":         {ask: exactly(search("68961")), want: "", exact: 0, box: 1},
		"search 00000":                 {ask: search("00000"), want: "b", exact: 1, box: 1},
		"search 0123456789":            {ask: search("0123456789"), want: "Ej", exact: 1, box: 2},
		"search 0000000000":            {ask: search("0000000000"), want: ""},
		"search of too few digits":     {ask: search("07"), want: ""},
		"search of too many digits":    {ask: search("00000000000"), want: ""},
		"search of no digits":          {ask: search("7x0"), want: ""},
		"search of nothing":            {ask: search(""), want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := test.ask.ask(c, nil, 0, nil)
			var list strings.Builder
			for i, r := range got.rows {
				letter := letters[r]
				if got.exact[i] {
					letter = strings.ToLower(letter)
				}
				list.WriteString(letter)
			}
			if list.String() != test.want || got.total != len(test.want) || got.more {
				t.Errorf("got %s, total %d, more %v; want %s", list.String(), got.total, got.more, test.want)
			}
			if got.exactTotal != test.exact || got.boxTotal != test.box {
				t.Errorf("got %d exact, %d box; want %d, %d", got.exactTotal, got.boxTotal, test.exact, test.box)
			}
			resume(t, c, rows, test.ask, got)
		})
	}
}

// resume cuts the list at every place and continues after it, with every limit; it also continues after every draw of
// the catalog, listed or not.
func resume(t *testing.T, c *catalog.Catalog, rows []row, q question, whole answer) {
	for i, r := range whole.rows {
		p := r.position()
		for limit := range len(whole.rows) + 1 {
			end := len(whole.rows)
			if limit > 0 {
				end = min(end, i+1+limit)
			}
			got, _ := q.ask(c, &p, limit, nil)
			if !slices.Equal(got.rows, whole.rows[i+1:end]) || got.more != (end < len(whole.rows)) || got.total != whole.total {
				t.Errorf("after %v, limit %d: got %v, total %d, more %v", r, limit, got.rows, got.total, got.more)
			}
		}
	}
	var positions []catalog.Position
	for _, r := range rows {
		for _, id := range []string{"", "aa-pick-2", r.game, r.game + "-x", "zz"} {
			for seq := range 4 {
				positions = append(positions, catalog.Position{Date: r.date, Tod: r.tod, GameID: id, Sequence: seq})
			}
		}
		positions = append(positions,
			catalog.Position{Date: r.date, Tod: 200, GameID: r.game, Sequence: 1},
			catalog.Position{Date: r.date, Tod: r.tod, GameID: r.game, Sequence: -300},
			catalog.Position{Date: r.date, Tod: r.tod, GameID: r.game, Sequence: math.MaxInt},
			catalog.Position{Date: r.date - 1, Tod: models.Night, GameID: r.game, Sequence: 1},
			catalog.Position{Date: models.FirstDate - 100_000, Tod: 200, GameID: r.game, Sequence: -1},
			catalog.Position{Date: models.LastDate + 100_000, Tod: 0, GameID: r.game, Sequence: 1000})
	}
	limit := 0
	compare(t, c, rows, q, func() int { limit = limit%5 + 1; return limit }, positions)
}

func TestPageAppends(t *testing.T) {
	c, _, _ := goldenCatalog(t)
	q := catalog.Query{From: models.FirstDate, To: models.LastDate, Limit: 2}
	first := c.Draws(q, nil)
	both := c.Draws(q, first.Refs)
	if len(both.Refs) != 4 || both.Refs[0] != first.Refs[0] || both.Refs[2] != first.Refs[0] || !both.More || both.Total != 12 {
		t.Errorf("got %d refs, total %d, more %v", len(both.Refs), both.Total, both.More)
	}
	if all := c.Draws(catalog.Query{From: models.FirstDate, To: models.LastDate, Limit: 12}, nil); all.More {
		t.Error("a list of just the limit is not cut")
	}
}
