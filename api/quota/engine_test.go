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
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// held is a ledger whose answers a test holds back.
type held struct {
	quota.Ledger
	mu   sync.Mutex
	gate chan struct{} // nil = open
	late atomic.Int64  // contacts that wait at the gate, or in vain
	deaf atomic.Bool   // neither answers nor refuses
	mute atomic.Bool   // hears, and its answer is lost
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
	r, now, err := h.Ledger.ApplyQuota(ctx, ops)
	if h.mute.Load() {
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

// sqliteNode is a node that counts in a SQLite database of its own, with the clock of both.
func sqliteNode(t *testing.T) (*testClock, *store.Store, *watched) {
	t.Helper()
	c := newTestClock()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	return c, st, watch(t, st, quota.Options{Advance: true, Now: c.now})
}

// heldNode is the same of a node whose database's answers can be held up.
func heldNode(t *testing.T) (*testClock, *store.Store, *held, *watched) {
	t.Helper()
	c := newTestClock()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	l := &held{Ledger: st}
	return c, st, l, watch(t, l, quota.Options{Advance: true, Now: c.now})
}

// A block that is granted under the higher limit while the plan is lowered is not spent under the lower one.
func TestLimitIsLoweredWhileABlockIsOnItsWay(t *testing.T) {
	t.Parallel()
	_, st, l, n := heldNode(t)
	if got := n.burst(t, "acc", 200, 8, 256); got != 200 {
		t.Fatal(got)
	}
	n.Settle()
	open := l.shut()
	var group sync.WaitGroup
	group.Go(func() { n.get(t, "acc", 10_000) }) // it brings a block
	storetest.Until(t, "the ledger's answer to be on its way", func() bool { return l.late.Load() == 1 })
	for range 5 {
		group.Go(func() { n.get(t, "acc", 203) })
	}
	time.Sleep(20 * time.Millisecond) // let them wait
	open()
	group.Wait()
	n.burst(t, "acc", 50, 4, 203)
	if got := n.served.Load(); got != 203 {
		t.Errorf("served %d, want 203", got)
	}
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); got != 203 {
		t.Errorf("the ledger counts %d", got)
	}
}

// A block that the node holds when the plan is lowered goes back: what is left is of the lower limit.
func TestLimitIsLoweredWhileABlockIsHeld(t *testing.T) {
	t.Parallel()
	_, st, n := sqliteNode(t)
	n.burst(t, "acc", 2000, 8, 10_000)
	n.Settle()
	if n.Held("acc") < 50 {
		t.Fatalf("%d requests are held in advance: the test shows nothing", n.Held("acc"))
	}
	if got := n.burst(t, "acc", 50, 4, 2003); got != 3 {
		t.Errorf("served %d of the 3 that are left of 2,003", got)
	}
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); got != 2003 {
		t.Errorf("the ledger counts %d", got)
	}
}

// The contact by which the ledger is found to be back brings a block, which was asked for before it went away. What was
// admitted from memory meanwhile was of the same requests that were left.
func TestBlockComesAfterAnOutage(t *testing.T) {
	t.Parallel()
	_, st, l, n := heldNode(t)
	const limit = 10_000
	n.burst(t, "acc", 2000, 8, limit)
	n.Settle()
	l.deaf.Store(true)
	var group sync.WaitGroup
	group.Go(func() { n.get(t, "other", limit) })
	storetest.Until(t, "the ledger to be asked in vain", func() bool { return l.late.Load() == 1 })
	n.burst(t, "acc", int(n.Held("acc")), 1, limit) // the next block is due
	open := l.shut()
	l.deaf.Store(false)
	storetest.Until(t, "the block to be on its way", func() bool { return l.late.Load() == 2 })
	group.Wait()
	n.burst(t, "acc", 2*limit, 4, limit)
	if counted(t, st, "acc") <= 2000 || n.served.Load() != limit+1 {
		t.Fatalf("the ledger counts %d, %d are served: the test shows nothing", counted(t, st, "acc"), n.served.Load())
	}
	open()
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	n.burst(t, "acc", 1000, 4, limit)
	if got := n.served.Load() - 1; got != limit {
		t.Errorf("served %d, want %d", got, limit)
	}
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); got != limit {
		t.Errorf("the ledger counts %d", got)
	}
}

// Midnight passes while an answer is on its way: the grant belongs to the day that the ledger counted it in.
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
	storetest.Until(t, "the ledger's answer to be on its way", func() bool { return l.late.Load() == 1 })
	c.toMidnight(time.Second)
	group.Go(func() { n.get(t, "acc", 10_000) })
	time.Sleep(20 * time.Millisecond) // let it wait
	open()
	group.Wait()
	closeNode(t, n.Store)
	r, _, err := st.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaAdd, Key: "acc", Period: quota.Day, Start: yesterday}})
	if today := counted(t, st, "acc"); err != nil || r[0].Used != 301 || today != 1 {
		t.Errorf("counted %d yesterday and %d today, want 301 and 1; %v", r[0].Used, today, err)
	}
}

// A ledger that neither answers nor refuses is waited for once, also by those who come while others wait.
func TestDeafLedger(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	l := &held{Ledger: st}
	n := watch(t, l, quota.Options{Advance: true})
	n.burst(t, "acc", 10, 1, 100)
	n.Settle()
	l.deaf.Store(true)
	var group sync.WaitGroup
	for range 40 {
		group.Go(func() { n.get(t, "acc", 100) })
		group.Go(func() { n.get(t, "new", 100) })
		time.Sleep(10 * time.Millisecond) // one comes after the other
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
	// Nobody knows whether a ledger that did not answer heard: requests may be counted twice, never not at all.
	for key, least := range map[string]int64{"acc": 100, "new": 40, "third": 100} {
		if got := counted(t, st, key); got < least {
			t.Errorf("the ledger counts %d of the %d of %s", got, least, key)
		}
	}
}

// A block whose way home was heard, but not answered, does not go home twice.
func TestBlockGoesHomeOnce(t *testing.T) {
	t.Parallel()
	c, st, l, n := heldNode(t)
	n.burst(t, "acc", 2000, 8, 10_000)
	n.Settle()
	if n.Held("acc") < 50 {
		t.Fatalf("%d requests are held in advance: the test shows nothing", n.Held("acc"))
	}
	l.mute.Store(true)
	c.move(2 * time.Second)
	storetest.Until(t, "the block to be heard of", func() bool { return counted(t, st, "acc") == 2000 && n.Away() })
	l.mute.Store(false)
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); got != 2000 {
		t.Errorf("the ledger counts %d of 2,000", got)
	}
}

// After Close nobody waits, nothing runs, and what was held is home; a Close that cannot write says so in time.
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
		t.Errorf("the ledger counts %d, served were %d", got, want)
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
		t.Errorf("close without a ledger: %v after %s", err, time.Since(began))
	}
	unlock()
}

// Who still waits when the server ends is served, but no block is taken for them: nobody would give it back.
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
	storetest.Until(t, "the ledger's answer to be on its way", func() bool { return l.late.Load() == 1 })
	group.Go(func() { closeNode(t, n.Store) })
	for range 1000 { // more than the block is enough for
		group.Go(func() { n.get(t, "acc", limit) })
	}
	time.Sleep(100 * time.Millisecond) // let them wait
	open()
	group.Wait()
	if got, want := counted(t, st, "acc"), n.served.Load(); got != want || want != 3001 {
		t.Errorf("the ledger counts %d, served were %d of 3,001", got, want)
	}
}

// Nodes leave no goroutine behind. Not parallel: it counts them.
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
	n.Sweep() // blocks of yesterday go home, and with it their accounts are asked about today
	c.toMidnight(time.Hour)
	n.Sweep()
	if left := n.Forget(); left != 0 {
		t.Errorf("%d accounts of past days are left", left)
	}
	closeNode(t, n.Store)
}

// A block is no more than was used of late: not after a long pause, and not when a rush becomes a trickle.
func TestBlockIsNoMoreThanUsedOfLate(t *testing.T) {
	t.Parallel()
	c, st, n := sqliteNode(t)
	const limit = 100_000
	n.burst(t, "acc", 3000, 8, limit)
	n.Settle()
	if got := n.Held("acc"); got < 500 || got > 3000 {
		t.Errorf("after 3,000 requests %d are held", got)
	}
	for range 25 { // never idle for long, but slow
		c.move(time.Second)
		n.get(t, "acc", limit)
		n.Sweep()
	}
	if got := n.Held("acc"); got > 20 {
		t.Errorf("at one request a second %d are held", got)
	}
	n.burst(t, "acc", 3000, 8, limit)
	c.move(time.Hour)
	n.Sweep()
	n.get(t, "acc", limit)
	n.get(t, "acc", limit)
	n.Settle()
	if got := n.Held("acc"); got > 2 {
		t.Errorf("two requests after an hour: %d are held", got)
	}
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); got != n.served.Load() {
		t.Errorf("the ledger counts %d, served were %d", got, n.served.Load())
	}
}

// A node holds no more than a sixteenth of what is left, also when the next block comes before the last one is spent.
func TestBlockIsASixteenthOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	_, _, n := sqliteNode(t)
	const limit = 10_000
	var most int64
	for range limit {
		n.get(t, "acc", limit)
		n.Settle() // the next block comes before this one is spent
		held, left := n.Held("acc"), limit-n.served.Load()
		if held*16 > left {
			t.Fatalf("%d are held of %d that are left", held, left)
		}
		most = max(most, held)
	}
	if most < 200 || n.served.Load() != limit {
		t.Errorf("at most %d were held, %d served: the test shows nothing", most, n.served.Load())
	}
	closeNode(t, n.Store)
}
