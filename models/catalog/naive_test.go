package catalog_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// The naive catalog: draws in a slice, and every question answered by scanning all of them. It shares only the
// vocabulary with the package, and the index is compared with it.

type row struct {
	game   string
	date   models.Date
	tod    models.Tod
	seq    int
	number string
}

func (r row) String() string {
	return fmt.Sprintf("%s %s %s/%d %s", r.game, r.date, r.tod, r.seq, r.number)
}

func (r row) position() catalog.Position {
	return catalog.Position{Date: r.date, Tod: r.tod, GameID: r.game, Sequence: r.seq}
}

// newestFirst is the order of lists; negative if a comes before b.
func newestFirst(a, b catalog.Position) int {
	return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(b.Tod, a.Tod),
		cmp.Compare(a.GameID, b.GameID), cmp.Compare(b.Sequence, a.Sequence))
}

// question is a query in terms that both implementations understand.
type question struct {
	kind      string // draws, sum, pair, search
	games     []string
	allGames  bool
	tod       models.Tod
	from, to  models.Date
	ascending bool
	sum       int
	pair      catalog.Pair
	number    string
	exactOnly bool
}

// everything is the question for all draws.
func everything() question {
	return question{kind: "draws", allGames: true, from: models.FirstDate, to: models.LastDate}
}

type answer struct {
	rows       []row
	exact      []bool
	total      int
	exactTotal int
	boxTotal   int
	more       bool
}

// naive returns the whole answer to q, by scanning every draw.
func (q question) naive(rows []row) answer {
	var a answer
	var listed []row
	for _, r := range rows {
		if (!q.allGames && !slices.Contains(q.games, r.game)) || (q.tod != 0 && r.tod != q.tod) || r.date < q.from || r.date > q.to {
			continue
		}
		switch q.kind {
		case "sum":
			if models.DigitsSum(r.number) != q.sum {
				continue
			}
		case "pair":
			if !hasPair(r.number, q.pair) {
				continue
			}
		case "search":
			if models.Normalized(r.number) != models.Normalized(q.number) {
				continue
			}
			a.boxTotal++
			if r.number == q.number {
				a.exactTotal++
			} else if q.exactOnly {
				continue
			}
		}
		listed = append(listed, r)
	}
	slices.SortFunc(listed, func(a, b row) int { return newestFirst(a.position(), b.position()) })
	if q.ascending {
		slices.Reverse(listed)
	}
	a.rows, a.total = listed, len(listed)
	for _, r := range listed {
		a.exact = append(a.exact, q.kind == "search" && r.number == q.number)
	}
	return a
}

func hasPair(number string, p catalog.Pair) bool {
	first, second := string('0'+rune(p.First)), string('0'+rune(p.Second))
	n := len(number)
	if n < 2 {
		return false
	}
	switch p.Position {
	case catalog.PairAny:
		return slices.Contains(models.Pairs2DP(number), min(first, second)+max(first, second))
	case catalog.PairFront:
		return number[:2] == first+second
	case catalog.PairBack:
		return number[n-2:] == first+second
	case catalog.PairSplit:
		return number[:1]+number[n-1:] == first+second
	default:
		return false
	}
}

// after reduces a whole answer to what comes after p, and then to limit draws (0 = no limit).
func (q question) after(whole answer, p *catalog.Position, limit int) answer {
	cut := whole
	cut.rows, cut.exact = nil, nil
	for i, r := range whole.rows {
		if p != nil {
			order := newestFirst(*p, r.position())
			if q.ascending {
				order = -order
			}
			if order >= 0 {
				continue
			}
		}
		if limit > 0 && len(cut.rows) == limit {
			cut.more = true
			break
		}
		cut.rows, cut.exact = append(cut.rows, r), append(cut.exact, whole.exact[i])
	}
	return cut
}

// ask puts the question to the catalog.
func (q question) ask(c *catalog.Catalog, p *catalog.Position, limit int, dst []catalog.Ref) (answer, []catalog.Ref) {
	query := catalog.Query{Tod: q.tod, From: q.from, To: q.to, Ascending: q.ascending, After: p, Limit: limit}
	if !q.allGames {
		query.Games = []*catalog.Game{}
		for _, id := range q.games {
			if g, ok := c.Game(id); ok {
				query.Games = append(query.Games, g)
			}
		}
	}
	var found catalog.SearchPage
	switch q.kind {
	case "draws":
		found.Page = c.Draws(query, dst)
	case "sum":
		found.Page = c.BySum(query, q.sum, dst)
	case "pair":
		found.Page = c.ByPair(query, q.pair, dst)
	case "search":
		found = c.Search(query, q.number, q.exactOnly, dst)
	}
	a := answer{total: found.Total, exactTotal: found.ExactTotal, boxTotal: found.BoxTotal, more: found.More}
	for _, r := range found.Refs[len(dst):] {
		a.rows, a.exact = append(a.rows, rowOf(r)), append(a.exact, r.Exact())
	}
	return a, found.Refs
}

func rowOf(r catalog.Ref) row {
	return row{r.Game().ID, r.Date(), r.Tod(), r.Sequence(), fmt.Sprintf("%0*d", r.Game().Digits, r.Number())}
}

// tester is *testing.T, *testing.B or *rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func mustEqual(t tester, q question, got, want answer) {
	t.Helper()
	if !slices.Equal(got.rows, want.rows) || !slices.Equal(got.exact, want.exact) {
		t.Fatalf("%+v:\ngot  %v %v\nwant %v %v", q, got.rows, got.exact, want.rows, want.exact)
	}
	got.rows, got.exact, want.rows, want.exact = nil, nil, nil, nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%+v: got %+v, want %+v", q, got, want)
	}
}

// compare asks q as a whole, then page by page with sizes from pick, then after each of the given positions.
func compare(t tester, c *catalog.Catalog, rows []row, q question, pick func() int, positions []catalog.Position) {
	t.Helper()
	whole := q.naive(rows)
	got, _ := q.ask(c, nil, 0, nil)
	mustEqual(t, q, got, whole)

	var walked []row
	var after *catalog.Position
	var dst []catalog.Ref
	for {
		limit := pick()
		before := len(dst)
		got, dst = q.ask(c, after, limit, dst)
		mustEqual(t, q, got, q.after(whole, after, limit))
		walked = append(walked, got.rows...)
		if !got.more {
			break
		}
		if len(dst) == before {
			t.Fatalf("%+v: a page cut short is empty", q)
		}
		p := dst[len(dst)-1].Position()
		after = &p
	}
	if !slices.Equal(walked, whole.rows) {
		t.Fatalf("%+v: walked %v, want %v", q, walked, whole.rows)
	}
	for _, p := range positions {
		limit := pick()
		got, _ = q.ask(c, &p, limit, nil)
		mustEqual(t, q, got, q.after(whole, &p, limit))
	}
}

// build makes a catalog of rows, in any order.
func build(t tester, games []models.Game, rows []row) *catalog.Catalog {
	t.Helper()
	b := catalog.NewBuilder(models.DataVersion{Number: 1, Token: "one"})
	byID := map[string]models.Game{}
	for _, g := range games {
		byID[g.ID] = g
		b.Game(g)
	}
	for _, r := range rows {
		if err := b.Game(byID[r.game]).Add(r.date, r.tod, r.seq, []byte(r.number)); err != nil {
			t.Fatalf("%v: %v", r, err)
		}
	}
	c, err := b.Build()
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return c
}

func game(id string, digits int) models.Game {
	return models.Game{ID: id, Name: "Name of " + id, Digits: digits, Jurisdiction: "XX", Timezone: "America/New_York",
		Tods: models.NewTodSet(models.Morning, models.Midday, models.Day, models.Afternoon, models.Evening, models.Night)}
}

func date(t testing.TB, s string) models.Date {
	t.Helper()
	d, err := models.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func shuffled(rows []row, rng *rand.Rand) []row {
	mixed := slices.Clone(rows)
	rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed
}
