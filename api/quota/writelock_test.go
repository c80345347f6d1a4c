package quota_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// lockDatabase holds SQLite's write lock, as an import does, until the returned function is called.
func lockDatabase(t *testing.T, url string) (unlock func()) {
	t.Helper()
	db := storetest.SQL(t, url+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	unlock = sync.OnceFunc(func() { tx.Rollback(); db.Close() })
	t.Cleanup(unlock)
	return unlock
}

// An import that holds SQLite's write lock delays nobody, and on one node no request beyond the limit is served.
func TestWriteLockHeld(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
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
		t.Errorf("the backend counts %d and %d, served were %d and %d", got, gotLarge, served, large)
	}
}

// A node that starts while an import holds SQLite's write lock cannot count, but can read what was used before: for
// requests that wait for the first contact, for peeks, and for requests that come once the backend is known to be away.
func TestStartWhileTheWriteLockIsHeld(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
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
	served["wait"] += n.burst(t, "wait", 200, 8, 100) // more requests wait at once than are left
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

// A node that knew an account yesterday rereads what others have counted of it today.
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
		t.Errorf("the backend counts %d", got)
	}
}
