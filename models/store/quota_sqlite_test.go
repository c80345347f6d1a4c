package store_test

import (
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

// Three processes count on one SQLite file, compact its log as it grows, restart, and read counters without the write
// lock, across several midnights: each always agrees with a map of everything that was done.
func TestQuotaLog(t *testing.T) {
	t.Parallel()
	const keys, steps = 700, 4_000
	url := storetest.URL(t)
	var c quotaClock
	today := time.Now().UTC().Truncate(aDay)
	c.at.Store(today.Unix())
	opened := func() *store.Store { return storetest.OpenURL(t, url, store.Options{Now: c.now}) }
	nodes := []*store.Store{opened(), opened(), opened()}
	db := storetest.SQL(t, url)

	type counter struct {
		key   string
		start int64
	}
	truth := map[counter]int64{}
	rng := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	most := int64(0)
	for step := range steps {
		n := rng.IntN(len(nodes))
		if step > 1000 && step < 2700 {
			n = rng.IntN(2) // the third sees nothing for so long that the log is compacted meanwhile
		}
		st := nodes[n]
		switch {
		case step%500 == 499:
			c.at.Add(3600 * 5)
			today = c.now().Truncate(aDay)
		case step%700 == 699:
			nodes[n] = opened()
		case step%1500 == 1499:
			if _, err := st.Cleanup(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var ops []store.QuotaOp
		many := 1 + rng.IntN(6)
		if step%100 == 0 {
			many = 300
		}
		for range many {
			op := store.QuotaOp{Key: fmt.Sprintf("acc-%d", rng.IntN(keys)), Period: aDay}
			switch rng.IntN(8) {
			case 0:
				op.Kind, op.Start, op.N = store.QuotaAdd, today.AddDate(0, 0, -rng.IntN(2)).Unix(), int64(rng.IntN(20)-8)
			case 1:
				op.Kind, op.Start, op.N = store.QuotaFloor, today.Unix(), int64(rng.IntN(20))
			case 2:
				op.Kind = store.QuotaPeek
			case 3:
				op.Kind = store.QuotaReset
			default:
				op.Kind, op.Need, op.Limit = store.QuotaTake, int64(1+rng.IntN(3)), 60
			}
			ops = append(ops, op)
		}
		results := applyQuota(t, st, ops...)
		for i, op := range ops {
			k := counter{op.Key, today.Unix()}
			if op.Dated() {
				k.start = op.Start
			}
			granted := int64(0)
			switch op.Kind {
			case store.QuotaAdd:
				truth[k] = max(0, truth[k]+op.N)
			case store.QuotaFloor:
				truth[k] = max(truth[k], op.N)
			case store.QuotaReset:
				truth[k] = 0
			case store.QuotaTake:
				granted = max(0, min(op.Need, op.Limit-truth[k]))
				truth[k] += granted
			case store.QuotaPeek:
			}
			if r := results[i]; r.Used != truth[k] || r.Granted != granted || r.Start != k.start {
				t.Fatalf("step %d, node %d: %+v gave %+v, want %d granted, %d used", step, n, op, r, granted, truth[k])
			}
		}
		key := fmt.Sprintf("acc-%d", rng.IntN(keys))
		if used, start, ok := nodes[n].ReadQuota(t.Context(), key, aDay); !ok || start != today.Unix() || used != truth[counter{key, start}] {
			t.Fatalf("step %d: %s is read as %d, want %d (%v)", step, key, used, truth[counter{key, start}], ok)
		}
		if step%50 == 0 {
			var rows int64
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM quota_log").Scan(&rows); err != nil {
				t.Fatal(err)
			}
			most = max(most, rows)
		}
	}
	if most < 500 || most > 2500 {
		t.Errorf("the log had %d rows at most: it is not compacted as it should be", most)
	}
}

// Counters of many accounts are compacted while counting goes on; a process opened afterwards agrees with the others.
func TestQuotaLogOfManyAccounts(t *testing.T) {
	t.Parallel()
	const accounts, batch, limit = 8_000, 500, 5
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	var granted atomic.Int64
	var group sync.WaitGroup
	for range 2 { // concurrently
		group.Go(func() {
			for at := 0; at < 4*accounts; at += batch {
				ops := make([]store.QuotaOp, batch)
				for i := range ops {
					ops[i] = store.QuotaOp{Kind: store.QuotaTake, Key: fmt.Sprintf("acc-%d", (at+i)%accounts), Period: aDay, Need: 1, Limit: limit}
				}
				results, err := applyPatiently(st, ops)
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range results {
					granted.Add(r.Granted)
				}
			}
		})
	}
	group.Wait()
	if granted.Load() != limit*accounts {
		t.Errorf("%d granted, want %d", granted.Load(), limit*accounts)
	}
	var stored int
	if err := storetest.SQL(t, url).QueryRowContext(t.Context(), "SELECT count(*) FROM quota_counters").Scan(&stored); err != nil || stored < accounts/4 {
		t.Errorf("%d counters are compacted, %v", stored, err)
	}
	other := storetest.OpenURL(t, url, store.Options{})
	for _, i := range []int{0, 1, accounts / 2, accounts - 1} {
		key := fmt.Sprintf("acc-%d", i)
		if used, _, ok := other.ReadQuota(context.Background(), key, aDay); !ok || used != limit {
			t.Errorf("%s: %d, %v", key, used, ok)
		}
	}
}

// A contact compacts only a little of the log, since requests wait for it.
func TestQuotaLogIsCompactedInSteps(t *testing.T) {
	t.Parallel()
	const accounts, batch, mostTaken = 20_000, 20, 1_000
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	db := storetest.SQL(t, url)
	before, taken, shrank := 0, 0, 0
	counted := make([]int64, accounts)
	for at := 0; shrank < 4; at += batch {
		ops := make([]store.QuotaOp, batch)
		for i := range ops {
			ops[i] = store.QuotaOp{Kind: store.QuotaTake, Key: fmt.Sprintf("acc_%d", (at+i)%accounts), Period: aDay, Need: 1, Limit: 1000}
			counted[(at+i)%accounts]++
		}
		applyQuota(t, st, ops...)
		var rows int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM quota_log").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if rows < before {
			taken, shrank = max(taken, before-rows), shrank+1
		}
		if before = rows; rows > 8*accounts/batch {
			t.Fatalf("the log has %d rows", rows)
		}
	}
	if taken > mostTaken {
		t.Errorf("one contact took %d rows away", taken)
	}
	other, wrong := storetest.OpenURL(t, url, store.Options{}), 0
	for i, want := range counted {
		if used, _, ok := other.ReadQuota(t.Context(), fmt.Sprintf("acc_%d", i), aDay); !ok || used != want {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("what %d of %d accounts used is not known any more", wrong, accounts)
	}
}

// A process that had seen everything does not miss what another compacts and then counts: the newest row of the log
// stays, so that no later row gets its id.
func TestQuotaLogIsCompactedByAnother(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	node, other := storetest.OpenURL(t, url, store.Options{}), storetest.OpenURL(t, url, store.Options{})
	take := func(n int64) {
		applyQuota(t, node, taking("acc_1", n, 100))
	}
	look := func(want int64) {
		t.Helper()
		if r := applyQuota(t, other, peeking("acc_1")); r[0].Used != want {
			t.Fatalf("%d used, want %d", r[0].Used, want)
		}
	}
	take(1)
	look(1)
	if _, err := node.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	take(2)
	look(3)
}

// If a day begins while the log is being compacted, nothing of the previous day is lost.
func TestQuotaLogIsCompactedAtMidnight(t *testing.T) {
	t.Parallel()
	const stored, accounts, batch, times = 6_000, 12_000, 1_000, 6 // a step looks at 10,000
	url := storetest.URL(t)
	var c quotaClock
	yesterday := time.Now().UTC().Truncate(aDay)
	c.at.Store(yesterday.Unix())
	st := storetest.OpenURL(t, url, store.Options{Now: c.now})
	all := func(st *store.Store, name string, n int, op store.QuotaOp, told func(store.QuotaResult)) {
		t.Helper()
		for at := 0; at < n; at += batch {
			ops := slices.Repeat([]store.QuotaOp{op}, batch)
			for i := range ops {
				ops[i].Key, ops[i].Period = fmt.Sprintf("acc_%s%d", name, at+i), aDay
			}
			for _, r := range applyQuota(t, st, ops...) {
				told(r)
			}
		}
	}
	take := store.QuotaOp{Kind: store.QuotaTake, Need: 1, Limit: 100}
	ignore := func(store.QuotaResult) {}
	all(st, "stored", stored, take, ignore)
	if _, err := st.Cleanup(t.Context()); err != nil { // compacts everything: the new day forgets these
		t.Fatal(err)
	}
	for range times {
		all(st, "logged", accounts, take, ignore) // the last one is the 72,000th counter named: 18,000 counters four times each
	}
	one := taking("acc_one", 1, 1000)
	var rows, before int
	db := storetest.SQL(t, url)
	for contact := range 500 {
		if contact == 1 { // the compaction has begun to look
			c.at.Add(int64(aDay / time.Second))
		}
		applyQuota(t, st, one)
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM quota_log").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if rows < before {
			break // done
		}
		before = rows
	}
	if rows >= before {
		t.Fatalf("the log was not compacted: %d rows", rows)
	}
	wrong := 0
	other := storetest.OpenURL(t, url, store.Options{Now: c.now})
	all(other, "logged", accounts, store.QuotaOp{Kind: store.QuotaAdd, Start: yesterday.Unix()}, func(r store.QuotaResult) {
		if r.Used != times {
			wrong++
		}
	})
	if wrong > 0 {
		t.Errorf("what %d of %d accounts used on the day before is not known any more", wrong, accounts)
	}
}

// The log is compacted even if each contact is about an account that was not known before.
func TestQuotaLogIsCompactedAmongNewAccounts(t *testing.T) {
	t.Parallel()
	const contacts, fresh = 1_050, 100 // a compaction is due after 1,000
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	for i := range contacts {
		account := max(0, i-(contacts-fresh))
		applyQuota(t, st, taking(fmt.Sprintf("acc_%d", account), 1, contacts))
	}
	var rows int
	if err := storetest.SQL(t, url).QueryRowContext(t.Context(), "SELECT count(*) FROM quota_log").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows > fresh {
		t.Errorf("the log has %d rows", rows)
	}
}

// A batch counts on the day on which it gets the write lock, not on the day on which it began to wait.
func TestQuotaTimeIsOfTheTransaction(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	other := storetest.SQL(t, url+"?_pragma=busy_timeout(0)") // gives up on the write lock at once
	asked, locked := false, false
	var c quotaClock
	c.at.Store(time.Now().Unix())
	st := storetest.OpenURL(t, url, store.Options{Now: func() time.Time {
		if asked {
			_, err := other.ExecContext(context.Background(), "UPDATE meta SET value = value")
			locked = err != nil
		}
		return c.now()
	}})
	asked = true
	_, now, err := st.ApplyQuota(t.Context(), []store.QuotaOp{{Kind: store.QuotaTake, Key: "a", Period: aDay, Need: 1, Limit: 5}})
	asked = false
	if err != nil || !now.Equal(c.now()) {
		t.Errorf("%s, %v", now, err)
	}
	if !locked {
		t.Error("the time was asked for before the write lock was held")
	}
}

// A process that starts after many accounts were counted today, mostly compacted by now, knows what each used today: it
// queries some, and reads the whole day when they become many. Values in the log are newer than those.
func TestQuotaOfADayIsReadAsAWhole(t *testing.T) {
	t.Parallel()
	const accounts, batch = 3_000, 100
	url := storetest.URL(t)
	var c quotaClock
	c.at.Store(time.Now().UTC().Truncate(aDay).Unix())
	used := func(i int) int64 { return int64(1 + i%3) }
	all := func(st *store.Store, each func(i int) store.QuotaOp, told func(i int, r store.QuotaResult)) {
		t.Helper()
		for at := 0; at < accounts; at += batch {
			ops := make([]store.QuotaOp, batch)
			for i := range ops {
				ops[i] = each(at + i)
				ops[i].Key, ops[i].Period = fmt.Sprintf("acc_%d", at+i), aDay
			}
			for i, r := range applyQuota(t, st, ops...) {
				told(at+i, r)
			}
		}
	}
	before := storetest.OpenURL(t, url, store.Options{Now: c.now})
	for _, more := range []int64{7, 0} { // more yesterday than today
		all(before, func(i int) store.QuotaOp {
			return store.QuotaOp{Kind: store.QuotaTake, Need: used(i) + more, Limit: 100}
		}, func(int, store.QuotaResult) {})
		if _, err := before.Cleanup(t.Context()); err != nil {
			t.Fatal(err)
		}
		if more > 0 {
			c.at.Add(int64(aDay / time.Second))
		}
	}
	logged := func(i int) int64 { return int64(1 - i%2) }
	all(before, func(i int) store.QuotaOp { return store.QuotaOp{Kind: store.QuotaTake, Need: logged(i), Limit: 100} }, func(int, store.QuotaResult) {})
	after := storetest.OpenURL(t, url, store.Options{Now: c.now})
	wrong := 0
	all(after, func(int) store.QuotaOp { return store.QuotaOp{Kind: store.QuotaPeek} }, func(i int, r store.QuotaResult) {
		if r.Used != used(i)+logged(i) {
			wrong++
		}
	})
	if wrong > 0 {
		t.Errorf("what %d of %d accounts used is not known", wrong, accounts)
	}
	if r := applyQuota(t, after, peeking("acc_new")); r[0].Used != 0 {
		t.Errorf("an account that was not counted used %d", r[0].Used)
	}
}
