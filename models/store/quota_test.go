package store_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// quotaClock is a backend's clock that a test sets.
type quotaClock struct{ at atomic.Int64 }

func (c *quotaClock) now() time.Time      { return time.Unix(c.at.Load(), 0).UTC() }
func (c *quotaClock) skew() time.Duration { return time.Until(c.now()) }

// taking and peeking are what a request does to the day's counter, and what only reads it.
func taking(key string, need, limit int64) store.QuotaOp {
	return store.QuotaOp{Kind: store.QuotaTake, Key: key, Period: aDay, Need: need, Limit: limit}
}

func peeking(key string) store.QuotaOp {
	return store.QuotaOp{Kind: store.QuotaPeek, Key: key, Period: aDay}
}

func applyQuota(t *testing.T, st *store.Store, ops ...store.QuotaOp) []store.QuotaResult {
	t.Helper()
	results, _, err := st.ApplyQuota(context.Background(), ops)
	if err != nil {
		t.Fatalf("%+v: %v", ops, err)
	}
	return results
}

// A take grants what is needed while the limit allows. In advance it grants at most a sixteenth of what is then left,
// at most the recent use, and nothing if 256 or fewer are left.
func TestQuotaTake(t *testing.T) {
	t.Parallel()
	cases := []struct {
		used, need, recent, held, limit int64
		want                            int64
	}{
		{used: 0, need: 1, limit: 100, want: 1},
		{used: 99, need: 1, limit: 100, want: 1},
		{used: 100, need: 1, limit: 100, want: 0},
		{used: 98, need: 5, limit: 100, want: 2},
		{used: 3000, need: 1, limit: 100, want: 0}, // after a downgrade
		{used: 0, need: 1, limit: 0, want: 0},
		{used: 0, need: 0, recent: 1000, limit: 100, want: 0},
		{used: 0, need: 1, recent: 1000, limit: 257, want: 1},          // 256 left
		{used: 0, need: 1, recent: 1000, limit: 258, want: 1 + 257/16}, // 257 left
		{used: 0, need: 1, recent: 1000, limit: 10_000, want: 1 + 9999/16},
		{used: 0, need: 1, recent: 10, limit: 10_000, want: 11},
		{used: 0, need: 1, recent: 0, limit: 10_000, want: 1},
		{used: 0, need: 0, recent: 1000, held: 600, limit: 10_000, want: 25},
		{used: 0, need: 0, recent: 1000, held: 700, limit: 10_000, want: 0},
		{used: 0, need: 3, recent: 10, held: 50, limit: 10_000, want: 3},
		{used: 9700, need: 100, recent: 1000, limit: 10_000, want: 100},
		{used: 9700, need: 20, recent: 1000, limit: 10_000, want: 20 + 280/16},
	}
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		for i, c := range cases {
			key := fmt.Sprintf("acc-%d", i)
			got := applyQuota(t, st,
				taking(key, c.used, c.used),
				store.QuotaOp{Kind: store.QuotaTake, Key: key, Period: aDay, Need: c.need, Recent: c.recent, Held: c.held, Limit: c.limit})[1]
			if got.Granted != c.want || got.Used != c.used+c.want {
				t.Errorf("%+v: granted %d, used %d", c, got.Granted, got.Used)
			}
			if peek := applyQuota(t, st, peeking(key))[0]; peek.Used != c.used+c.want || peek.Granted != 0 {
				t.Errorf("%+v: afterwards %+v", c, peek)
			}
		}
	})
}

// Operations of one batch act in order, on one key and on several, on the day that they name or on the clock's.
func TestQuotaBatch(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		var c quotaClock
		today := time.Now().UTC().Truncate(aDay).AddDate(0, 0, 40)
		c.at.Store(today.Unix() + 3600)
		st := storetest.OpenURL(t, url, store.Options{Now: c.now, Skew: c.skew})
		yesterday := today.AddDate(0, 0, -1).Unix()
		add := func(key string, start, n int64) store.QuotaOp {
			return store.QuotaOp{Kind: store.QuotaAdd, Key: key, Period: aDay, Start: start, N: n}
		}
		floor := func(key string, start, n int64) store.QuotaOp {
			return store.QuotaOp{Kind: store.QuotaFloor, Key: key, Period: aDay, Start: start, N: n}
		}
		reset := func(key string) store.QuotaOp { return store.QuotaOp{Kind: store.QuotaReset, Key: key, Period: aDay} }

		steps := []struct {
			ops  []store.QuotaOp
			used []int64
		}{
			{[]store.QuotaOp{taking("b", 90, 100), taking("a", 1, 100), taking("b", 90, 100)}, []int64{90, 1, 100}},
			{[]store.QuotaOp{add("b", today.Unix(), -30), taking("b", 50, 100)}, []int64{70, 100}},
			{[]store.QuotaOp{add("b", today.Unix(), 25), peeking("b")}, []int64{125, 125}}, // admitted while the backend was away
			{[]store.QuotaOp{add("b", today.Unix(), -500), peeking("b")}, []int64{0, 0}},
			{[]store.QuotaOp{floor("b", today.Unix(), 60), floor("b", today.Unix(), 40), taking("b", 50, 100)}, []int64{60, 60, 100}},
			{[]store.QuotaOp{add("b", yesterday, 7), peeking("b")}, []int64{7, 100}},
			{[]store.QuotaOp{floor("b", yesterday, 200), peeking("b")}, []int64{200, 100}},
			{[]store.QuotaOp{reset("b"), taking("b", 1, 100), peeking("a")}, []int64{0, 1, 1}},
			{[]store.QuotaOp{peeking("never"), taking("never", 5, 0)}, []int64{0, 0}},
			{nil, nil},
		}
		for i, step := range steps {
			got, now, err := st.ApplyQuota(context.Background(), step.ops)
			if err != nil || len(got) != len(step.ops) {
				t.Fatalf("step %d: %d results, %v", i, len(got), err)
			}
			if off := now.Sub(c.now()); off < -time.Second || off > time.Second {
				t.Errorf("step %d: the backend's clock says %s, want %s", i, now, c.now())
			}
			for j, r := range got {
				want := today.Unix()
				if step.ops[j].Start == yesterday {
					want = yesterday
				}
				if r.Used != step.used[j] || r.Start != want {
					t.Errorf("step %d, operation %d: %+v, want used %d in %d", i, j, r, step.used[j], want)
				}
			}
		}
		// Midnight, and periods other than a day.
		c.at.Store(today.AddDate(0, 0, 1).Unix() + 5)
		if r := applyQuota(t, st, taking("b", 1, 100))[0]; r.Used != 1 || r.Start != today.AddDate(0, 0, 1).Unix() {
			t.Errorf("after midnight: %+v", r)
		}
		if r := applyQuota(t, st, store.QuotaOp{Kind: store.QuotaTake, Key: "m", Period: time.Minute, Need: 1, Limit: 5})[0]; r.Granted != 1 || r.Start != c.at.Load()-5 {
			t.Errorf("a minute: %+v", r)
		}
	})
}

// Many nodes count the same accounts in batches, each in its own order, before the rows exist, as after midnight.
// Nothing is lost, nothing is granted twice, and nobody waits forever.
func TestQuotaConcurrentBatches(t *testing.T) {
	t.Parallel()
	const nodes, rounds, accounts, limit = 12, 100, 6, 20
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var granted [rounds][accounts]atomic.Int64
		var group sync.WaitGroup
		for range nodes {
			group.Go(func() {
				for round := range rounds { // each round has its own accounts, and so new rows
					for range 3 {
						ops := make([]store.QuotaOp, 0, accounts)
						order := rand.Perm(accounts)
						for _, a := range order[:2+rand.IntN(accounts-2)] {
							ops = append(ops, taking(fmt.Sprintf("acc-%d-%d", round, a), 3, limit))
						}
						results, err := applyPatiently(st, ops)
						if err != nil {
							t.Errorf("batch: %v", err)
							return
						}
						for i, r := range results {
							var n, a int
							fmt.Sscanf(ops[i].Key, "acc-%d-%d", &n, &a)
							granted[n][a].Add(r.Granted)
						}
					}
				}
			})
		}
		group.Wait()
		for round := range rounds {
			for a := range accounts {
				r := applyQuota(t, st, peeking(fmt.Sprintf("acc-%d-%d", round, a)))[0]
				if got := granted[round][a].Load(); got != r.Used || got > limit {
					t.Errorf("account %d of round %d: granted %d, counted %d, limit %d", a, round, got, r.Used, limit)
				}
			}
		}
	})
}

// Nodes that change two days of one counter in one batch, in whatever order, never block each other.
func TestQuotaDaysOfOneCounter(t *testing.T) {
	t.Parallel()
	const nodes, rounds = 8, 100
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		today := applyQuota(t, st, peeking("acc"))[0].Start
		past := today - int64(aDay/time.Second)
		var group sync.WaitGroup
		for node := range nodes {
			group.Go(func() {
				ops := []store.QuotaOp{
					{Kind: store.QuotaAdd, Key: "acc", Period: aDay, Start: past, N: 2},
					{Kind: store.QuotaAdd, Key: "acc", Period: aDay, Start: today, N: 1},
					{Kind: store.QuotaTake, Key: "acc", Period: aDay, Need: 1, Limit: 1 << 40},
				}
				if node%4 < 2 { // the same in two operations
					ops = ops[:2]
					ops[1].N = 2
				}
				if node%2 == 0 {
					slices.Reverse(ops)
				}
				for range rounds {
					results, err := applyPatiently(st, ops)
					if err != nil {
						t.Errorf("batch: %v", err)
						return
					}
					for i := range ops {
						if want := cmp.Or(ops[i].Start, today); results[i].Start != want {
							t.Errorf("%+v was counted from %d", ops[i], results[i].Start)
						}
					}
				}
			})
		}
		group.Wait()
		for _, start := range []int64{past, today} {
			r := applyQuota(t, st, store.QuotaOp{Kind: store.QuotaAdd, Key: "acc", Period: aDay, Start: start})[0]
			if r.Used != 2*nodes*rounds {
				t.Errorf("%d are counted from %d", r.Used, start)
			}
		}
	})
}

// A connection that first counted when there were no counters does not keep scanning many of them for each.
func TestQuotaReadsByIndex(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	db := storetest.SQL(t, url)
	applyQuota(t, storetest.OpenURL(t, url, store.Options{}), taking("acc", 1, 100))
	storetest.Exec(t, url, "ANALYZE quota_counters")
	st := storetest.OpenURL(t, url, store.Options{})
	const accounts, portion = 4000, 100
	ops := make([]store.QuotaOp, 0, portion)
	for range 2 {
		for first := 0; first < accounts; first += portion {
			ops = ops[:0]
			for i := first; i < first+portion; i++ {
				ops = append(ops, taking(fmt.Sprintf("acc-%05d", i), 1, 100))
			}
			applyQuota(t, st, ops...)
		}
	}
	if err := st.Close(); err != nil { // sessions report what they read when they end
		t.Fatal(err)
	}
	var lookUps, read int64
	storetest.Until(t, "the statistics of the look-ups by index", func() bool {
		err := db.QueryRowContext(t.Context(), `SELECT coalesce(idx_scan, 0), seq_tup_read + coalesce(idx_tup_fetch, 0)
			FROM pg_stat_user_tables WHERE relname = 'quota_counters'`).Scan(&lookUps, &read)
		if err != nil {
			t.Fatal(err)
		}
		return lookUps >= 2*accounts
	})
	if read > 8*accounts {
		t.Errorf("%d rows were read to count twice for %d accounts", read, accounts)
	}
}

// applyPatiently retries if SQLite's write lock is taken, as nodes do.
func applyPatiently(st *store.Store, ops []store.QuotaOp) (results []store.QuotaResult, err error) {
	if st.Dialect() == store.Postgres {
		results, _, err = st.ApplyQuota(context.Background(), ops)
		return results, err
	}
	for range 100 {
		if results, _, err = st.ApplyQuota(context.Background(), slices.Clone(ops)); err == nil {
			return results, nil
		}
	}
	return nil, err
}

// Nodes of an older version count in the same counters as those of this one, during an upgrade.
func TestQuotaOfOlderPrograms(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url)
	older := func(need int64) (granted, used int64) {
		t.Helper()
		err := db.QueryRowContext(t.Context(), `SELECT granted, used_after FROM quota_apply(0, '{0}', '{acc}', '{86400}', '{0}', ARRAY[$1::bigint], '{0}', '{0}', '{20}', '{0}')`, need).Scan(&granted, &used)
		if err != nil {
			t.Fatal(err)
		}
		return granted, used
	}
	storetest.AwayFromMidnight(t)
	for i, want := range []struct{ granted, used, then int64 }{{5, 5, 8}, {5, 13, 16}, {4, 20, 20}} {
		if granted, used := older(5); granted != want.granted || used != want.used {
			t.Errorf("the older node's take %d: granted %d, used %d, want %+v", i, granted, used, want)
		}
		if r := applyQuota(t, st, taking("acc", 3, 20))[0]; r.Used != want.then {
			t.Errorf("this one's take %d: %+v, want %+v", i, r, want)
		}
	}
}
