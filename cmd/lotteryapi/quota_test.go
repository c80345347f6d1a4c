package main

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

func TestQuotaOverThreeNodes(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	eachCounters(t, func(t *testing.T, url string, args []string, redis bool) {
		f := newFleet(t, 3, args)
		free, pro := newKey(t, url, "free@example.com"), newKey(t, url, "pro@example.com", "--plan", "pro")

		if got := f.ask(t, free, 1000, 1000); got[http.StatusOK] != 100 || got[http.StatusTooManyRequests] != 900 {
			t.Fatalf("1,000 concurrent requests on the Free plan: %v, want 100 of 200 and 900 of 429", got)
		}
		served := f.ask(t, pro, 10_500, 64)[http.StatusOK]
		if served > 10_000 || (redis && served != 10_000) {
			t.Fatalf("10,500 requests on the Pro plan: %d served", served)
		}
		t.Logf("10,500 requests on the Pro plan: %d served at once", served)
		if served = f.fill(t, pro, served, 10_000); served != 10_000 {
			t.Errorf("the Pro plan's day: %d served", served)
		}

		// An upgrade and a downgrade of an account that has used up its day.
		within := func(what string, done time.Time, ok func(base string) bool) {
			t.Helper()
			for _, n := range f.nodes {
				storetest.Until(t, what, func() bool { return ok(n.base) })
			}
			if took := time.Since(done); took > 2*time.Second {
				t.Errorf("%s: effective on every node after %s", what, took)
			}
		}
		used := 100
		within("the upgrade", setPlan(t, url, "set-plan", "free@example.com", "pro"), func(base string) bool {
			res, _, err := f.send(base, http.MethodGet, countedPath, free, nil)
			if err != nil || res.StatusCode != http.StatusOK {
				return false
			}
			// What another node holds in advance counts as used: exact at first, then an upper bound.
			used++
			left, err := strconv.Atoi(res.Header.Get("X-Ratelimit-Remaining"))
			if most := 10_000 - used; err != nil || left > most || left < most-2*10_000/16 || ((redis || used == 101) && left != most) {
				t.Errorf("request %d after the upgrade: %d remain (%v)", used, left, err)
			}
			return true
		})
		used += f.ask(t, free, 200, 8)[http.StatusOK]
		if used != 303 {
			t.Errorf("%d served, want 303", used)
		}
		within("the downgrade", setPlan(t, url, "set-plan", "free@example.com", "free"), func(base string) bool {
			res, _, err := f.send(base, http.MethodGet, countedPath, free, nil)
			if err == nil && res.StatusCode == http.StatusOK {
				used++
			}
			return err == nil && res.StatusCode == http.StatusTooManyRequests
		})
		within("a limit of its own", setPlan(t, url, "set-limit", "free@example.com", "1000"), func(base string) bool {
			res, _, err := f.send(base, http.MethodGet, countedPath, free, nil)
			if err == nil && res.StatusCode == http.StatusOK {
				used++
				return true
			}
			return false
		})
		if used = f.fill(t, free, used, 1000); used != 1000 {
			t.Errorf("a limit of 1,000: %d served", used)
		}
		f.client.CloseIdleConnections()
		for _, n := range f.nodes {
			_ = n.cmd.Process.Signal(syscall.SIGTERM)
		}
		for _, n := range f.nodes {
			<-n.exited
			if code := n.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit code %d\n%s", code, n.stderr)
			}
		}
		if !redis {
			if got, gotPro := usedToday(t, url, "free@example.com"), usedToday(t, url, "pro@example.com"); got != 1000 || gotPro != 10_000 {
				t.Errorf("the database counts %d and %d", got, gotPro)
			}
		}
	})
}

// The plan is lowered while requests run: each node refuses within two seconds, and never is more served than the
// higher limit before, or the lower one after.
func TestDowngradeInFlight(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	url := storetest.EmptyPostgres(t)
	f := newFleet(t, 3, serveArgs(url))
	key := newKey(t, url, "dev@example.com", "--plan", "pro")
	var served atomic.Int64
	var stop atomic.Bool
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			for !stop.Load() {
				served.Add(int64(f.ask(t, key, 1, 1)[http.StatusOK]))
				time.Sleep(2 * time.Millisecond) // slowly, so that the day is not used up
			}
		})
	}
	storetest.Until(t, "some requests", func() bool { return served.Load() > 300 })
	done := setPlan(t, url, "set-plan", "dev@example.com", "free")
	time.Sleep(time.Until(done.Add(2 * time.Second))) // the promised time
	after := served.Load()
	time.Sleep(300 * time.Millisecond)
	if late := served.Load() - after; late > 6 { // requests that were in flight
		t.Errorf("%d served later than two seconds after the downgrade", late)
	}
	setPlan(t, url, "set-plan", "dev@example.com", "pro")
	before := served.Load()
	storetest.Until(t, "the upgrade", func() bool { return served.Load() > before+50 })
	stop.Store(true)
	group.Wait()
	total := f.fill(t, key, int(served.Load()), 10_000)
	if total != 10_000 {
		t.Errorf("served %d in all", total)
	}
}

// A node dies in the middle and another takes its place: the limit is never exceeded, and no more is lost than the
// block that it held and the responses that did not arrive.
func TestQuotaOverKilledNodes(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	eachCounters(t, func(t *testing.T, url string, args []string, redis bool) {
		const limit, workers = 3000, 32
		f := newFleet(t, 3, args)
		key := newKey(t, url, "dev@example.com", "--plan", "pro")
		setPlan(t, url, "set-limit", "dev@example.com", strconv.Itoa(limit))
		time.Sleep(time.Second) // until every node has it
		var got map[int]int
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			got = f.ask(t, key, 5000, workers)
		}()
		storetest.Until(t, "the first third", func() bool { return f.next.Load() > limit/3 })
		killed := f.nodes[0]
		_ = killed.cmd.Process.Kill()
		<-killed.exited
		f.replace(0, start(t, t.TempDir(), args...))
		<-ended
		served := got[http.StatusOK]
		if served > limit {
			t.Fatalf("served %d of a limit of %d", served, limit)
		}
		time.Sleep(2500 * time.Millisecond) // for idle blocks to be returned
		served += f.ask(t, key, 500, 16)[http.StatusOK]
		forfeited := limit / 16
		if redis {
			forfeited = 0
		}
		if least := limit - forfeited - min(workers, got[lost]); served > limit || served < least {
			t.Errorf("served %d of a limit of %d, want at least %d", served, limit, least)
		}
		t.Logf("served %d; %d got no answer", served, got[lost])
	})
}

func TestQuotaOnOneSQLiteNode(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	url := storetest.EmptyURL(t)
	f := newFleet(t, 1, serveArgs(url))
	key := newKey(t, url, "a@example.com")
	if got := f.ask(t, key, 1000, 1000); got[http.StatusOK] != 100 || got[http.StatusTooManyRequests] != 900 {
		t.Fatalf("1,000 concurrent requests: %v, want 100 of 200 and 900 of 429", got)
	}

	// SIGTERM in the middle: what was held in advance is returned, and the counter equals what was served.
	large := newKey(t, url, "b@example.com", "--plan", "pro")
	served := f.ask(t, large, 1500, 16)[http.StatusOK]
	ended := make(chan map[int]int)
	go func() { ended <- f.ask(t, large, 1500, 16) }()
	time.Sleep(50 * time.Millisecond)
	if code := f.nodes[0].stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, f.nodes[0].stderr)
	}
	got := <-ended
	served += got[http.StatusOK]
	// An answer may be lost in transit.
	if count := usedToday(t, url, "b@example.com"); count < served || count > served+16 {
		t.Errorf("after SIGTERM the database counts %d, served were %d", count, served)
	}

	// kill -9, twenty times, with requests under way.
	small := newKey(t, url, "c@example.com")
	served, unanswered := 0, 0
	for round := range 20 {
		f.replace(0, start(t, t.TempDir(), serveArgs(url)...))
		node := f.nodes[0]
		died := make(chan struct{})
		go func() {
			defer close(died)
			time.Sleep(time.Duration(2*(round%10)) * time.Millisecond)
			_ = node.cmd.Process.Kill()
			<-node.exited
		}()
		got := f.ask(t, small, 6, 2)
		served, unanswered = served+got[http.StatusOK], unanswered+got[lost]
		<-died
	}
	f.replace(0, start(t, t.TempDir(), serveArgs(url)...))
	rest := f.ask(t, small, 200, 8)[http.StatusOK]
	t.Logf("20 kills: %d served between, %d got no answer; %d afterwards", served, unanswered, rest)
	if served+rest > 100 || served+rest+unanswered < 100 {
		t.Errorf("%d served in all, %d got no answer", served+rest, unanswered)
	}
	if count := usedToday(t, url, "c@example.com"); count != 100 {
		t.Errorf("the database counts %d", count)
	}
}
