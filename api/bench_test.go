package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// discard is a response writer that keeps its header map, as net/http's does for a request.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// asking gives what makes one request to the whole path but the network: key, quota, index, encoder, headers.
func asking(t testing.TB, path, coding string) func() {
	s := newMetered(t, 1_000_000_000)
	s.live.Swap(manyDraws(t, 1))
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("X-Api-Key", s.key)
	if coding != "" {
		r.Header.Set("Accept-Encoding", coding)
	}
	w := &discard{header: http.Header{}}
	return func() {
		clear(w.header)
		s.handler.ServeHTTP(w, r)
	}
}

const tenDraws = "/v1/draws/recent?game=many-0"

func BenchmarkRecent(b *testing.B) {
	ask := asking(b, tenDraws, "")
	b.ReportAllocs()
	for b.Loop() {
		ask()
	}
}

// A request allocates a few header values and nothing for a draw, so that garbage collection stays a small part of
// the server's time. Whoever raises a ceiling says why.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector, pools forget things on purpose")
	}
	for _, c := range []struct {
		path, coding string
		ceiling      float64
	}{
		{tenDraws, "", 13},
		{tenDraws + "&count=1000", "", 13},
		{tenDraws, "gzip", 7},
		{"/v1/draws/search?number=1001&limit=1000", "", 12},
		{"/v1/stats?game=many-0&from=2010-01-02", "", 7},
	} {
		ask := asking(t, c.path, c.coding)
		ask()
		if n := testing.AllocsPerRun(1000, ask); n > c.ceiling {
			t.Errorf("%s %s: %v allocations, at most %v are allowed", c.path, c.coding, n, c.ceiling)
		}
	}
}
