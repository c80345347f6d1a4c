package quota_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ulule/limiter/v3"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// While the backend's server is down each node admits, without delay, what remained at its last contact; when the
// server is back, all of that is written.
func TestOutage(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	servers(t, func(t *testing.T, srv server, l quota.Backend, advance bool) {
		const limit, small = 1000, 100
		nodes := []*watched{watch(t, l, quota.Options{Advance: advance, Volatile: !advance, Replaceable: true}), watch(t, l, quota.Options{Advance: advance, Volatile: !advance, Replaceable: true})}
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
				t.Errorf("node %d: the metric does not say that the backend is away", i)
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
				t.Errorf("node %d: the metric still says that the backend is away", i)
			}
			closeNode(t, n.Store)
		}
		if got, gotSmall := counted(t, l, "acc"), counted(t, l, "small"); got != total || gotSmall != totalSmall {
			t.Errorf("the backend counts %d and %d, served were %d and %d", got, gotSmall, total, totalSmall)
		}
	})
}

// The same under continuous load. What was in flight when the server died may be counted twice,
// but never goes uncounted.
func TestOutageUnderLoad(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	servers(t, func(t *testing.T, srv server, l quota.Backend, advance bool) {
		const limit, workers = 1_000_000, 8
		n := watch(t, l, quota.Options{Advance: advance, Volatile: !advance, Replaceable: true})
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
			storetest.Until(t, "requests to be served without the backend", func() bool { return n.served.Load() > served+500 })
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
			t.Errorf("the backend counts %d, served were %d", got, served)
		}
		t.Logf("served %d, counted %d", served, got)
	})
}

// A block or request given back while the backend is away makes room once, not twice.
func TestNothingIsMadeWhileTheBackendIsAway(t *testing.T) {
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
		t.Errorf("the backend counts %d, served were %d", got, served)
	}
}

// Midnight passes while the backend is away: each day's requests are written to that day.
func TestMidnightWhileTheBackendIsAway(t *testing.T) {
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

// The day is the backend's even if a node's own clock is wrong and the backend is away; and a request that waits for
// the backend as it goes away may use the last one that remained.
func TestClockIsWrongWhileTheBackendIsAway(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{13 * time.Hour, -13 * time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			c := newTestClock()
			l := &held{Backend: storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})}
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
				t.Error("the backend is not away: the test shows nothing")
			}
			c.toMidnight(time.Second)
			want("the next day's first", false, 99)
			l.deaf.Store(false)
			closeNode(t, n.Store)
		})
	}
}

// A Redis that comes back empty is told what the nodes know, whether or not they noticed its absence.
func TestRedisComesBackEmpty(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	for name, seen := range map[string]bool{"seen": true, "unseen": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := storetest.NewRedis(t)
			// One client per node, as with separate processes.
			nodes := []*watched{watch(t, openRedis(t, srv), quota.Options{Volatile: true, Replaceable: true}), watch(t, openRedis(t, srv), quota.Options{Volatile: true, Replaceable: true})}
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
			if !seen { // a peek must not hide the restart from the loop
				for range 3 {
					_, _ = nodes[1].Peek(context.Background(), "second", limiter.Rate{Period: quota.Day, Limit: 100})
				}
			}
			for _, key := range []string{"first", "second", "both"} {
				for _, n := range []*watched{nodes[1], nodes[0]} {
					n.burst(t, key, 1, 1, 100) // the node notices now at the latest
				}
			}
			for _, n := range nodes {
				storetest.Until(t, "recovery", func() bool { return !n.Away() })
				n.Settle()
			}
			// The first node knows "first" and the second "second": there the count must not restart. Up to two
			// requests on each may have been served above.
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

// A PostgreSQL without its synchronous standby commits but does not answer: what it was told is
// still counted only once.
func TestStandbyIsGone(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	server := storetest.NewPostgresServer(t)
	url := server.NewDatabase(t)
	st := storetest.OpenURL(t, url, store.Options{})
	n := watch(t, st, quota.Options{Advance: true})
	n.burst(t, "acc", 10, 1, 100)
	n.Settle()
	standby := func(names string) {
		t.Helper()
		storetest.Exec(t, url, "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'", "SELECT pg_reload_conf()")
	}
	standby("gone")
	served := int64(10)
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(300 * time.Millisecond) {
		n.burst(t, "acc", 1, 1, 100)
		served++
	}
	if !n.Away() {
		t.Error("it answers")
	}
	standby("")
	storetest.Until(t, "its answer", func() bool { return !n.Away() })
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); n.served.Load() != served || got < served || got > served+1 {
		t.Errorf("served %d of %d, counted %d", n.served.Load(), served, got)
	}
}

// A store that comes and goes does not fill the log: it is away until it has answered for a while, and the next outage is
// logged anew.
func TestStoreThatComesAndGoesIsLogged(t *testing.T) {
	t.Parallel()
	srv := storetest.NewRedis(t)
	admin := srv.Client(t)
	n := watch(t, openRedis(t, srv), quota.Options{Volatile: true, Replaceable: true})
	defer closeNode(t, n.Store)
	said := func(begins, ends int) bool {
		log := n.log.String()
		return strings.Count(log, "do not answer") == begins && strings.Count(log, "answer again") == ends
	}
	for outage := 1; outage <= 5; outage++ {
		for _, memory := range []string{"1", "0"} { // too little to count, and no limit
			if err := admin.ConfigSet(t.Context(), "maxmemory", memory).Err(); err != nil {
				t.Fatal(err)
			}
			n.burst(t, "acc", 1, 1, 100)
			storetest.Until(t, "outage or recovery", func() bool { return n.Away() == (memory == "1") })
		}
		if !said(min(outage, 2), 1) {
			t.Errorf("after %d outages, the log says:\n%s", outage, n.log)
		}
	}
	storetest.Until(t, "its end to be logged", func() bool { return said(2, 2) })
}
