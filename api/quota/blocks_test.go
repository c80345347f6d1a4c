package quota_test

import (
	"sync"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// A block granted under the higher limit while the plan is being lowered is not spent under the lower limit.
func TestLimitIsLoweredWhileABlockIsOnItsWay(t *testing.T) {
	t.Parallel()
	_, st, l, n := heldNode(t)
	if got := n.burst(t, "acc", 200, 8, 256); got != 200 {
		t.Fatal(got)
	}
	n.Settle()
	open := l.shut()
	var group sync.WaitGroup
	group.Go(func() { n.get(t, "acc", 10_000) }) // brings a block
	storetest.Until(t, "the backend's answer to be on its way", func() bool { return l.late.Load() == 1 })
	for range 5 {
		group.Go(func() { n.get(t, "acc", 203) })
	}
	n.untilWaiting(t, "acc", 5)
	open()
	group.Wait()
	n.burst(t, "acc", 50, 4, 203)
	if got := n.served.Load(); got != 203 {
		t.Errorf("served %d, want 203", got)
	}
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); got != 203 {
		t.Errorf("the backend counts %d", got)
	}
}

// A block that the node holds when the plan is lowered is given back: what remains is measured against the lower limit.
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
		t.Errorf("the backend counts %d", got)
	}
}

// The contact that finds the backend back also brings a block, asked for before the outage. Requests admitted from
// memory in between used up part of the same remainder.
func TestBlockComesAfterAnOutage(t *testing.T) {
	t.Parallel()
	_, st, l, n := heldNode(t)
	const limit = 10_000
	n.burst(t, "acc", 2000, 8, limit)
	n.Settle()
	l.deaf.Store(true)
	var group sync.WaitGroup
	group.Go(func() { n.get(t, "other", limit) })
	storetest.Until(t, "the backend to be asked in vain", func() bool { return l.late.Load() == 1 })
	n.burst(t, "acc", int(n.Held("acc")), 1, limit) // the next block is due
	open := l.shut()
	l.deaf.Store(false)
	storetest.Until(t, "the block to be on its way", func() bool { return l.late.Load() == 2 })
	group.Wait()
	n.burst(t, "acc", 2*limit, 4, limit)
	if counted(t, st, "acc") <= 2000 || n.served.Load() != limit+1 {
		t.Fatalf("the backend counts %d, %d are served: the test shows nothing", counted(t, st, "acc"), n.served.Load())
	}
	open()
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	n.burst(t, "acc", 1000, 4, limit)
	if got := n.served.Load() - 1; got != limit {
		t.Errorf("served %d, want %d", got, limit)
	}
	closeNode(t, n.Store)
	if got := counted(t, st, "acc"); got != limit {
		t.Errorf("the backend counts %d", got)
	}
}

// A block that was given back in a contact that the backend heard but could not answer is not given back twice.
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
		t.Errorf("the backend counts %d of 2,000", got)
	}
}

// A block is no larger than recent use: not after a long pause, and not when a rush slows to a trickle.
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
	n.Settle()
	c.move(time.Second)
	n.get(t, "acc", limit)
	n.Settle()
	c.move(1499 * time.Millisecond)
	if n.Sweep(); n.Held("acc") == 0 {
		t.Error("the block is given back although it was used 1.5 s ago")
	}
	c.move(time.Millisecond)
	if n.Sweep(); n.Held("acc") != 0 {
		t.Error("the block is held although it was not used for 1.5 s")
	}
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
		t.Errorf("the backend counts %d, served were %d", got, n.served.Load())
	}
}

// A node holds at most a sixteenth of what is left, even if the next block arrives before the last one is spent.
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
