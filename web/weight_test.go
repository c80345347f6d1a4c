package web_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// nowhere is a response writer that throws everything away.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n nowhere) WriteHeader(int)             {}

// Anybody may ask for these pages. The limits have room for the race detector, which makes pools forget things; without
// it, a page takes a fifth to a half of them. If you raise one, say why.
func TestPagesAllocateLittle(t *testing.T) {
	h := open(t, nil)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // each processor has its own pools,
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // and a collection would empty them
	for _, c := range []struct {
		path, coding string
		kilobytes    uint64
	}{{"/", "", 100}, {"/", "gzip", 500}, {"/docs", "", 190}, {"/docs", "gzip", 500}} {
		r := httptest.NewRequest(http.MethodGet, h.base+c.path, nil)
		r.Header.Set("Accept-Encoding", c.coding)
		ask := func() { h.pages.ServeHTTP(nowhere{http.Header{}}, r) }
		ask()
		const runs = 50
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			ask()
		}
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) / runs >> 10; n > c.kilobytes {
			t.Errorf("%s %s: %d KB are allocated, at most %d are allowed", c.path, c.coding, n, c.kilobytes)
		}
	}
}

// What is kept of a page is not shown once the draws have changed.
func TestDocsFollowTheDraws(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	for range 2 {
		p.get("/docs/coverage").says(t, http.StatusOK, "ny-numbers")
	}
	b := catalog.NewBuilder(models.DataVersion{Number: 2, Token: "v2"})
	game := b.Game(models.Game{ID: "tx-pick-3", Name: "Texas Pick 3", Digits: 3, Tods: models.NewTodSet(models.Day), Jurisdiction: "TX"})
	if err := game.Add(models.NewDate(2025, 7, 1), models.Day, 1, "123"); err != nil {
		t.Fatal(err)
	}
	c, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	h.live.Swap(c)
	for range 2 {
		got := p.get("/docs/coverage")
		got.says(t, http.StatusOK, "tx-pick-3")
		if strings.Contains(got.text, "ny-numbers") {
			t.Errorf("the page still shows the earlier draws: %.4000s", got.text)
		}
	}
}
