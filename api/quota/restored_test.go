package quota_test

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// forgetful is a server of counters whose place another can take that lacks what was counted since Keep.
type forgetful interface {
	server
	Keep(t testing.TB)
	TakeOver(t testing.TB)
}

// accepting is what a Backend on such a server can do in addition.
type accepting interface {
	quota.Backend
	AcceptCounters()
	CountersOf() string
}

// forgetfulServers runs test on each of them. open returns the backend of one more node.
func forgetfulServers(t *testing.T, test func(t *testing.T, srv forgetful, open func() accepting, opts quota.Options)) {
	t.Helper()
	storetest.AwayFromMidnight(t)
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		srv := storetest.NewPostgresServer(t)
		address := srv.NewDatabase(t)
		test(t, srv, func() accepting { return storetest.OpenURL(t, address, store.Options{}) }, quota.Options{Advance: true, Replaceable: true})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		srv := storetest.NewRedis(t)
		test(t, srv, func() accepting { return openRedis(t, srv) }, quota.Options{Volatile: true, Replaceable: true})
	})
}

// What nodes knew of a counter on former servers is made good once, in whatever order they report it, however often and
// however late, and whatever is counted before, between and after.
func TestCountersAreMadeGood(t *testing.T) {
	t.Parallel()
	forgetfulServers(t, func(t *testing.T, srv forgetful, open func() accepting, _ quota.Options) {
		const nodes, accounts, losses = 4, 80, 4
		var want [accounts]int64
		var knows [nodes][accounts]map[string]int64
		var told [nodes][accounts]bool
		var backends [nodes]accepting
		for i := range backends {
			backends[i] = open()
		}
		today := counterOf(t, open(), "none").Start
		do := func(l accepting, op store.QuotaOp, account int) store.QuotaResult {
			t.Helper()
			op.Key, op.Period, op.Start, op.Limit = strconv.Itoa(account), quota.Day, today, 1<<40
			results, _, err := l.ApplyQuota(t.Context(), []store.QuotaOp{op})
			if err != nil {
				t.Fatal(err)
			}
			if results[0].Start != today {
				t.Fatal("midnight has passed")
			}
			return results[0]
		}
		ask := func(node, account int, n int64) (used int64) {
			t.Helper()
			l := backends[node]
			for range 1 + rand.IntN(2) { // the answer may be lost
				if !told[node][account] && knows[node][account] != nil {
					do(l, store.QuotaOp{Kind: store.QuotaRestore, Known: knows[node][account]}, account)
				}
			}
			kind := []store.QuotaKind{store.QuotaTake, store.QuotaAdd}[rand.IntN(2)]
			if want[account] += n; n == 0 {
				kind = store.QuotaPeek
			}
			r := do(l, store.QuotaOp{Kind: kind, Need: n, N: n}, account)
			knows[node][account], told[node][account] = countsOf(l, r), true
			return r.Used
		}
		count := func(requests int, awake []int) {
			for range requests {
				ask(awake[rand.IntN(len(awake))], rand.IntN(accounts), 1+rand.Int64N(9))
			}
		}
		accept := func() {
			t.Helper()
			for _, l := range backends {
				storetest.Until(t, "the server to answer again", func() bool {
					_, _, err := l.ApplyQuota(t.Context(), []store.QuotaOp{{Kind: store.QuotaPeek, Key: "none", Period: quota.Day}})
					l.AcceptCounters()
					return err == nil
				})
			}
		}
		awake := rand.Perm(nodes)
		for loss := range losses {
			count(rand.IntN(5*accounts), awake)
			do(backends[0], store.QuotaOp{Kind: store.QuotaAdd, N: 1}, accounts) // so that Redis has something to keep
			srv.Keep(t)
			accept()
			count(rand.IntN(5*accounts), awake)
			for account := range accounts { // one of them asks last, and knows what the server knows
				ask(awake[rand.IntN(len(awake))], account, 0)
			}
			srv.TakeOver(t)
			accept()
			told = [nodes][accounts]bool{}
			awake = rand.Perm(nodes)[:1+rand.IntN(nodes)] // the others are frozen, and report later
			if loss == losses-1 {
				awake = rand.Perm(nodes)
			}
			newcomer := open()
			for account := range accounts {
				n := rand.Int64N(5)
				want[account] += n
				do(newcomer, store.QuotaOp{Kind: store.QuotaTake, Need: n}, account)
			}
			for range rand.IntN(2) {
				count(3*accounts, awake)
			}
			for account := range accounts {
				ask(awake[0], account, 0) // nobody but the newcomer may know what that was granted
			}
		}
		for account := range accounts {
			for _, node := range awake {
				ask(node, account, 0)
			}
			if used := ask(0, account, 0); used != want[account] {
				t.Errorf("account %d: %d are counted, want %d: %v", account, used, want[account], knows[0][account])
			}
		}
	})
}

// countsOf is what a node knows from l's answer: how much each server counted.
func countsOf(l accepting, r store.QuotaResult) map[string]int64 {
	counts, own := map[string]int64{}, r.Used
	for server, n := range r.Former {
		counts[server] = n
		own -= n
	}
	counts[l.CountersOf()] = own
	return counts
}

// Nodes that go back to a server that they counted with before do not count again what it has counted itself.
func TestServerThatReturns(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	flip := func(t *testing.T, first, second accepting) {
		t.Helper()
		today := counterOf(t, first, "acc").Start
		known := map[string]int64{}
		on := func(l accepting, n, want int64) {
			t.Helper()
			results, _, err := l.ApplyQuota(t.Context(), []store.QuotaOp{
				{Kind: store.QuotaRestore, Key: "acc", Period: quota.Day, Start: today, Known: known},
				{Kind: store.QuotaTake, Key: "acc", Period: quota.Day, Need: n, Limit: 1000},
			})
			if err != nil {
				t.Fatal(err)
			}
			if known = countsOf(l, results[1]); results[1].Used != want {
				t.Errorf("%d used, want %d: %v", results[1].Used, want, known)
			}
		}
		on(first, 60, 60)
		on(second, 15, 75)
		on(first, 0, 75)
		on(second, 0, 75)
		on(second, 5, 80)
		on(first, 7, 87)
		on(second, 0, 87)
		known = map[string]int64{first.CountersOf(): 70} // a node that knew more reports late
		on(second, 0, 90)
		on(first, 1, 91)
	}
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		srv := storetest.NewPostgresServer(t)
		address := srv.NewDatabase(t)
		storetest.OpenURL(t, address, store.Options{}).Close()
		srv.Keep(t)
		other := srv.Split(t)
		flip(t, storetest.OpenURL(t, address, store.Options{}), storetest.OpenURL(t, strings.Replace(address, filepath.Dir(srv.Socket()), filepath.Dir(other.Socket()), 1), store.Options{}))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		flip(t, openRedis(t, storetest.NewRedis(t)), openRedis(t, storetest.NewRedis(t)))
	})
	// Both have counted since the day before yesterday, so neither kept what the other counts.
	t.Run("redis, for days", func(t *testing.T) {
		t.Parallel()
		open := func() accepting {
			skew := -48 * time.Hour
			l, err := quota.OpenRedis(storetest.NewRedis(t).URL(), func() time.Duration { return skew })
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			if _, _, err := l.ApplyQuota(t.Context(), []store.QuotaOp{{Kind: store.QuotaTake, Key: "x", Period: quota.Day, Need: 1, Limit: 9}}); err != nil {
				t.Fatal(err)
			}
			skew = 0
			return l
		}
		flip(t, open(), open())
	})
}

func counterOf(t *testing.T, l quota.Backend, key string) store.QuotaResult {
	t.Helper()
	r, _, err := l.ApplyQuota(t.Context(), []store.QuotaOp{{Kind: store.QuotaPeek, Key: key, Period: quota.Day}})
	if err != nil {
		t.Fatal(err)
	}
	return r[0]
}

// What nodes serve while a server is away that comes back without its last counts is counted in addition to what they
// knew, whichever of them reports first: no account is served more than its limit.
func TestServedWhileCountersAreLost(t *testing.T) {
	t.Parallel()
	forgetfulServers(t, func(t *testing.T, srv forgetful, open func() accepting, opts quota.Options) {
		const limit, accounts = 200, 20
		nodes := []*watched{watch(t, open(), opts), watch(t, open(), opts), watch(t, open(), opts)}
		var served [accounts]int64
		ask := func(account, node, requests int) {
			served[account] += nodes[node%len(nodes)].burst(t, strconv.Itoa(account), requests, 4, limit)
		}
		recovered := func() {
			t.Helper()
			for _, n := range nodes {
				storetest.Until(t, "recovery", func() bool { return !n.Away() })
			}
		}
		ask(0, 0, 1)
		srv.Keep(t)
		recovered()
		for account := range accounts {
			ask(account, account, 3)
			ask(account, account+1, 60)
		}
		for _, n := range nodes {
			n.Settle()
		}
		srv.Stop()
		for _, n := range nodes {
			storetest.Until(t, "the outage to be noticed", func() bool { n.get(t, "another", 1<<40); return n.Away() })
		}
		for account := range accounts {
			ask(account, account, 80)
		}
		srv.TakeOver(t)
		for account := range accounts {
			ask(account, account+2, 5) // it never knew the account
		}
		if _, redis := srv.(*storetest.Redis); redis { // it starts as another server, before all have reported
			srv.Stop()
			srv.Start(t)
		}
		recovered()
		l := open()
		for account, n := range served {
			storetest.Until(t, "counter "+strconv.Itoa(account)+" to be told", func() bool { return counterOf(t, l, strconv.Itoa(account)).Used >= n })
		}
		for account := range accounts {
			for node := range nodes {
				ask(account, node, limit)
			}
		}
		for account, n := range served {
			if used := counterOf(t, l, strconv.Itoa(account)).Used; n != limit || used != limit {
				t.Errorf("account %d: served %d of %d, counted %d", account, n, limit, used)
			}
		}
		for _, n := range nodes {
			closeNode(t, n.Store)
		}
	})
}

// Requests that go on while a server forgets its last counts and is told of them are all counted.
func TestCountersAreLostUnderLoad(t *testing.T) {
	t.Parallel()
	forgetfulServers(t, func(t *testing.T, srv forgetful, open func() accepting, opts quota.Options) {
		const accounts, limit = 5, 1 << 40
		nodes := []*watched{watch(t, open(), opts), watch(t, open(), opts), watch(t, open(), opts)}
		var served [accounts]atomic.Int64
		stop := make(chan struct{})
		var load sync.WaitGroup
		for _, n := range nodes {
			for account := range accounts {
				load.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if n.get(t, strconv.Itoa(account), limit) {
							served[account].Add(1)
						}
						time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // a customer's pace
					}
				})
			}
		}
		some := func() {
			t.Helper()
			before := served[0].Load()
			storetest.Until(t, "requests to be served", func() bool { return served[0].Load() > before+100 })
		}
		some()
		srv.Keep(t)
		some()
		srv.TakeOver(t)
		for _, n := range nodes {
			storetest.Until(t, "recovery", func() bool { return !n.Away() })
		}
		some()
		close(stop)
		load.Wait()
		for _, n := range nodes {
			closeNode(t, n.Store)
		}
		l := open()
		for account := range served {
			if got, want := counterOf(t, l, strconv.Itoa(account)).Used, served[account].Load(); got < want {
				t.Errorf("account %d: served %d, counted %d", account, want, got)
			}
		}
	})
}
