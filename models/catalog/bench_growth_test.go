package catalog_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/catalog"
)

// BenchmarkGrowth prints the time to find ten draws in growing amounts of data: the answer's size is fixed, so the time
// should be too. It uses ten million draws only if LOTTERY_BENCH_LARGE is set, as in `make bench`.
func BenchmarkGrowth(b *testing.B) {
	type question struct {
		name string
		ask  func(c *catalog.Catalog, q catalog.Query, i int, dst []catalog.Ref) []catalog.Ref
	}
	questions := []question{
		{"search", func(c *catalog.Catalog, q catalog.Query, i int, dst []catalog.Ref) []catalog.Ref {
			q.Games = nil
			return c.Search(q, numbersOf[3][i%1000], false, dst).Refs
		}},
		{"by-sum", func(c *catalog.Catalog, q catalog.Query, i int, dst []catalog.Ref) []catalog.Ref {
			return c.BySum(q, 10+i%8, dst).Refs
		}},
		{"by-pair", func(c *catalog.Catalog, q catalog.Query, i int, dst []catalog.Ref) []catalog.Ref {
			return c.ByPair(q, catalog.Pair{First: byte(i % 10), Second: byte(i / 10 % 10)}, dst).Refs
		}},
		{"by-pair, front", func(c *catalog.Catalog, q catalog.Query, i int, dst []catalog.Ref) []catalog.Ref {
			return c.ByPair(q, catalog.Pair{Position: catalog.PairFront, First: byte(i % 10), Second: byte(i / 10 % 10)}, dst).Refs
		}},
	}
	fmt.Print("\nFinding the newest 10 of all that match, in five games; microseconds\n\n| draws | search | by-sum | by-pair | by-pair, front |\n|---|---|---|---|---|\n")
	for draws := 10_000; draws <= 10_000_000; draws *= 10 {
		if draws > 1_000_000 && os.Getenv("LOTTERY_BENCH_LARGE") == "" {
			fmt.Println("(LOTTERY_BENCH_LARGE is not set)")
			continue
		}
		kept.catalog = nil
		c := layout{draws: draws, games: 5}.build(b)
		runtime.GC()
		fmt.Printf("| %d ", draws)
		for _, asked := range questions {
			fmt.Printf("| %.2f ", timed(b, c, asked.ask))
		}
		fmt.Println("|")
	}
	fmt.Println()
	for b.Loop() { // the results are printed above
	}
}

// timed returns the time of a query in microseconds, averaged over many different ones: the median
// of rounds after a first.
func timed(b *testing.B, c *catalog.Catalog, ask func(c *catalog.Catalog, q catalog.Query, i int, dst []catalog.Ref) []catalog.Ref) float64 {
	const rounds, times = 7, 20_000
	dst := make([]catalog.Ref, 0, 100)
	one := make([]*catalog.Game, 1)
	var took []float64
	found := 0
	for round := range 1 + rounds {
		began := time.Now()
		for i := range times {
			one[0] = c.Games()[i%len(c.Games())]
			found += len(ask(c, catalog.Query{Games: one, From: models.FirstDate, To: models.LastDate, Limit: 10}, i, dst))
		}
		if round > 0 {
			took = append(took, float64(time.Since(began).Nanoseconds())/times/1000)
		}
	}
	if found < (1+rounds)*9*times {
		b.Fatalf("the answers have %.1f draws on average, not about 10", float64(found)/(1+rounds)/times)
	}
	slices.Sort(took)
	return took[rounds/2]
}
