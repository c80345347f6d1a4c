package quota_test

import (
	"math/rand/v2"
	"strconv"
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

// What nodes knew of a counter on former servers is made good once, in whatever order they report it, however often, and
// whatever is counted before, between and after.
func TestCountersAreMadeGood(t *testing.T) {
	t.Parallel()
	forgetfulServers(t, func(t *testing.T, srv forgetful, open func() accepting, _ quota.Options) {
		const nodes, accounts, losses = 3, 80, 3
		backends := make([]accepting, nodes+1) // the last one reports nothing: it is started after each loss
		knows := make([][accounts]int64, nodes)
		for i := range nodes {
			backends[i] = open()
		}
		var want [accounts]int64
		today := counterOf(t, open(), "none").Start
		do := func(node int, kind store.QuotaKind, account int, n int64) store.QuotaResult {
			t.Helper()
			op := store.QuotaOp{Kind: kind, Key: strconv.Itoa(account), Period: quota.Day, Start: today, Need: n, N: n, Limit: 1 << 40}
			results, _, err := backends[node].ApplyQuota(t.Context(), []store.QuotaOp{op})
			if err != nil {
				t.Fatal(err)
			}
			if results[0].Start != today {
				t.Fatal("midnight has passed")
			}
			return results[0]
		}
		change := func(node, account int) store.QuotaResult {
			kind, n := store.QuotaTake, 1+rand.Int64N(9)
			if rand.IntN(2) > 0 {
				kind = store.QuotaAdd
			}
			want[account] += n
			return do(node, kind, account, n)
		}
		count := func(changes int) {
			for range changes {
				node, account := rand.IntN(nodes), rand.IntN(accounts)
				knows[node][account] = change(node, account).Used
			}
		}
		accept := func() {
			t.Helper()
			for _, l := range backends[:nodes] {
				storetest.Until(t, "the server to answer again", func() bool {
					_, _, err := l.ApplyQuota(t.Context(), []store.QuotaOp{{Kind: store.QuotaPeek, Key: "none", Period: quota.Day}})
					l.AcceptCounters()
					return err == nil
				})
			}
		}
		for loss := range losses {
			count(rand.IntN(5 * accounts))
			do(0, store.QuotaAdd, accounts, 1) // so that Redis has something to keep
			srv.Keep(t)
			accept()
			count(5 * accounts)
			known := want
			for account := range accounts { // a node that asks again knows all
				node := rand.IntN(nodes)
				knows[node][account] = do(node, store.QuotaPeek, account, 0).Used
				if knows[node][account] != want[account] {
					t.Fatalf("loss %d, account %d: %d are counted, want %d", loss, account, knows[node][account], want[account])
				}
			}
			srv.TakeOver(t)
			accept()
			backends[nodes] = open()
			for account := range accounts {
				var steps []func()
				for node := range nodes {
					for range 1 + rand.IntN(2) { // the answer may be lost
						steps = append(steps, func() { do(node, store.QuotaRestore, account, knows[node][account]) })
					}
				}
				for range rand.IntN(6) {
					steps = append(steps, func() { change(rand.IntN(nodes+1), account) })
				}
				rand.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
				for _, step := range steps {
					step()
				}
				node := rand.IntN(nodes)
				if knows[node][account] = do(node, store.QuotaPeek, account, 0).Used; knows[node][account] != want[account] {
					t.Errorf("loss %d, account %d: %d are counted, want %d, of which %d before the loss", loss, account, knows[node][account], want[account], known[account])
				}
			}
			for i := range nodes {
				for account := range accounts {
					if i > 0 || rand.IntN(2) > 0 {
						knows[i][account] = do(i, store.QuotaPeek, account, 0).Used
					}
				}
			}
		}
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
		recovered()
		for account := range accounts {
			ask(account, account+2, 5) // it never knew the account
		}
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
