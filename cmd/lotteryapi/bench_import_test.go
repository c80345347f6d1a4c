package main

import (
	"fmt"
	"io"
	"lottery/models/store/storetest"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	// importDraws is how many new draws are imported while requests run.
	importDraws = 100_000
	// importRounds is how often that is done: an import takes only a second or two, which is short to measure.
	importRounds = 3
	// steadyRate is the steady load in requests a second: a few percent of what the server can do, so that it and the
	// importing process, which wants a core for itself, fit on two cores.
	steadyRate = 1000
)

// imports prints the table of how an import, and the swap after it, affects running requests.
func (s *bench) imports(b *testing.B) {
	t := newTable(fmt.Sprintf("Import of %d new draws while requests run: ten-draw recent; ms. Steady: %d requests/s, each timed from the moment that it was due. Saturating: wrk, %d connections. Medians of %d imports.",
		importDraws, steadyRate, benchConnections, importRounds),
		"database", "load", "quiet p50/p99/longest", "importing p50/p99/longest", "p99 ratio", "failed", "import s", "holds")
	for _, on := range []struct {
		name, url, base, key string
	}{
		{"SQLite", s.sqlite, s.product.base, s.key},
		{"PostgreSQL", s.postgres, start(b, b.TempDir(), serveArgs(s.postgres)...).base, s.keyPostgres},
	} {
		for _, kind := range []string{"steady", "saturating"} {
			load := saturate
			if kind == "steady" {
				load = steady
			}
			var quiet, busy feelings
			var took []float64
			for n := range importRounds {
				importing := s.newDraws(b, on.url, on.base, on.key, fmt.Sprintf("bench-%s-%d", kind, n), &took)
				quiet = append(quiet, load(b, on.base, on.key, func() { time.Sleep(1500 * time.Millisecond) }))
				busy = append(busy, load(b, on.base, on.key, importing))
			}
			ratio := busy.p99() / quiet.p99()
			t.add(on.name, kind, quiet.String(), busy.String(), fmt.Sprintf("%.1f", ratio), strconv.Itoa(quiet.failed()+busy.failed()),
				fmt.Sprintf("%.1f", median(took)), holds(ratio < 5 && busy.failed() == 0))
			shows(demandImporting, ratio < 5 && busy.failed() == 0, "%.1f ×, %d failed (%s, %s)", ratio, busy.failed(), on.name, kind)
		}
	}
	t.print()
}

// newDraws returns work that imports draws of a new game and waits until they are served; it adds the import's duration
// to took.
func (s *bench) newDraws(b *testing.B, url, base, key, id string, took *[]float64) (work func()) {
	b.Helper()
	game := benchGame{id, 5, importDraws}
	addGames(b, url, game)
	file := writeDraws(b, game)
	return func() {
		began := time.Now()
		command(b, url, "draws", "import", "--feed", "csv", file)
		*took = append(*took, time.Since(began).Seconds())
		storetest.Until(b, "the new draws", func() bool { return answers(base+"/v1/draws/recent?game="+id, key) })
	}
}

// felt holds the latencies of one round, in milliseconds.
type felt struct {
	p50, p99, longest float64
	failed            int
}

type feelings []felt

func (f feelings) each(of func(felt) float64) []float64 {
	out := make([]float64, len(f))
	for i := range f {
		out[i] = of(f[i])
	}
	return out
}

func (f feelings) p99() float64 { return median(f.each(func(f felt) float64 { return f.p99 })) }

func (f feelings) failed() (n int) {
	for _, round := range f {
		n += round.failed
	}
	return n
}

// String returns the medians of p50 and p99, and the longest of all.
func (f feelings) String() string {
	return fmt.Sprintf("%.2g/%.2g/%.0f", median(f.each(func(f felt) float64 { return f.p50 })), f.p99(), slices.Max(f.each(func(f felt) float64 { return f.longest })))
}

func answers(url, key string) bool {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	r.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.StatusCode == http.StatusOK
}

// steady sends steadyRate requests a second while work runs. A request that had to wait for the one before it is timed
// from when it was due: a stalling server cannot hide how many requests it kept waiting.
func steady(b *testing.B, base, key string, work func()) felt {
	b.Helper()
	const clients = 20
	var mu sync.Mutex
	var wg sync.WaitGroup
	var all []float64
	failed := 0
	done := make(chan struct{})
	every := time.Second * clients / steadyRate
	for n := range clients {
		wg.Go(func() {
			due := time.Now().Add(every * time.Duration(n) / clients)
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Until(due)):
				}
				ok := answers(base+recentPath, key)
				took := time.Since(due)
				mu.Lock()
				all = append(all, float64(took)/float64(time.Millisecond))
				if !ok {
					failed++
				}
				mu.Unlock()
				due = due.Add(every)
			}
		})
	}
	work()
	close(done)
	wg.Wait()
	slices.Sort(all)
	return felt{p50: all[len(all)/2], p99: all[len(all)*99/100], longest: all[len(all)-1], failed: failed}
}

// saturate loads the server with wrk while work runs, in rounds of 2 s, and returns the worst round's p99. A failed
// request ends the benchmark.
func saturate(b *testing.B, base, key string, work func()) felt {
	b.Helper()
	var worst series
	done := make(chan struct{})
	go func() {
		work()
		close(done)
	}()
	for running := true; running; {
		worst = append(worst, wrk(b, traffic{name: base, base: base, path: recentPath, key: key, seconds: 2}))
		select {
		case <-done:
			running = false
		default:
		}
	}
	p99 := worst.each(func(f figures) float64 { return f.p99 })
	return felt{p50: worst.p50(), p99: slices.Max(p99), longest: slices.Max(worst.each(func(f figures) float64 { return f.longest }))}
}
