package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

func TestCatalogGolden(t *testing.T) {
	c, _, letters := goldenCatalog(t)
	if c.Version().Token != "one" || c.TotalDraws() != 12 {
		t.Errorf("version %v, %d draws", c.Version(), c.TotalDraws())
	}
	first, last, ok := c.Range()
	if !ok || first != date(t, "2024-01-01") || last != date(t, "2024-01-03") {
		t.Errorf("range %s %s %v", first, last, ok)
	}
	if got := strings.Join(c.Types(), " "); got != "pick1 pick3 pick5 pick10" {
		t.Errorf("types %s", got)
	}
	ids := func(games []*catalog.Game) string {
		var list []string
		for _, g := range games {
			list = append(list, g.ID)
		}
		return strings.Join(list, " ")
	}
	if got := ids(c.Games()); got != "aa-pick-3 bb-pick-3 cc-pick-5 dd-pick-1 ee-pick-10" {
		t.Errorf("games %s", got)
	}
	if got := ids(c.OfType("pick3")); got != "aa-pick-3 bb-pick-3" {
		t.Errorf("pick3 games %s", got)
	}
	if got := ids(c.OfType("pick5")); got != "cc-pick-5" {
		t.Errorf("pick5 games %s", got)
	}
	if c.OfType("pick4") != nil {
		t.Error("there is no pick4 game with draws")
	}
	if _, ok := c.Game("zz-without-draws"); ok {
		t.Error("a game without draws is listed")
	}
	g, ok := c.Game("aa-pick-3")
	if !ok || g.Name != "Name of aa-pick-3" || g.Type != "pick3" || g.Jurisdiction != "XX" || g.Digits != 3 || g.Len() != 4 ||
		g.Tods() != models.NewTodSet(models.Midday, models.Evening) || g.First() != date(t, "2024-01-01") || g.Last() != date(t, "2024-01-02") {
		t.Errorf("got %s %s %s %d digits, %d draws, %s, %s to %s", g.Name, g.Type, g.Jurisdiction, g.Digits, g.Len(), g.Tods(), g.First(), g.Last())
	}
	var latest string
	for _, r := range g.Latest() {
		latest += letters[rowOf(r)]
	}
	if latest != "CK" {
		t.Errorf("latest draws %s, want CK", latest)
	}
}

func TestEmptyCatalog(t *testing.T) {
	c := build(t, goldenGames, nil)
	_, _, ok := c.Range()
	page := c.Draws(catalog.Query{From: models.FirstDate, To: models.LastDate}, nil)
	if ok || len(c.Games()) != 0 || c.TotalDraws() != 0 || len(c.Types()) != 0 || len(page.Refs) != 0 || page.Total != 0 || page.More {
		t.Error("a catalog without draws holds something")
	}
}

func TestBuilderRefuses(t *testing.T) {
	day := date(t, "2024-01-01")
	for name, add := range map[string]func(*catalog.GameBuilder) error{
		"too few digits":  func(g *catalog.GameBuilder) error { return g.Add(day, models.Day, 1, []byte("12")) },
		"too many digits": func(g *catalog.GameBuilder) error { return g.Add(day, models.Day, 1, []byte("1234")) },
		"no digits":       func(g *catalog.GameBuilder) error { return g.Add(day, models.Day, 1, []byte("1-2")) },
		"next to digits":  func(g *catalog.GameBuilder) error { return g.Add(day, models.Day, 1, []byte("12:")) },
		"nothing":         func(g *catalog.GameBuilder) error { return g.Add(day, models.Day, 1, nil) },
		"date too early":  func(g *catalog.GameBuilder) error { return g.Add(models.FirstDate-1, models.Day, 1, []byte("123")) },
		"date too late":   func(g *catalog.GameBuilder) error { return g.Add(models.LastDate+1, models.Day, 1, []byte("123")) },
		"no tod":          func(g *catalog.GameBuilder) error { return g.Add(day, 0, 1, []byte("123")) },
		"unknown tod":     func(g *catalog.GameBuilder) error { return g.Add(day, 7, 1, []byte("123")) },
		"sequence 0":      func(g *catalog.GameBuilder) error { return g.Add(day, models.Day, 0, []byte("123")) },
		"sequence 100":    func(g *catalog.GameBuilder) error { return g.Add(day, models.Day, 100, []byte("123")) },
	} {
		b := catalog.NewBuilder(models.DataVersion{})
		g := b.Game(game("aa", 3))
		if err := add(g); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%s: got %v", name, err)
		}
		if err := g.Add(models.LastDate, models.Night, models.MaxSequence, []byte("999")); err != nil {
			t.Errorf("the greatest draw: %v", err)
		}
		if err := g.Add(models.FirstDate, models.Morning, 1, []byte("000")); err != nil {
			t.Errorf("the least draw: %v", err)
		}
		if c, err := b.Build(); err != nil || c.TotalDraws() != 2 {
			t.Errorf("%s: what was refused is in the catalog: %v", name, err)
		}
	}
}

func TestBuilderRefusesTwoDrawsInOneSlot(t *testing.T) {
	day := date(t, "2024-01-01")
	b := catalog.NewBuilder(models.DataVersion{})
	b.Game(game("bb", 1)).Add(day, models.Day, 1, []byte("1"))
	for _, number := range []string{"123", "124"} {
		if err := b.Game(game("aa", 3)).Add(day, models.Day, 2, []byte(number)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.Build()
	if models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "aa has two draws for 2024-01-01 Day, sequence 2") {
		t.Errorf("got %v", err)
	}
}

func TestMissingDays(t *testing.T) {
	day := func(s string) *models.Date { d := date(t, s); return &d }
	for name, test := range map[string]struct {
		days  models.DrawDays
		tods  models.TodSet
		draws []string
		want  int
	}{
		"every day":             {draws: []string{"2024-01-01", "2024-01-02", "2024-01-03"}},
		"one draw":              {draws: []string{"2024-01-01"}},
		"a gap of two":          {draws: []string{"2024-01-01", "2024-01-04", "2024-01-05"}, want: 2},
		"no Sundays":            {days: models.DrawDays{{Days: []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}}}, draws: []string{"2024-01-05", "2024-01-09"}, want: 2},
		"not at Christmas":      {days: models.DrawDays{{Except: []string{"12-25", "02-29"}}}, draws: []string{"2023-12-24", "2023-12-26", "2023-12-28"}, want: 1},
		"a period, then not":    {days: models.DrawDays{{To: day("2024-01-02")}, {From: day("2024-01-05")}}, draws: []string{"2024-01-01", "2024-01-06"}, want: 2},
		"a tod that it lacks":   {days: models.DrawDays{{Tods: []string{"Night"}}}, tods: models.NewTodSet(models.Day), draws: []string{"2024-01-01", "2024-01-03"}},
		"a tod that it has":     {days: models.DrawDays{{Tods: []string{"Day"}}}, tods: models.NewTodSet(models.Day), draws: []string{"2024-01-01", "2024-01-03"}, want: 1},
		"a tod that it had":     {days: models.DrawDays{{Tods: []string{"Day"}}}, tods: models.NewTodSet(models.Night), draws: []string{"2024-01-01", "2024-01-03"}, want: 1},
		"a tod never drawn":     {days: models.DrawDays{{Tods: []string{"Night"}}}, tods: models.NewTodSet(models.Day, models.Night), draws: []string{"2024-01-01", "2024-01-03"}, want: 1},
		"one day of a period":   {days: models.DrawDays{{From: day("2024-01-02"), To: day("2024-01-02")}}, draws: []string{"2024-01-01", "2024-01-04"}, want: 1},
		"one tod, then two":     {days: models.DrawDays{{Tods: []string{"Day"}, To: day("2024-01-02")}, {Tods: []string{"Night"}, From: day("2024-01-05")}}, draws: []string{"2024-01-01", "2024-01-06"}, want: 2},
		"two centuries of gaps": {draws: []string{"1900-01-01", "2100-12-31"}, want: 73412},
	} {
		g := game("aa", 3)
		g.DrawDays = test.days
		if test.tods != 0 {
			g.Tods = test.tods
		}
		var rows []row
		for _, s := range test.draws {
			rows = append(rows, row{"aa", date(t, s), models.Day, 1, "123"}, row{"aa", date(t, s), models.Day, 2, "123"})
		}
		built, _ := build(t, []models.Game{g}, rows).Game("aa")
		if built.MissingDays() != test.want {
			t.Errorf("%s: got %d, want %d", name, built.MissingDays(), test.want)
		}
	}
}

// A cursor walk over catalogs that grow meanwhile returns each draw of the first one exactly once.
func TestCursorOutlivesItsCatalog(t *testing.T) {
	games := []models.Game{game("aa", 3), game("bb", 3), game("cc", 2)}
	var rows []row
	for d := range models.Date(60) {
		for _, g := range games {
			for seq := 1; seq <= 2; seq++ {
				number := fmt.Sprintf("%0*d", g.Digits, (int(d)*7+seq*31)%97)
				rows = append(rows,
					row{g.ID, date(t, "2024-01-01") + d, models.Day, seq, number},
					row{g.ID, date(t, "2024-01-01") + d, models.Night, seq, number})
			}
		}
	}
	const growth = 12
	held := func(step int) (part []row) { // every step adds draws all over the calendar, and a game
		for i, r := range rows {
			if i%growth <= step && (r.game != "aa" || step > 3) {
				part = append(part, r)
			}
		}
		return part
	}
	for _, ascending := range []bool{false, true} {
		q := everything()
		q.ascending = ascending
		var live catalog.Live
		if live.Load() != nil {
			t.Fatal("a new Live holds a catalog")
		}
		live.Swap(build(t, games, held(0)))
		seen := map[row]int{}
		var after *catalog.Position
		for step := 1; ; step++ {
			got, refs := q.ask(live.Load(), after, 7, nil)
			for _, r := range got.rows {
				seen[r]++
			}
			if !got.more {
				break
			}
			p := refs[len(refs)-1].Position()
			after = &p
			old := live.Load()
			if live.Swap(build(t, games, held(min(step, growth)))) != old {
				t.Fatal("Swap gave back another catalog")
			}
		}
		for _, r := range held(0) {
			if seen[r] != 1 {
				t.Errorf("ascending %v: %v was listed %d times", ascending, r, seen[r])
			}
		}
		for r, times := range seen {
			if times != 1 {
				t.Errorf("ascending %v: %v was listed %d times", ascending, r, times)
			}
		}
	}
}

// Concurrent readers of every kind while the catalog is swapped; -race does the checking.
func TestConcurrentReaders(t *testing.T) {
	c, rows, _ := goldenCatalog(t)
	var live catalog.Live
	live.Swap(c)
	var readers sync.WaitGroup
	for reader := range 4 {
		readers.Go(func() {
			var dst []catalog.Ref
			for range 50 {
				c := live.Load()
				q := catalog.Query{From: models.FirstDate, To: models.LastDate, Ascending: reader%2 == 0}
				dst = c.Draws(q, dst[:0]).Refs
				dst = c.BySum(q, 7, dst[:0]).Refs
				dst = c.ByPair(q, catalog.Pair{First: 0, Second: 7}, dst[:0]).Refs
				dst = c.Search(q, "070", false, dst[:0]).Refs
				for _, g := range c.Games() {
					g.Stats(models.FirstDate, models.LastDate, models.Tod(reader)).Release()
					g.Stats(g.Last(), g.Last(), 0).Release()
				}
				if reader == 0 {
					live.Swap(build(t, goldenGames, slices.Clone(rows)))
				}
			}
		})
	}
	readers.Wait()
}

// As many games of the same number of digits as an index of a byte can tell apart, one more, and only a few: for all
// times of day and for one, in all games and in some.
func TestSearchInManyGames(t *testing.T) {
	for _, count := range []int{3, 255, 256, 257} {
		var games []models.Game
		var rows []row
		for i := range count {
			g := game(fmt.Sprintf("many-%03d", i), 3)
			games = append(games, g)
			for seq, number := range []string{"123", "321", "124"} {
				rows = append(rows, row{g.ID, date(t, "2024-01-01") + models.Date(i%3), models.Evening, 1 + seq, number},
					row{g.ID, date(t, "2024-01-01") + models.Date(i%2), models.Morning, 1 + seq, number})
			}
		}
		c := build(t, games, rows)
		for _, exactOnly := range []bool{false, true} {
			q := everything()
			q.kind, q.number, q.exactOnly = "search", "213", exactOnly
			compare(t, c, rows, q, func() int { return 100 }, nil)
			q.number, q.ascending = "321", true
			positions := []catalog.Position{rows[0].position(), rows[len(rows)-1].position()}
			compare(t, c, rows, q, func() int { return 100 }, positions)
			q.tod = models.Evening
			compare(t, c, rows, q, func() int { return 100 }, positions)
			q.tod, q.allGames, q.games = 0, false, []string{games[0].ID, games[2].ID}
			compare(t, c, rows, q, func() int { return 2 }, positions)
		}
	}
}

// Draws on the first and last possible dates, and next to them, are found by ranges and cursors that begin, end or lie
// on these dates or beyond.
func TestFirstAndLastDates(t *testing.T) {
	games := []models.Game{game("aa", 3), game("bb", 3)}
	var rows []row
	var positions []catalog.Position
	dates := []models.Date{models.FirstDate, models.FirstDate + 1, models.LastDate - 1, models.LastDate}
	for _, day := range dates {
		for _, g := range games {
			for seq, tod := range []models.Tod{models.Morning, models.Night, models.Night} {
				rows = append(rows, row{g.ID, day, tod, max(seq, 1), "123"})
				positions = append(positions, rows[len(rows)-1].position())
			}
		}
	}
	for _, day := range []models.Date{models.FirstDate - 1, models.LastDate + 1} {
		positions = append(positions, catalog.Position{Date: day, Tod: models.Night, GameID: "aa", Sequence: 1})
	}
	c := build(t, games, rows)
	for _, from := range dates {
		for _, to := range dates {
			for _, kind := range []string{"draws", "search", "sum"} {
				q := everything()
				q.kind, q.number, q.sum, q.from, q.to = kind, "321", 6, from, to
				compare(t, c, rows, q, func() int { return 2 }, positions)
				q.ascending, q.tod = true, models.Night
				compare(t, c, rows, q, func() int { return 2 }, positions)
			}
			compareStats(t, c, rows, "bb", from, to, models.Night)
		}
	}
}
