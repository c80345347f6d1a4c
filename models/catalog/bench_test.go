package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/catalog"
)

// layout is a shape of data: a number of draws spread over a number of games. The digits cycle through 3, 4, 3, 4, 5;
// games have two or four tods.
type layout struct {
	name  string
	draws int
	games int
}

var layouts = []layout{
	{"10k-1game", 10_000, 1},
	{"100k-5games", 100_000, 5},
	{"1M-50games", 1_000_000, 50},
	{"1M-1game", 1_000_000, 1},
	{"10M-50games", 10_000_000, 50},
	{"10M-1game", 10_000_000, 1},
}

func (l layout) fill(tb testing.TB, b *catalog.Builder) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(uint64(l.draws), uint64(l.games)))
	widths := []int{3, 4, 3, 4, 5}
	if l.games == 1 {
		widths = []int{4}
	}
	var number [models.MaxDigits]byte
	for i := range l.games {
		digits, tods := widths[i%len(widths)], 2+2*(i%2)
		g := b.Game(game(fmt.Sprintf("game-%02d", i), digits))
		count := l.draws / l.games
		if count > 1_000_000 {
			tods = models.TodCount
		}
		sequences := 1 + count/(tods*60*365) // no game lasts longer than 60 years
		for n := range count {
			for d := range digits {
				number[d] = byte('0' + rng.IntN(10))
			}
			day := models.FirstDate + 30_000 + models.Date(n/(tods*sequences))
			tod := models.Tod(1 + 6/tods*(n/sequences%tods))
			if err := g.Add(day, tod, 1+n%sequences, number[:digits]); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

func (l layout) build(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	b := catalog.NewBuilder(models.DataVersion{})
	l.fill(tb, b)
	c, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// eachLayout runs f on every layout, but on those of ten million draws only if LOTTERY_BENCH_LARGE is set.
func eachLayout(b *testing.B, f func(b *testing.B, c *catalog.Catalog)) {
	for _, l := range layouts {
		b.Run(l.name, func(b *testing.B) {
			if l.draws > 1_000_000 && os.Getenv("LOTTERY_BENCH_LARGE") == "" {
				b.Skip("LOTTERY_BENCH_LARGE is not set")
			}
			f(b, built(b, l))
		})
	}
}

var kept struct {
	sync.Mutex
	layout  layout
	catalog *catalog.Catalog
}

// built caches the last catalog, since testing calls a benchmark several times.
func built(tb testing.TB, l layout) *catalog.Catalog {
	kept.Lock()
	defer kept.Unlock()
	if kept.catalog == nil || kept.layout != l {
		kept.catalog = nil
		kept.layout, kept.catalog = l, l.build(tb)
		runtime.GC()
	}
	return kept.catalog
}

func BenchmarkBuild(b *testing.B) {
	for _, l := range layouts {
		b.Run(l.name, func(b *testing.B) {
			if l.draws > 1_000_000 && os.Getenv("LOTTERY_BENCH_LARGE") == "" {
				b.Skip("LOTTERY_BENCH_LARGE is not set")
			}
			kept.catalog = nil
			var building, adding time.Duration
			for b.Loop() {
				start := time.Now()
				builder := catalog.NewBuilder(models.DataVersion{})
				l.fill(b, builder)
				added := time.Now()
				if _, err := builder.Build(); err != nil {
					b.Fatal(err)
				}
				adding, building = adding+added.Sub(start), building+time.Since(added)
			}
			b.ReportMetric(float64(building.Milliseconds())/float64(b.N), "build-ms")
			b.ReportMetric(float64(adding.Milliseconds())/float64(b.N), "add-ms")
			b.ReportMetric(bytesPerDraw(b, l), "B/draw")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// bytesPerDraw measures how much memory a catalog of that layout retains.
func bytesPerDraw(tb testing.TB, l layout) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := l.build(tb)
	runtime.GC()
	runtime.GC() // the contents of pools are gone after two collections
	runtime.ReadMemStats(&after)
	used := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	runtime.KeepAlive(c)
	return used / float64(l.draws)
}

// benchQuery asks for a random game, date and number each time.
func benchQuery(b *testing.B, ask func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref) {
	eachLayout(b, func(b *testing.B, c *catalog.Catalog) {
		rng := rand.New(rand.NewPCG(1, 1))
		var dst []catalog.Ref
		one := make([]*catalog.Game, 1)
		b.ReportAllocs()
		for b.Loop() {
			one[0] = c.Games()[rng.IntN(len(c.Games()))]
			q := catalog.Query{Games: one, From: models.FirstDate, To: models.LastDate, Limit: 100}
			dst = ask(c, one[0], q, rng.Uint64(), dst[:0])
		}
		b.ReportMetric(float64(len(dst)), "last-refs")
	})
}

func randomRange(g *catalog.Game, q *catalog.Query, r uint64) {
	days := uint64(g.Last()-g.First()) + 1
	q.From, q.To = g.First()+models.Date(r%days), g.First()+models.Date(r/days%days)
	q.From, q.To = min(q.From, q.To), max(q.From, q.To)
}

func BenchmarkRecent(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, _ *catalog.Game, q catalog.Query, _ uint64, dst []catalog.Ref) []catalog.Ref {
		q.Limit = 10
		return c.Draws(q, dst).Refs
	})
}

func BenchmarkRecentAfterCursor(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		randomRange(g, &q, r)
		q.Limit, q.From, q.After = 10, models.FirstDate, &catalog.Position{Date: q.To, Tod: models.Day, GameID: g.ID, Sequence: 1}
		q.To = models.LastDate
		return c.Draws(q, dst).Refs
	})
}

func BenchmarkDateOfAllGames(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		randomRange(g, &q, r)
		q.Games, q.Limit, q.To = nil, 0, q.From
		return c.Draws(q, dst).Refs
	})
}

func BenchmarkHistoryYear(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		randomRange(g, &q, r)
		q.Limit, q.To = 0, q.From+365
		return c.Draws(q, dst).Refs
	})
}

func BenchmarkBySum(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		return c.BySum(q, int(r%uint64(9*g.Digits+1)), dst).Refs
	})
}

func BenchmarkBySumInRange(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		randomRange(g, &q, r)
		return c.BySum(q, int(r%uint64(9*g.Digits+1)), dst).Refs
	})
}

func BenchmarkByPairAny(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, _ *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		return c.ByPair(q, catalog.Pair{First: byte(r % 10), Second: byte(r / 10 % 10)}, dst).Refs
	})
}

func BenchmarkByPairAnyInRange(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		randomRange(g, &q, r)
		return c.ByPair(q, catalog.Pair{First: byte(r % 10), Second: byte(r / 10 % 10)}, dst).Refs
	})
}

func BenchmarkByPairFront(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, _ *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		return c.ByPair(q, catalog.Pair{Position: catalog.PairFront, First: byte(r % 10), Second: byte(r / 10 % 10)}, dst).Refs
	})
}

func BenchmarkSearchOneGame(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		return c.Search(q, numbersOf[g.Digits][r%1000], false, dst).Refs
	})
}

func BenchmarkSearchAllGames(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		q.Games = nil
		return c.Search(q, numbersOf[g.Digits][r%1000], false, dst).Refs
	})
}

func BenchmarkSearchExactAllGamesInRange(b *testing.B) {
	benchQuery(b, func(c *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		randomRange(g, &q, r)
		q.Games = nil
		return c.Search(q, numbersOf[g.Digits][r%1000], true, dst).Refs
	})
}

func BenchmarkStatsOfAllDates(b *testing.B) {
	benchQuery(b, func(_ *catalog.Catalog, g *catalog.Game, q catalog.Query, _ uint64, dst []catalog.Ref) []catalog.Ref {
		g.Stats(q.From, q.To, 0)
		return dst
	})
}

func BenchmarkStatsInRange(b *testing.B) {
	benchQuery(b, func(_ *catalog.Catalog, g *catalog.Game, q catalog.Query, r uint64, dst []catalog.Ref) []catalog.Ref {
		randomRange(g, &q, r)
		g.Stats(q.From, q.To, models.Tod(r>>60&1)) // half of them for one tod
		return dst
	})
}

// numbersOf has a thousand numbers by digits, so that making one is not part of a measurement.
var numbersOf = func() (list [models.MaxDigits + 1][1000]string) {
	rng := rand.New(rand.NewPCG(3, 3))
	for digits := 1; digits <= models.MaxDigits; digits++ {
		for i := range list[digits] {
			for range digits {
				list[digits][i] += string('0' + rune(rng.IntN(10)))
			}
		}
	}
	return list
}()
