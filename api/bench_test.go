package api_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"lottery/api"
)

// discard is a response writer that keeps its header map, as net/http's does during a request.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// asking returns a function that makes one request through everything but the network: key, quota,
// index, encoder, headers.
func asking(t testing.TB, path, coding string) func() {
	return askingOf(t, path, coding, func(*api.Deps) {})
}

func askingOf(t testing.TB, path, coding string, change func(*api.Deps)) func() {
	s := newMetered(t, 1_000_000_000)
	change(&s.deps)
	s.handler = api.New(s.deps)
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

// A request allocates a few header values and nothing per draw, so garbage collection stays a small part of the
// server's time. If you raise a limit, say why.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector, pools forget things on purpose")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // each processor has its own pools,
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // and a collection would empty them
	for _, c := range []struct {
		path, coding string
		allocs       float64
		bytes        uint64
	}{
		{tenDraws, "", 13, 500},
		{tenDraws + "&count=1000", "", 13, 500},
		{tenDraws, "gzip", 13, 500},
		{tenDraws, "zstd", 13, 500},
		{tenDraws + "&count=1000", "gzip", 7, 280}, // cached
		{"/v1/draws/search?number=1001&limit=1000", "", 12, 360},
		{"/v1/stats?game=many-0&from=2010-01-02", "", 11, 400}, // computed each time, into reused memory
		{"/v1/stats?game=many-0&from=2010-01-02", "gzip", 11, 400},
	} {
		ask := asking(t, c.path, c.coding)
		ask()
		const runs = 1000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := testing.AllocsPerRun(runs, ask)
		runtime.ReadMemStats(&after)
		bytes := (after.TotalAlloc - before.TotalAlloc) / (runs + 1)
		if n > c.allocs || bytes > c.bytes {
			t.Errorf("%s %s: %v allocations of %d bytes, at most %v of %d are allowed", c.path, c.coding, n, bytes, c.allocs, c.bytes)
		}
	}
}

// BenchmarkCounting measures what counting requests costs: the same requests with and without it, in turns, as medians
// of the rounds. A request over the network costs several times as much as one here.
func BenchmarkCounting(b *testing.B) {
	const rounds, each = 41, 5000
	with, without := asking(b, tenDraws, ""), askingOf(b, tenDraws, "", func(d *api.Deps) { d.Traffic = nil })
	round := func(ask func()) float64 {
		began := time.Now()
		for range each {
			ask()
		}
		return float64(time.Since(began).Nanoseconds()) / each
	}
	round(with)
	round(without)
	for b.Loop() {
		var counted, bare []float64
		for range rounds {
			counted, bare = append(counted, round(with)), append(bare, round(without))
		}
		slices.Sort(counted)
		slices.Sort(bare)
		b.ReportMetric(counted[rounds/2], "ns-counted")
		b.ReportMetric(bare[rounds/2], "ns-bare")
	}
}
