package quota_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ulule/limiter/v3"

	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// held is a backend whose answers a test can hold back.
type held struct {
	quota.Backend
	mu   sync.Mutex
	gate chan struct{} // nil = open
	late atomic.Int64  // contacts waiting at the gate, or for an answer that never comes
	deaf atomic.Bool   // neither answers nor refuses
	mute atomic.Bool   // hears contacts, but its answers get lost
	busy atomic.Bool   // mute, except for peeks
}

func (h *held) shut() (open func()) {
	gate := make(chan struct{})
	h.mu.Lock()
	h.gate = gate
	h.mu.Unlock()
	return func() {
		h.mu.Lock()
		h.gate = nil
		h.mu.Unlock()
		close(gate)
	}
}

func (h *held) ApplyQuota(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error) {
	if h.deaf.Load() {
		h.late.Add(1)
		<-ctx.Done()
		return nil, time.Time{}, ctx.Err()
	}
	r, now, err := h.Backend.ApplyQuota(ctx, ops)
	look := len(ops) == 1 && ops[0].Kind == store.QuotaPeek
	if h.mute.Load() || h.busy.Load() && !look {
		return nil, time.Time{}, fmt.Errorf("the answer is lost: %w", store.ErrQuotaUnclear)
	}
	h.mu.Lock()
	gate := h.gate
	h.mu.Unlock()
	if gate != nil {
		h.late.Add(1)
		<-gate
	}
	return r, now, err
}

// sqliteNode is a node on its own SQLite database; both use the returned clock.
func sqliteNode(t *testing.T) (*testClock, *store.Store, *watched) {
	t.Helper()
	c := newTestClock()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	return c, st, watch(t, st, quota.Options{Advance: true, Now: c.now})
}

// heldNode is sqliteNode with a database whose answers can be held back.
func heldNode(t *testing.T) (*testClock, *store.Store, *held, *watched) {
	t.Helper()
	c := newTestClock()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	l := &held{Backend: st}
	return c, st, l, watch(t, l, quota.Options{Advance: true, Now: c.now})
}

// Midnight passes while an answer is on its way: the grant belongs to the day that the backend counted it in.
func TestGrantIsLate(t *testing.T) {
	t.Parallel()
	c, st, l, n := heldNode(t)
	n.burst(t, "acc", 300, 1, 10_000)
	n.Settle()
	c.move(2 * time.Second)
	n.Sweep()
	yesterday := c.day()
	open := l.shut()
	var group sync.WaitGroup
	group.Go(func() { n.get(t, "acc", 10_000) })
	storetest.Until(t, "the backend's answer to be on its way", func() bool { return l.late.Load() == 1 })
	c.toMidnight(time.Second)
	group.Go(func() { n.get(t, "acc", 10_000) })
	n.untilWaiting(t, "acc", 1)
	open()
	group.Wait()
	closeNode(t, n.Store)
	r, _, err := st.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaAdd, Key: "acc", Period: quota.Day, Start: yesterday}})
	if today := counted(t, st, "acc"); err != nil || r[0].Used != 301 || today != 1 {
		t.Errorf("counted %d yesterday and %d today, want 301 and 1; %v", r[0].Used, today, err)
	}
}

// A silent backend is waited for only once, even by requests that arrive while others wait.
func TestDeafBackend(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	l := &held{Backend: st}
	n := watch(t, l, quota.Options{Advance: true})
	n.burst(t, "acc", 10, 1, 100)
	n.Settle()
	l.deaf.Store(true)
	var group sync.WaitGroup
	for range 40 {
		group.Go(func() { n.get(t, "acc", 100) })
		group.Go(func() { n.get(t, "new", 100) })
		time.Sleep(10 * time.Millisecond) // one arrives after the other
	}
	group.Wait()
	if took := time.Duration(n.slowest.Swap(0)); took > 2500*time.Millisecond {
		t.Errorf("a request was held up for %s", took)
	}
	n.burst(t, "acc", 200, 4, 100)
	n.burst(t, "third", 200, 4, 100)
	if took := time.Duration(n.slowest.Load()); took > 500*time.Millisecond {
		t.Errorf("a request was held up for %s after the first", took)
	}
	if got := n.served.Load(); got != 100+40+100 {
		t.Errorf("served %d, want 240", got)
	}
	l.deaf.Store(false)
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	closeNode(t, n.Store)
	// It is unclear whether a backend that did not answer heard: requests may be counted twice, but never go uncounted.
	for key, least := range map[string]int64{"acc": 100, "new": 40, "third": 100} {
		if got := counted(t, st, key); got < least {
			t.Errorf("the backend counts %d of the %d of %s", got, least, key)
		}
	}
}

// A backend that for a while hears but cannot answer, such as a PostgreSQL without its standby, counts what it was told
// once: it is asked whether it heard before it is told again. Only the first contact, made before the outage was known,
// may count twice. The answer to that question may get lost too. The limit holds meanwhile.
func TestBackendThatHearsAndDoesNotSaySo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		storetest.AwayFromMidnight(t)
		l := &held{Backend: st}
		n := watch(t, l, quota.Options{Advance: true})
		n.burst(t, "acc", 10, 1, 100)
		n.Settle()
		l.busy.Store(true)
		served := int64(10)
		for i := range 40 {
			l.mute.Store(i%20 > 10)
			n.burst(t, "acc", 1, 1, 100)
			served++
			time.Sleep(40 * time.Millisecond)
		}
		if got := n.served.Load(); got != served {
			t.Errorf("served %d, want %d", got, served)
		}
		l.mute.Store(false)
		if served += n.burst(t, "acc", 100, 1, 100); served < 99 || served > 100 { // what it heard is used up
			t.Errorf("served %d of 100 while it does not answer", served)
		}
		l.busy.Store(false)
		storetest.Until(t, "recovery", func() bool { return !n.Away() })
		closeNode(t, n.Store)
		if got := counted(t, st, "acc"); got < served || got > served+1 {
			t.Errorf("the backend counts %d of %d", got, served)
		}
	})
}

// After Close nobody waits, nothing runs and every block has been given back; a Close that
// cannot write says so in time.
func TestClose(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	n := watch(t, st, quota.Options{Advance: true})
	served := n.burst(t, "acc", 1000, 8, 10_000)
	var group sync.WaitGroup
	var stop atomic.Bool
	var late, more atomic.Int64
	for range 8 {
		group.Go(func() {
			for !stop.Load() {
				c, err := n.Get(context.Background(), "acc", limiter.Rate{Period: quota.Day, Limit: 10_000})
				switch {
				case err != nil:
					late.Add(1)
					return
				case !c.Reached:
					more.Add(1)
				}
			}
		})
	}
	closeNode(t, n.Store)
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Fatal("requests hang after Close")
	}
	stop.Store(true)
	if late.Load() != 8 {
		t.Errorf("%d of 8 were told that the server is shutting down", late.Load())
	}
	if got, want := counted(t, st, "acc"), served+more.Load(); got != want {
		t.Errorf("the backend counts %d, served were %d", got, want)
	}

	m := watch(t, st, quota.Options{Advance: true})
	m.burst(t, "acc", 10, 1, 20_000)
	m.Settle()
	unlock := lockDatabase(t, url)
	m.burst(t, "acc", 10, 1, 20_000)
	storetest.Until(t, "the outage to be known", m.Away)
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := m.Close(ctx); err == nil || time.Since(began) > 3*time.Second {
		t.Errorf("close without a backend: %v after %s", err, time.Since(began))
	}
	if c, err := m.Get(t.Context(), "new", limiter.Rate{Period: quota.Day, Limit: 20_000}); models.ErrorCode(err) != models.CodeUnavailable {
		t.Errorf("after it, a request is admitted: %+v, %v", c, err)
	}
	unlock()
}

// Requests that still wait when the server closes are served, but take no block: nobody would give it back.
func TestCloseTakesNoBlock(t *testing.T) {
	t.Parallel()
	c, st, l, n := heldNode(t)
	const limit = 10_000
	n.burst(t, "acc", 2000, 8, limit)
	n.Settle()
	c.move(2 * time.Second)
	n.Sweep()
	open := l.shut()
	var group sync.WaitGroup
	group.Go(func() { n.get(t, "acc", limit) }) // it brings a block
	storetest.Until(t, "the backend's answer to be on its way", func() bool { return l.late.Load() == 1 })
	group.Go(func() { closeNode(t, n.Store) })
	for range 1000 { // more than the block is enough for
		group.Go(func() { n.get(t, "acc", limit) })
	}
	n.untilWaiting(t, "acc", 1000)
	open()
	group.Wait()
	if got, want := counted(t, st, "acc"), n.served.Load(); got != want || want != 3001 {
		t.Errorf("the backend counts %d, served were %d of 3,001", got, want)
	}
}

// Nodes leave no goroutine behind. The test counts goroutines, so it is not parallel.
func TestNoGoroutineIsLeft(t *testing.T) {
	st := storetest.Open(t)
	before := runtime.NumGoroutine()
	for range 20 {
		n := watch(t, st, quota.Options{Advance: true})
		n.burst(t, "acc", 10, 4, 1000)
		closeNode(t, n.Store)
	}
	storetest.Until(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// Accounts of past days are forgotten.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	c, _, n := sqliteNode(t)
	for i := range 300 {
		n.burst(t, "acc-"+string(rune('a'+i%26))+string(rune('a'+i/26)), 2, 1, 1000)
	}
	n.Sweep()
	if left := n.Forget(); left != 300 {
		t.Errorf("%d of 300 accounts are left on their own day", left)
	}
	c.toMidnight(time.Hour)
	n.Sweep() // gives back yesterday's blocks, and so asks about their accounts today
	c.toMidnight(time.Hour)
	n.Sweep()
	if left := n.Forget(); left != 0 {
		t.Errorf("%d accounts of past days are left", left)
	}
	closeNode(t, n.Store)
}
