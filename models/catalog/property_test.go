package catalog_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lottery/models"
	"lottery/models/catalog"
)

// world is random games and draws: dense or sparse calendars, many or few different digits, some games big enough for
// stored counts and skipped blocks.
type world struct {
	games []models.Game
	rows  []row
	first models.Date
	days  int
	// digits is what numbers are made of; the fewer, the more matches.
	digits string
}

func genWorld(t *rapid.T) world {
	w := world{
		first:  models.FirstDate + models.Date(rapid.IntRange(0, 60_000).Draw(t, "first")),
		days:   rapid.SampledFrom([]int{1, 3, 40, 400, 4000}).Draw(t, "days"),
		digits: rapid.SampledFrom([]string{"0123456789", "0123456789", "017", "99999999999999999998", "5"}).Draw(t, "digits"),
	}
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for i := range rapid.IntRange(1, 5).Draw(t, "games") {
		g := game(fmt.Sprintf("%c-game", 'a'+rng.IntN(4)*5+i), rapid.SampledFrom([]int{1, 2, 3, 3, 4, 4, 5, 6, 9, 10}).Draw(t, "width"))
		w.games = append(w.games, g)
		tods := 1 + rng.IntN(models.TodCount)
		taken := map[row]bool{}
		for range rapid.SampledFrom([]int{0, 1, 5, 50, 50, 200, 200, 2000}).Draw(t, "draws") {
			r := row{game: g.ID, date: w.first + models.Date(rng.IntN(w.days)), tod: models.Tod(1 + (rng.IntN(tods)*5+i)%models.TodCount), seq: 1}
			for taken[r] && r.seq < models.MaxSequence {
				r.seq++
			}
			if taken[r] {
				continue
			}
			taken[r] = true
			r.number = w.number(rng, g.Digits)
			w.rows = append(w.rows, r)
		}
	}
	if rapid.Bool().Draw(t, "shuffle") {
		w.rows = shuffled(w.rows, rng)
	}
	return w
}

func (w world) number(rng *rand.Rand, digits int) string {
	number := make([]byte, digits)
	for i := range number {
		number[i] = w.digits[rng.IntN(len(w.digits))]
	}
	return string(number)
}

// randomQuestion asks about these games and dates, and mostly about a number that was drawn.
func (w world) randomQuestion(rng *rand.Rand) question {
	q := everything()
	q.kind = []string{"draws", "sum", "pair", "pair", "search", "search"}[rng.IntN(6)]
	if rng.IntN(2) == 0 {
		q.allGames = false
		for _, i := range rng.Perm(len(w.games))[:rng.IntN(len(w.games)+1)] {
			q.games = append(q.games, w.games[i].ID)
		}
	}
	q.tod = models.Tod(max(0, rng.IntN(2*models.TodCount+1)-models.TodCount))
	if rng.IntN(2) == 0 {
		q.from = w.first + models.Date(rng.IntN(w.days+2)-1)
	}
	if rng.IntN(2) == 0 {
		q.to = w.first + models.Date(rng.IntN(w.days+2)-1)
	}
	q.ascending = rng.IntN(2) == 0
	model := row{number: w.number(rng, 1+rng.IntN(models.MaxDigits))}
	if len(w.rows) > 0 && rng.IntN(4) > 0 {
		model = w.rows[rng.IntN(len(w.rows))] // so that there is something to find
	}
	digits := []byte(model.number)
	rng.Shuffle(len(digits), func(i, j int) {
		if rng.IntN(2) == 0 {
			digits[i], digits[j] = digits[j], digits[i]
		}
	})
	q.number, q.exactOnly = string(digits), rng.IntN(2) == 0
	q.sum = models.DigitsSum(q.number)
	q.pair = catalog.Pair{Position: catalog.PairPosition(rng.IntN(4)), First: digits[0] - '0', Second: digits[len(digits)-1] - '0'}
	return q
}

// position is that of a draw, or one near a draw, of another game, or of a game that does not exist.
func (w world) position(rng *rand.Rand) catalog.Position {
	p := catalog.Position{Date: w.first + models.Date(rng.IntN(w.days+2)-1), Tod: models.Tod(1 + rng.IntN(models.TodCount)), GameID: "c-gone", Sequence: 1 + rng.IntN(3)}
	if len(w.rows) > 0 && rng.IntN(3) > 0 {
		p = w.rows[rng.IntN(len(w.rows))].position()
	}
	switch rng.IntN(4) {
	case 0:
		p.GameID = w.games[rng.IntN(len(w.games))].ID
	case 1:
		p.Sequence += rng.IntN(3) - 1
	}
	return p
}

func TestQueriesAgainstNaiveScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		c := build(t, w.games, w.rows)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "questions"), 0))
		for range 6 {
			q := w.randomQuestion(rng)
			size := 1 + rng.IntN(1+len(w.rows)/4)
			positions := []catalog.Position{w.position(rng), w.position(rng), w.position(rng)}
			compare(t, c, w.rows, q, func() int { return size + rng.IntN(10) }, positions)
		}
	})
}

func TestStatsAgainstNaiveCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		c := build(t, w.games, w.rows)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "questions"), 0))
		for range 6 {
			q := w.randomQuestion(rng)
			compareStats(t, c, w.rows, w.games[rng.IntN(len(w.games))].ID, q.from, q.to, q.tod)
		}
	})
}

// Facts about the catalog and its games match the draws.
func TestCatalogAgainstDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		c := build(t, w.games, w.rows)
		if c.TotalDraws() != len(w.rows) {
			t.Fatalf("%d draws, want %d", c.TotalDraws(), len(w.rows))
		}
		byDate := func(a, b row) int { return cmp.Compare(a.date, b.date) }
		if first, last, ok := c.Range(); ok != (len(w.rows) > 0) ||
			ok && (first != slices.MinFunc(w.rows, byDate).date || last != slices.MaxFunc(w.rows, byDate).date) {
			t.Fatalf("dates of %v", w.rows)
		}
		for _, g := range c.Games() {
			q := everything()
			q.allGames, q.games = false, []string{g.ID}
			draws := q.naive(w.rows).rows
			dates := map[models.Date]bool{}
			var tods models.TodSet
			var latest []row
			for _, r := range draws {
				dates[r.date] = true
				if !tods.Has(r.tod) {
					latest = append(latest, r)
				}
				tods = tods.With(r.tod)
			}
			last, first := draws[0].date, draws[len(draws)-1].date
			if g.Len() != len(draws) || g.First() != first || g.Last() != last || g.Tods() != tods {
				t.Fatalf("%s: %d draws, %s to %s, %s", g.ID, g.Len(), g.First(), g.Last(), g.Tods())
			}
			if want := int(last-first) + 1 - len(dates); g.MissingDays() != want {
				t.Fatalf("%s: %d missing days, want %d", g.ID, g.MissingDays(), want)
			}
			for i, r := range g.Latest() {
				if len(g.Latest()) != len(latest) || rowOf(r) != latest[i] {
					t.Fatalf("%s: latest %v, want %v", g.ID, rowOf(r), latest)
				}
			}
		}
	})
}

// A pair so rare that the search for the next draw must skip most of the set, in both directions.
func TestRareMatchesAmongMany(t *testing.T) {
	games := []models.Game{game("aa", 3)}
	var rows []row
	for i := range 20_000 {
		number := "000"
		switch i {
		case 0, 1, 63, 64, 511, 512, 7000, 15_000, 19_999:
			number = "345"
		}
		rows = append(rows, row{"aa", models.FirstDate + models.Date(i/2), models.Day + models.Tod(i%2), 1, number})
	}
	c := build(t, games, rows)
	for _, tod := range []models.Tod{0, models.Day, models.Afternoon} {
		for _, ascending := range []bool{false, true} {
			q := everything()
			q.kind, q.tod, q.ascending, q.pair = "pair", tod, ascending, catalog.Pair{First: 4, Second: 3}
			compare(t, c, rows, q, func() int { return 2 }, []catalog.Position{rows[512].position(), rows[9000].position()})
			q.from, q.to = models.FirstDate+100, models.FirstDate+9_000
			compare(t, c, rows, q, func() int { return 1 }, []catalog.Position{rows[7000].position()})
		}
		compareStats(t, c, rows, "aa", models.FirstDate+1, models.LastDate, tod)
		compareStats(t, c, rows, "aa", models.FirstDate+1000, models.FirstDate+9000, tod)
		compareStats(t, c, rows, "aa", models.FirstDate+1000, models.FirstDate+5000, tod)
	}
}
