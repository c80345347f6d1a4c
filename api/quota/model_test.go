package quota_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ulule/limiter/v3"
	"pgregory.net/rapid"

	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// testClock is the only clock of a test, for its backend and, with their offsets, its nodes. It moves only when told
// to.
type testClock struct{ at atomic.Int64 }

// newTestClock starts at noon, a year ahead so that Redis does not expire keys dated by it.
func newTestClock() *testClock {
	c := &testClock{}
	c.at.Store(time.Now().UTC().Truncate(24*time.Hour).AddDate(1, 0, 0).Add(12 * time.Hour).UnixNano())
	return c
}

func (c *testClock) now() time.Time       { return time.Unix(0, c.at.Load()).UTC() }
func (c *testClock) skew() time.Duration  { return time.Until(c.now()) }
func (c *testClock) move(d time.Duration) { c.at.Add(int64(d)) }
func (c *testClock) day() int64           { return models.PeriodStart(c.now(), quota.Day) }
func (c *testClock) toMidnight(d time.Duration) {
	c.at.Store((c.day()+int64(quota.Day/time.Second))*int64(time.Second) + int64(d))
}

// clockedBackends runs test on each backend, which uses the clock it passes.
func clockedBackends(t *testing.T, test func(t *testing.T, l quota.Backend, advance bool, c *testClock)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, url string) {
		c := newTestClock()
		test(t, storetest.OpenURL(t, url, store.Options{Now: c.now, Skew: c.skew}), true, c)
	})
	t.Run("redis", func(t *testing.T) {
		c := newTestClock()
		r, err := quota.OpenRedis(storetest.NewRedis(t).URL(), c.skew)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		test(t, r, false, c)
	})
}

// world is some nodes on one backend, and what the test expects of them.
type world struct {
	backend quota.Backend
	advance bool
	clock   *testClock
	key     string
	nodes   []*quota.Store
	offsets []time.Duration // of the nodes' own clocks

	limit     int64
	admitted  map[int64]int64 // by the day they were counted in, less what was given back
	forfeited map[int64]int64 // lost with crashed nodes
	resets    []int64         // of admitted requests that may still be given back
}

func (w *world) node(offset time.Duration) *quota.Store {
	n := quota.New(w.backend, quota.Options{
		Advance: w.advance, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return w.clock.now().Add(offset) },
	})
	n.Sync() // before the clock moves
	return n
}

func (w *world) held() (sum int64) {
	for _, n := range w.nodes {
		sum += n.Held(w.key)
	}
	return sum
}

// counted is the backend's own count for a day.
func (w *world) counted(t *rapid.T, day int64) int64 {
	r, _, err := w.backend.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaAdd, Key: w.key, Period: quota.Day, Start: day}})
	if err != nil {
		t.Fatalf("read the counter: %v", err)
	}
	return r[0].Used
}

// request spreads n requests over the nodes and checks what was admitted and refused. meanwhile, if not
// nil, runs at the same time.
func (w *world) request(t *rapid.T, nodes []*quota.Store, n, concurrent int, meanwhile func()) {
	day, held := w.clock.day(), w.held()
	var mu sync.Mutex
	served := map[int64]int64{}
	refused := map[int64]int64{}
	var next atomic.Int64
	var group sync.WaitGroup
	for range concurrent {
		group.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				began := w.clock.now()
				c, err := nodes[i%int64(len(nodes))].Get(context.Background(), w.key, limiter.Rate{Period: quota.Day, Limit: w.limit})
				counted := c.Reset - int64(quota.Day/time.Second)
				mu.Lock()
				switch {
				case err != nil:
					t.Errorf("%v", err)
				case c.Reached:
					refused[counted]++
				default:
					served[counted]++
					w.resets = append(w.resets, c.Reset)
				}
				if start := models.PeriodStart(began, quota.Day); meanwhile == nil && counted != start {
					t.Errorf("a request of %s was counted on %s", began, time.Unix(counted, 0).UTC())
				}
				mu.Unlock()
			}
		})
	}
	if meanwhile != nil {
		meanwhile()
	}
	group.Wait()
	for d, n := range served {
		if room := max(0, w.limit-w.admitted[d]); n > room {
			t.Fatalf("%d admitted where the limit %d left room for %d", n, w.limit, room)
		}
		w.admitted[d] += n
	}
	w.settle()
	if d := w.clock.day(); meanwhile == nil && d == day && refused[d] > 0 {
		if taken := w.admitted[d] + w.forfeited[d] + max(held, w.held()); taken < w.limit {
			t.Fatalf("%d refused, though only %d of %d are taken", refused[d], taken, w.limit)
		}
	}
}

func (w *world) settle() {
	for _, n := range w.nodes {
		n.Settle()
	}
}

// check verifies that no count is lost and none is invented.
func (w *world) check(t *rapid.T) {
	w.settle()
	d := w.clock.day()
	for i, n := range w.nodes {
		if n.Failures() > 0 {
			t.Fatalf("node %d found the backend away", i)
		}
	}
	if got, want := w.counted(t, d), w.admitted[d]+w.forfeited[d]+w.held(); got != want {
		t.Fatalf("the backend counts %d: %d admitted, %d forfeited, %d held", got, w.admitted[d], w.forfeited[d], w.held())
	}
	for past, n := range w.admitted {
		if got, want := w.counted(t, past), n+w.forfeited[past]; past != d && got != want {
			t.Fatalf("%s: the backend counts %d: %d admitted, %d forfeited", time.Unix(past, 0).UTC(), got, n, w.forfeited[past])
		}
	}
}

func (w *world) sweep() {
	for _, n := range w.nodes {
		n.Sweep()
	}
}

// actions are the steps that the model draws from.
func (w *world) actions() map[string]func(*rapid.T) {
	limits := []int64{0, 1, 5, 100, 256, 257, 300, 1000, 5000}
	pick := func(t *rapid.T) int { return rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node") }
	burst := rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, 300))
	crowd := rapid.SampledFrom([]int{1, 8, 64})
	return map[string]func(*rapid.T){
		"one node": func(t *rapid.T) {
			w.request(t, w.nodes[pick(t):][:1], burst.Draw(t, "n"), crowd.Draw(t, "concurrent"), nil)
		},
		"all nodes": func(t *rapid.T) { w.request(t, w.nodes, burst.Draw(t, "n"), crowd.Draw(t, "concurrent"), nil) },
		"limit":     func(t *rapid.T) { w.limit = rapid.SampledFrom(limits).Draw(t, "limit") },
		"give back": func(t *rapid.T) {
			for range rapid.IntRange(1, 10).Draw(t, "n") {
				if len(w.resets) == 0 {
					return
				}
				reset := w.resets[len(w.resets)-1]
				w.resets = w.resets[:len(w.resets)-1]
				w.nodes[pick(t)].GiveBack(w.key, quota.Day, reset)
				w.admitted[reset-int64(quota.Day/time.Second)]--
			}
		},
		"crash": func(t *rapid.T) {
			i := pick(t)
			for start, n := range w.nodes[i].Crash(w.key) {
				w.forfeited[start] += n
			}
			w.nodes[i] = w.node(w.offsets[i])
		},
		"restart": func(t *rapid.T) {
			i := pick(t)
			if err := w.nodes[i].Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			w.nodes[i] = w.node(w.offsets[i])
		},
		"idle": func(t *rapid.T) {
			w.clock.move(2 * time.Second)
			w.sweep()
			if held := w.held(); held != 0 {
				t.Fatalf("%d requests are held after two idle seconds", held)
			}
		},
		"midnight": func(t *rapid.T) {
			w.clock.toMidnight(time.Duration(rapid.IntRange(1000, 10_000).Draw(t, "ms after")) * time.Millisecond)
			w.sweep()
		},
		"midnight under load": func(t *rapid.T) {
			w.clock.toMidnight(-time.Second)
			w.request(t, w.nodes, burst.Draw(t, "n"), 8, func() { w.clock.toMidnight(time.Second) })
			for _, n := range w.nodes {
				n.Sync()
			}
			w.sweep()
		},
		"": func(t *rapid.T) {
			w.check(t)
			w.clock.move(250 * time.Millisecond) // lets a refusal expire between steps
		},
	}
}

// Any interleaving of nodes, requests, crashes, restarts, plan changes, give-backs and midnights: never above the limit
// in force, no needless refusal, and nothing lost but what a crash forfeits.
func TestModel(t *testing.T) {
	t.Parallel()
	clockedBackends(t, func(t *testing.T, l quota.Backend, advance bool, c *testClock) {
		budget, began, runs := 4*time.Second, time.Now(), 0
		rapid.Check(t, func(rt *rapid.T) {
			if runs > 5 && time.Since(began) > budget {
				return // enough for a regular run; use -rapid.checks and a longer budget to explore further
			}
			runs++
			c.toMidnight(12 * time.Hour) // a day of its own
			w := &world{
				backend: l, advance: advance, clock: c, key: fmt.Sprintf("acc-%d", runs), limit: 1000,
				admitted: map[int64]int64{}, forfeited: map[int64]int64{},
			}
			for range rapid.IntRange(1, 3).Draw(rt, "nodes") {
				offset := time.Duration(rapid.SampledFrom([]int{0, 0, 7, -7, 800}).Draw(rt, "clock off by minutes")) * time.Minute
				w.offsets = append(w.offsets, offset)
				w.nodes = append(w.nodes, w.node(offset))
			}
			defer func() {
				for _, n := range w.nodes {
					if err := n.Close(context.Background()); err != nil {
						rt.Errorf("close: %v", err)
					}
				}
				w.nodes = nil
				if !rt.Failed() {
					w.check(rt) // everything was given back
				}
			}()
			rt.Repeat(w.actions())
		})
		t.Logf("%d runs", runs)
	})
}
