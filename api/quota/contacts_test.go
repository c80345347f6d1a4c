package quota_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// tallied counts what a database is asked about accounts.
type tallied struct {
	*store.Store
	contacts, looks, reads atomic.Int64
}

func (c *tallied) ApplyQuota(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error) {
	if len(ops) > 0 {
		c.contacts.Add(1)
	} else {
		c.looks.Add(1) // whether it answers, and is the same
	}
	return c.Store.ApplyQuota(ctx, ops)
}

func (c *tallied) ReadQuota(ctx context.Context, key string, period time.Duration) (used, start int64, ok bool) {
	c.reads.Add(1)
	return c.Store.ReadQuota(ctx, key, period)
}

func talliedNode(t *testing.T) (c *testClock, url string, l *tallied) {
	t.Helper()
	c, url = newTestClock(), storetest.URL(t)
	return c, url, &tallied{Store: storetest.OpenURL(t, url, store.Options{Now: c.now})}
}

// A client that keeps asking after reaching its limit costs the backend five contacts a second, not thousands. A clock
// that is set back does not make a refusal last longer.
func TestRefusalIsRememberedForAWhile(t *testing.T) {
	t.Parallel()
	c, _, l := talliedNode(t)
	n := watch(t, l, quota.Options{Advance: true, Now: c.now})
	n.burst(t, "acc", 11, 1, 10)
	for range 3 {
		n.Settle()
		before := l.contacts.Load()
		if got := n.burst(t, "acc", 200, 1, 10); got != 0 || l.contacts.Load() != before {
			t.Errorf("served %d beyond the limit; 200 requests made %d contacts", got, l.contacts.Load()-before)
		}
		c.move(200*time.Millisecond - 1)
		if got := n.burst(t, "acc", 2, 1, 10); got != 0 || l.contacts.Load() != before {
			t.Errorf("served %d beyond the limit; %d contacts within 200 ms", got, l.contacts.Load()-before)
		}
		c.move(1)
		if got := n.burst(t, "acc", 2, 1, 10); got != 0 || l.contacts.Load() != before+1 {
			t.Errorf("served %d beyond the limit; %d contacts 200 ms later", got, l.contacts.Load()-before)
		}
	}
	n.Settle()
	before := l.contacts.Load()
	c.move(-time.Minute)
	if got := n.burst(t, "acc", 2, 1, 10); got != 0 || l.contacts.Load() != before+1 {
		t.Errorf("served %d beyond the limit; %d contacts after the clock was set back", got, l.contacts.Load()-before)
	}
	closeNode(t, n.Store)
}

// What a contact brings is spent on requests that came during it, too, without asking again for them.
func TestBlockServesWhoCameDuringTheContact(t *testing.T) {
	t.Parallel()
	c, _, counts := talliedNode(t)
	l := &held{Backend: counts}
	n := watch(t, l, quota.Options{Advance: true, Now: c.now})
	n.burst(t, "acc", 300, 1, 10_000)
	n.Settle()
	c.move(2 * time.Second)
	n.Sweep() // gives the block back
	open, before := l.shut(), counts.contacts.Load()
	var group sync.WaitGroup
	group.Go(func() { n.get(t, "acc", 10_000) })
	storetest.Until(t, "the backend's answer to be on its way", func() bool { return l.late.Load() == 1 })
	for range 5 {
		group.Go(func() { n.get(t, "acc", 10_000) })
	}
	n.untilWaiting(t, "acc", 5)
	open()
	group.Wait()
	if got := counts.contacts.Load() - before; got != 1 {
		t.Errorf("6 requests made %d contacts", got)
	}
	closeNode(t, n.Store)
}

// While the database cannot be written, a node reads at most once what an account has used, not for every request.
func TestCounterIsReadOnceWhileTheWriteLockIsHeld(t *testing.T) {
	t.Parallel()
	c, url, l := talliedNode(t)
	n := watch(t, l, quota.Options{Advance: true, Now: c.now})
	n.burst(t, "known", 10, 1, 100)
	n.Settle()
	unlock := lockDatabase(t, url)
	n.burst(t, "new", 1, 1, 100)
	if !n.Away() {
		t.Fatal("the lock held up nothing: the test shows nothing")
	}
	n.burst(t, "new", 20, 1, 100)
	if got := l.reads.Load(); got != 1 {
		t.Errorf("21 requests of an account made %d reads", got)
	}
	n.burst(t, "known", 20, 1, 100)
	if got := l.reads.Load(); got != 1 {
		t.Errorf("an account whose use was known was read %d times", got-1)
	}
	unlock()
	closeNode(t, n.Store)
}

// A node without requests looks every second whether a backend that may be replaced has been, but rarely at one that
// cannot be.
func TestReplaceableBackendIsLookedAtOften(t *testing.T) {
	t.Parallel()
	_, _, often := talliedNode(t)
	_, _, rarely := talliedNode(t)
	a, b := watch(t, often, quota.Options{Replaceable: true}), watch(t, rarely, quota.Options{Advance: true})
	storetest.Until(t, "a node to look at its backend", func() bool { return often.looks.Load() >= 4 })
	if got := rarely.looks.Load(); got > 2 {
		t.Errorf("a backend that cannot be replaced was looked at %d times meanwhile", got)
	}
	closeNode(t, a.Store)
	closeNode(t, b.Store)
}
