package quota_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite" // the database/sql driver "sqlite"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/ulule/limiter/v3"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// server is a ledger's server that stops and starts.
type server interface {
	Stop()
	Start(t testing.TB)
}

// servers runs test with a server of its own for each ledger that has one.
func servers(t *testing.T, test func(t *testing.T, srv server, l quota.Ledger, advance bool)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		srv := storetest.NewPostgresServer(t)
		test(t, srv, storetest.OpenURL(t, srv.NewDatabase(t), store.Options{}), true)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		srv := storetest.NewRedis(t)
		test(t, srv, openRedis(t, srv), false)
	})
}

func openRedis(t *testing.T, srv *storetest.Redis) *quota.Redis {
	t.Helper()
	r, err := quota.OpenRedis(srv.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// watched is a node whose log and metrics a test reads.
type watched struct {
	*quota.Store
	log     *lockedBuffer
	metrics *prometheus.Registry
	served  atomic.Int64
	slowest atomic.Int64 // nanoseconds
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func watch(t *testing.T, l quota.Ledger, opts quota.Options) *watched {
	t.Helper()
	w := &watched{log: &lockedBuffer{}, metrics: prometheus.NewRegistry()}
	opts.Log, opts.Metrics = slog.New(slog.NewTextHandler(w.log, nil)), quota.NewMetrics()
	opts.Metrics.Register(w.metrics)
	w.Store = quota.New(l, opts)
	return w
}

func (w *watched) away(t *testing.T) float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "lottery_quota_store_away" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("there is no metric lottery_quota_store_away")
	return 0
}

// decisions is how many requests the metrics say were decided how.
func (w *watched) decisions(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "lottery_quota_decisions_total" {
				got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return got
}

// get sends one request and notes how long it took.
func (w *watched) get(t *testing.T, key string, limit int64) bool {
	began := time.Now()
	c, err := w.Get(context.Background(), key, limiter.Rate{Period: quota.Day, Limit: limit})
	if err != nil {
		t.Error(err)
	}
	took := int64(time.Since(began))
	for old := w.slowest.Load(); took > old && !w.slowest.CompareAndSwap(old, took); old = w.slowest.Load() {
	}
	if !c.Reached {
		w.served.Add(1)
	}
	return !c.Reached
}

// burst sends n requests, concurrently, and tells how many were served.
func (w *watched) burst(t *testing.T, key string, n, concurrent int, limit int64) int64 {
	var served, next atomic.Int64
	var group sync.WaitGroup
	for range concurrent {
		group.Go(func() {
			for next.Add(1) <= int64(n) {
				if w.get(t, key, limit) {
					served.Add(1)
				}
			}
		})
	}
	group.Wait()
	return served.Load()
}

// remaining makes a contact and tells what the node knows to remain after it.
func (w *watched) remaining(t *testing.T, key string, limit int64) int64 {
	t.Helper()
	w.Settle()
	c, err := w.Peek(context.Background(), key, limiter.Rate{Period: quota.Day, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return c.Remaining
}

// counted is what the ledger says of key, today.
func counted(t *testing.T, l quota.Ledger, key string) int64 {
	t.Helper()
	var used int64
	storetest.Until(t, "the ledger's word", func() bool {
		r, _, err := l.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaPeek, Key: key, Period: quota.Day}})
		if err == nil {
			used = r[0].Used
		}
		return err == nil
	})
	return used
}

func closeNode(t *testing.T, n *quota.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

// waitForMidnight keeps clear of the end of the day, at which real servers' counters begin anew.
func waitForMidnight(t *testing.T) {
	t.Helper()
	now := time.Now()
	if left := now.UTC().Truncate(quota.Day).Add(quota.Day).Sub(now); left < time.Minute {
		time.Sleep(left + time.Second)
	}
}

// While its server is stopped each node admits what remained at its last contact, at once; when it is back, all of
// it is written.
func TestOutage(t *testing.T) {
	t.Parallel()
	waitForMidnight(t)
	servers(t, func(t *testing.T, srv server, l quota.Ledger, advance bool) {
		const limit, small = 1000, 100
		nodes := []*watched{watch(t, l, quota.Options{Advance: advance, Volatile: !advance}), watch(t, l, quota.Options{Advance: advance, Volatile: !advance})}
		for _, n := range nodes {
			n.burst(t, "acc", 150, 8, limit)
			n.burst(t, "small", 20, 8, small)
		}
		var may, maySmall [2]int64
		for i, n := range nodes {
			may[i], maySmall[i] = n.remaining(t, "acc", limit), n.remaining(t, "small", small)
			n.slowest.Store(0)
		}
		before, beforeSmall := [2]int64{}, int64(40)
		for i, n := range nodes {
			before[i] = n.served.Load() - 20
		}
		srv.Stop()
		total, totalSmall := before[0]+before[1], beforeSmall
		for i, n := range nodes {
			first := n.burst(t, "acc", 100, 100, limit)
			if took := time.Duration(n.slowest.Swap(0)); took > 4*time.Second {
				t.Errorf("node %d: a request was held up for %s when the server went away", i, took)
			}
			storetest.Until(t, "the outage to be known", n.Away)
			served := first + n.burst(t, "acc", 1500, 16, limit)
			servedSmall := n.burst(t, "small", 300, 16, small)
			if took := time.Duration(n.slowest.Load()); took > time.Second {
				t.Errorf("node %d: a request was held up for %s while the server was away", i, took)
			}
			if served != may[i] || servedSmall != maySmall[i] {
				t.Errorf("node %d: served %d and %d; at its last contact %d and %d remained", i, served, servedSmall, may[i], maySmall[i])
			}
			total, totalSmall = total+served, totalSmall+servedSmall
			if n.away(t) != 1 {
				t.Errorf("node %d: the metric does not say that the ledger is away", i)
			}
		}
		time.Sleep(600 * time.Millisecond) // two more attempts
		for i, n := range nodes {
			if got := strings.Count(n.log.String(), "do not answer"); got != 1 {
				t.Errorf("node %d: %d log lines of the outage\n%s", i, got, n.log)
			}
		}
		srv.Start(t)
		for i, n := range nodes {
			storetest.Until(t, "the node to recover", func() bool { return !n.Away() })
			n.Sweep()
			if n.away(t) != 0 {
				t.Errorf("node %d: the metric still says that the ledger is away", i)
			}
			closeNode(t, n.Store)
		}
		if got, gotSmall := counted(t, l, "acc"), counted(t, l, "small"); got != total || gotSmall != totalSmall {
			t.Errorf("the ledger counts %d and %d, served were %d and %d", got, gotSmall, total, totalSmall)
		}
	})
}

// The same under load from beginning to end. What was in flight when the server died may be counted twice, never
// not at all.
func TestOutageUnderLoad(t *testing.T) {
	t.Parallel()
	waitForMidnight(t)
	servers(t, func(t *testing.T, srv server, l quota.Ledger, advance bool) {
		const limit, workers = 1_000_000, 8
		n := watch(t, l, quota.Options{Advance: advance, Volatile: !advance})
		var stop atomic.Bool
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for !stop.Load() {
					n.get(t, "acc", limit)
					time.Sleep(100 * time.Microsecond)
				}
			})
		}
		for range 2 {
			served := n.served.Load()
			storetest.Until(t, "requests to be served", func() bool { return n.served.Load() > served+500 })
			srv.Stop()
			storetest.Until(t, "the outage to be known", n.Away)
			served = n.served.Load()
			storetest.Until(t, "requests to be served without the ledger", func() bool { return n.served.Load() > served+500 })
			srv.Start(t)
			storetest.Until(t, "recovery", func() bool { return !n.Away() })
		}
		stop.Store(true)
		group.Wait()
		if took := time.Duration(n.slowest.Load()); took > 4*time.Second {
			t.Errorf("a request was held up for %s", took)
		}
		closeNode(t, n.Store)
		got, served := counted(t, l, "acc"), n.served.Load()
		if got < served || got > served+served/2 {
			t.Errorf("the ledger counts %d, served were %d", got, served)
		}
		t.Logf("served %d, counted %d", served, got)
	})
}

// lockDatabase holds SQLite's write lock, as an import does, until the returned function is called.
func lockDatabase(t *testing.T, url string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(url, "sqlite:")+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	unlock = sync.OnceFunc(func() { tx.Rollback(); db.Close() })
	t.Cleanup(unlock)
	return unlock
}

// An import that holds SQLite's write lock holds up nobody, and on one node no request too many is served.
func TestWriteLockHeld(t *testing.T) {
	t.Parallel()
	waitForMidnight(t)
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	n := watch(t, st, quota.Options{Advance: true})
	served, large := n.burst(t, "small", 60, 8, 100), n.burst(t, "acc", 900, 8, 10_000)
	n.Settle()
	unlock := lockDatabase(t, url)
	until := time.Now().Add(2 * time.Second)
	for time.Now().Before(until) {
		served += n.burst(t, "small", 20, 4, 100)
		large += n.burst(t, "acc", 100, 8, 10_000)
	}
	large += n.burst(t, "acc", 11_000, 8, 10_000)
	if !n.Away() {
		t.Error("the lock held up nothing: the test shows nothing")
	}
	if used, remaining, _, err := n.Used(t.Context(), "small", 200); err != nil || used != served || remaining != 200-served {
		t.Errorf("served %d, told %d used and %d remaining, %v", served, used, remaining, err)
	}
	if took := time.Duration(n.slowest.Load()); took > time.Second {
		t.Errorf("a request was held up for %s", took)
	}
	unlock()
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	served += n.burst(t, "small", 100, 8, 100)
	large += n.burst(t, "acc", 100, 8, 10_000)
	if served != 100 || large != 10_000 {
		t.Errorf("served %d of 100 and %d of 10,000", served, large)
	}
	closeNode(t, n.Store)
	if got, gotLarge := counted(t, st, "small"), counted(t, st, "acc"); got != served || gotLarge != large {
		t.Errorf("the ledger counts %d and %d, served were %d and %d", got, gotLarge, served, large)
	}
}

// A node that starts while an import holds SQLite's write lock cannot count, but it can read what was used before: for
// whoever waits for the first contact, for a look, and for whoever comes when the ledger is known to be away.
func TestStartWhileTheWriteLockIsHeld(t *testing.T) {
	t.Parallel()
	waitForMidnight(t)
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	first := watch(t, st, quota.Options{Advance: true})
	served := map[string]int64{}
	for key, used := range map[string]int{"wait": 97, "looks": 60, "late": 60} {
		served[key] = first.burst(t, key, used, 8, 100)
	}
	closeNode(t, first.Store)
	unlock := lockDatabase(t, url)
	n := watch(t, storetest.OpenURL(t, url, store.Options{}), quota.Options{Advance: true})
	served["wait"] += n.burst(t, "wait", 200, 8, 100) // more wait at once than are left
	if _, remaining, _, err := n.Used(context.Background(), "looks", 100); err != nil || remaining != 40 {
		t.Errorf("remaining %d, %v", remaining, err)
	}
	served["looks"] += n.burst(t, "looks", 200, 8, 100)
	storetest.Until(t, "the outage to be known", n.Away)
	served["late"] += n.burst(t, "late", 200, 8, 100)
	unlock()
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	for key, before := range served {
		if got := before + n.burst(t, key, 200, 8, 100); got != 100 {
			t.Errorf("%s: served %d of 100", key, got)
		}
	}
}

// A node that knew an account yesterday reads anew what others counted of it today.
func TestDayBeganBeforeTheWriteLockIsHeld(t *testing.T) {
	t.Parallel()
	c := newTestClock()
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{Now: c.now})
	first := watch(t, st, quota.Options{Advance: true, Now: c.now})
	second := watch(t, storetest.OpenURL(t, url, store.Options{Now: c.now}), quota.Options{Advance: true, Now: c.now})
	first.burst(t, "acc", 5, 1, 100)
	second.burst(t, "acc", 5, 1, 100)
	c.toMidnight(time.Second)
	served := first.burst(t, "acc", 60, 1, 100)
	first.Settle()
	unlock := lockDatabase(t, url)
	if served += second.burst(t, "acc", 200, 1, 100); served != 100 || !second.Away() {
		t.Errorf("served %d of 100; away: %t", served, second.Away())
	}
	unlock()
	closeNode(t, first.Store)
	closeNode(t, second.Store)
	if got := counted(t, st, "acc"); got != 100 {
		t.Errorf("the ledger counts %d", got)
	}
}

// A block that goes home while the ledger is away, and a request that is given back then, make no room twice.
func TestNothingIsMadeWhileTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	c := newTestClock()
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{Now: c.now})
	n := watch(t, st, quota.Options{Advance: true, Now: c.now})
	const limit = 10_000
	served := n.burst(t, "acc", 2000, 8, limit)
	n.Settle()
	if n.Held("acc") < 100 {
		t.Fatalf("%d requests are held in advance: the test shows nothing", n.Held("acc"))
	}
	unlock := lockDatabase(t, url)
	c.move(2 * time.Second)
	storetest.Until(t, "the block to be given up", func() bool { return n.Held("acc") == 0 })
	storetest.Until(t, "the outage to be known", n.Away)
	for range 100 {
		if n.get(t, "acc", limit) {
			n.GiveBack("acc", quota.Day, c.day()+int64(quota.Day/time.Second))
		}
	}
	served += n.burst(t, "acc", 12_000, 8, limit)
	if served != limit {
		t.Errorf("served %d, want %d", served, limit)
	}
	unlock()
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); got != served {
		t.Errorf("the ledger counts %d, served were %d", got, served)
	}
}

// Midnight passes while the ledger is away: each day is written to itself.
func TestMidnightWhileTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	c := newTestClock()
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{Now: c.now})
	n := watch(t, st, quota.Options{Advance: true, Now: c.now})
	n.burst(t, "acc", 30, 1, 100)
	unlock := lockDatabase(t, url)
	first := n.burst(t, "acc", 50, 4, 100)
	storetest.Until(t, "the outage to be known", n.Away)
	yesterday := c.day()
	c.toMidnight(time.Second)
	second := n.burst(t, "acc", 200, 4, 100)
	unlock()
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	closeNode(t, n.Store)
	today := counted(t, st, "acc")
	r, _, err := st.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaAdd, Key: "acc", Period: quota.Day, Start: yesterday}})
	if err != nil || first != 50 || second != 100 || today != 100 || r[0].Used != 80 {
		t.Errorf("served %d, then %d; counted %d, then %d; %v", first, second, r[0].Used, today, err)
	}
}

// The day is the ledger's, also where a node's own clock is wrong and the ledger is away; and who waits for it when it
// goes away may have the last request that remained.
func TestClockIsWrongWhileTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{13 * time.Hour, -13 * time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			c := newTestClock()
			l := &held{Ledger: storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})}
			n := watch(t, l, quota.Options{Advance: true, Now: func() time.Time { return c.now().Add(off) }})
			n.Sync()
			n.burst(t, "acc", 99, 1, 100)
			l.deaf.Store(true)
			want := func(what string, reached bool, remaining int64) {
				t.Helper()
				got, err := n.Get(t.Context(), "acc", limiter.Rate{Period: quota.Day, Limit: 100})
				reset := c.day() + int64(quota.Day/time.Second)
				if err != nil || got != (limiter.Context{Limit: 100, Remaining: remaining, Reset: reset, Reached: reached}) {
					t.Errorf("%s: %+v, want reset %d, %v", what, got, reset, err)
				}
			}
			want("the last one", false, 0)
			want("one too many", true, 0)
			if !n.Away() {
				t.Error("the ledger is not away: the test shows nothing")
			}
			c.toMidnight(time.Second)
			want("the next day's first", false, 99)
			l.deaf.Store(false)
			closeNode(t, n.Store)
		})
	}
}

// A Redis that comes back empty is told what the nodes know, whether they saw it go or not.
func TestRedisComesBackEmpty(t *testing.T) {
	t.Parallel()
	waitForMidnight(t)
	for name, seen := range map[string]bool{"seen": true, "unseen": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := storetest.NewRedis(t)
			// A client each, as processes have.
			nodes := []*watched{watch(t, openRedis(t, srv), quota.Options{Volatile: true}), watch(t, openRedis(t, srv), quota.Options{Volatile: true})}
			for _, n := range nodes {
				n.burst(t, "both", 30, 4, 100)
			}
			nodes[0].burst(t, "first", 90, 4, 100)
			nodes[1].burst(t, "second", 90, 4, 100)
			srv.Stop()
			if seen {
				for _, n := range nodes {
					storetest.Until(t, "the outage to be known", func() bool { n.get(t, "other", 100); return n.Away() })
				}
			}
			srv.Lose(t)
			srv.Start(t)
			if !seen { // a look must not hide the restart from those who count
				for range 3 {
					_, _ = nodes[1].Peek(context.Background(), "second", limiter.Rate{Period: quota.Day, Limit: 100})
				}
			}
			for _, key := range []string{"first", "second", "both"} {
				for _, n := range []*watched{nodes[1], nodes[0]} {
					n.burst(t, key, 1, 1, 100) // the node notices, at the latest now
				}
			}
			for _, n := range nodes {
				storetest.Until(t, "recovery", func() bool { return !n.Away() })
				n.Settle()
			}
			// The first node knows "first" and the second "second": that is where they may not begin anew.
			// Two requests of each were served above, perhaps.
			for i, key := range []string{"first", "second"} {
				if got := nodes[i].burst(t, key, 200, 8, 100); got > 10 {
					t.Errorf("%s: served %d more after 90 of 100", key, got)
				}
			}
			if got := nodes[0].burst(t, "both", 200, 8, 100) + nodes[1].burst(t, "both", 200, 8, 100); got > 40 {
				t.Errorf("both: served %d more after 60 of 100", got)
			}
			for _, n := range nodes {
				closeNode(t, n.Store)
			}
		})
	}
}
