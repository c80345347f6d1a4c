package catalog_test

import (
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// A query does not allocate if the caller provides the slice for the draws.
func TestQueriesDoNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector, pools forget things on purpose")
	}
	c := layout{name: "alloc", draws: 20_000, games: 5}.build(t)
	g := c.Games()[3]
	one := []*catalog.Game{g}
	after := &catalog.Position{Date: g.Last() - 10, Tod: models.Night, GameID: g.ID, Sequence: 1}
	dst := make([]catalog.Ref, 0, 1000)
	recent := catalog.Query{Games: one, From: models.FirstDate, To: models.LastDate, Limit: 10}
	page := catalog.Query{Games: one, From: g.First() + 5, To: g.Last() - 5, After: after, Limit: 100}
	all := catalog.Query{From: models.FirstDate, To: models.LastDate, Ascending: true, Limit: 100}
	day := catalog.Query{From: g.Last() - 300, To: g.Last() - 300}
	for name, ask := range map[string]func(){
		"recent":           func() { c.Draws(recent, dst) },
		"recent after":     func() { c.Draws(page, dst) },
		"a date, all":      func() { c.Draws(day, dst) },
		"sum":              func() { c.BySum(page, 13, dst) },
		"pair anywhere":    func() { c.ByPair(page, catalog.Pair{First: 1, Second: 2}, dst) },
		"pair in front":    func() { c.ByPair(page, catalog.Pair{Position: catalog.PairFront, First: 1, Second: 2}, dst) },
		"search":           func() { c.Search(all, "123", false, dst) },
		"search by pages":  func() { c.Search(page, "1234", true, dst) },
		"stats of it all":  func() { g.Stats(models.FirstDate, models.LastDate, 0) },
		"latest":           func() { g.Latest() },
		"games of type":    func() { c.OfType("pick4") },
		"position of refs": func() { g.Latest()[0].Position() },
	} {
		if n := testing.AllocsPerRun(100, ask); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Apart from the index, building keeps nothing per draw: the product's memory bound relies on it.
func TestMemoryPerDraw(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has its own memory")
	}
	l := layout{name: "memory", draws: 200_000, games: 10}
	const limit = 81 // bytes; two of the games have five digits, which take a third more
	if used := bytesPerDraw(t, l); used > limit {
		t.Errorf("%.1f bytes a draw, want at most %d", used, limit)
	}
}
