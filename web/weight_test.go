package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
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

// Anybody may ask for these pages: they are kept, plain and compressed. The limit has room for the race detector, which
// makes pools forget things.
func TestPagesAllocateLittle(t *testing.T) {
	h := open(t, nil)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // each processor has its own pools,
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // and a collection would empty them
	for _, path := range []string{
		"/", "/pricing", "/docs", "/docs/coverage", "/docs/reference", "/docs/errors/invalid_parameter", "/terms", "/status", "/explore", "/explore/ny-numbers",
	} {
		for _, coding := range []string{"", "gzip"} {
			r := httptest.NewRequest(http.MethodGet, h.base+path, nil)
			r.Header.Set("Accept-Encoding", coding)
			w := httptest.NewRecorder()
			if h.pages.ServeHTTP(w, r); w.Code != http.StatusOK {
				t.Fatalf("%s: %d", path, w.Code)
			}
			const runs, kilobytes = 50, 10
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range runs {
				h.pages.ServeHTTP(nowhere{http.Header{}}, r)
			}
			runtime.ReadMemStats(&after)
			if n := (after.TotalAlloc - before.TotalAlloc) / runs >> 10; n > kilobytes {
				t.Errorf("%s %s: %d KB are allocated, at most %d are allowed", path, coding, n, kilobytes)
			}
		}
	}
}

// What is kept of a page is not shown once the draws have changed.
func TestPagesFollowTheDraws(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	for range 2 {
		p.get("/docs/coverage").says(t, http.StatusOK, "ny-numbers")
		p.get("/docs/reference").says(t, http.StatusOK, `value="ny-numbers"`)
		p.get("/explore").says(t, http.StatusOK, "/explore/ny-numbers")
		p.get("/explore/ny-numbers").says(t, http.StatusOK, "Digits by position")
	}
	b := catalog.NewBuilder(models.DataVersion{Number: 2, Token: "v2"})
	game := b.Game(models.Game{ID: "tx-pick-3", Name: "Texas Pick 3", Digits: 3, Tods: models.NewTodSet(models.Day), Jurisdiction: "TX"})
	if err := game.Add(models.NewDate(2025, 7, 1), models.Day, 1, []byte("123")); err != nil {
		t.Fatal(err)
	}
	c, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	h.live.Swap(c)
	for range 2 {
		for _, path := range []string{"/docs/coverage", "/explore"} {
			got := p.get(path)
			got.says(t, http.StatusOK, "tx-pick-3")
			if strings.Contains(got.text, "ny-numbers") {
				t.Errorf("%s still shows the earlier draws: %.4000s", path, got.text)
			}
		}
		p.get("/docs/reference").says(t, http.StatusOK, `value="tx-pick-3"`)
		p.get("/explore/ny-numbers").says(t, http.StatusNotFound)
	}
}

// A page that is kept for everybody who is signed out is not shown to somebody who is signed in, nor the other way
// around, and what it says is the same, compressed or not.
func TestKeptPagesAreOfTheSignedOut(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	stranger, member := h.person(), h.person()
	member.signIn("ada@example.com")
	for _, path := range []string{"/", "/pricing", "/docs", "/docs/reference", "/docs/errors/invalid_parameter", "/terms", "/status", "/explore", "/explore/ny-numbers"} {
		for range 2 {
			if got := member.get(path); !strings.Contains(got.text, `href="/dashboard"`) || strings.Contains(got.text, `href="/sign-in"`) {
				t.Errorf("%s does not know who is signed in", path)
			}
			plain := stranger.get(path) // which the client has asked for compressed
			plain.says(t, http.StatusOK, `href="/sign-in"`)
			if strings.Contains(plain.text, `href="/dashboard"`) {
				t.Errorf("%s shows a stranger the page of somebody else", path)
			}
			r := httptest.NewRequest(http.MethodGet, h.base+path, nil)
			w := httptest.NewRecorder()
			if h.pages.ServeHTTP(w, r); w.Body.String() != plain.text {
				t.Errorf("%s says something else when it is not compressed", path)
			}
		}
	}
}

// While the days on which draws are due cannot be read, a game's page lacks its gaps, and is not kept.
func TestIncompletePagesAreNotKept(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	ask := func(ctx context.Context) string {
		w := httptest.NewRecorder()
		h.pages.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, h.base+"/explore/ny-numbers", nil))
		return w.Body.String()
	}
	away, cancel := context.WithCancel(t.Context())
	cancel() // so that the database does not answer
	if strings.Contains(ask(away), `id="gaps"`) {
		t.Fatal("the days were read")
	}
	for range 2 {
		if got := ask(t.Context()); !strings.Contains(got, `id="gaps"`) {
			t.Errorf("the page still lacks its gaps: %.4000s", got)
		}
	}
}

// The landing page and everything that it loads take at most 60 KB on the wire.
func TestFirstViewIsSmall(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	total := 0
	fetch := func(path string) {
		req := h.request(http.MethodGet, path, "")
		req.Header.Set("Accept-Encoding", "gzip")
		got := h.person().do(req)
		total += len(got.text)
		for name, values := range got.header {
			total += len(name) + len(strings.Join(values, "")) + 4
		}
	}
	fetch("/")
	for _, asset := range regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`).FindAllStringSubmatch(h.person().get("/").text, -1) {
		fetch(asset[1])
	}
	if total > 60_000 {
		t.Errorf("%d bytes", total)
	}
	t.Logf("%d bytes", total)
}
