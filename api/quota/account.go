package quota

import (
	"sync"
	"time"

	"lottery/models/store"
)

// account is what a node knows of one counter. There are as many as customers who asked today: it is kept small.
type account struct {
	key    string
	period time.Duration

	mu     sync.Mutex
	start  int64 // of the period that used and block belong to (Unix seconds); 0 = the ledger was never asked
	used   int64 // the ledger's count at the last contact: everything granted in the period, on any node, our block included
	block  int64 // granted to this node and not spent yet
	limit  int64 // that the block was granted under
	asked  int64 // when the ledger last answered (Unix nanoseconds)
	epoch  int64 // of the store (Store.epoch) at the last contact
	turns  int64 // contacts so far
	flying int64 // debts of the running period that the ledger is being told just now
	idleAt int64 // when the block goes back unless a request comes (Unix nanoseconds)
	known  bool  // used is the ledger's word on the running period
	queued bool  // the loop has this account, or will take it
	want   bool  // the next block is due
	over   bool  // a request of the running period was refused here

	waiting []*waiter
	owed    []debt // what the ledger must still be told

	recent usage
}

// waiter is a request that waits for the ledger.
type waiter struct {
	need   int64
	limit  int64
	answer chan answer // buffered: the loop never waits for a request
}

// answer is what the ledger said.
type answer struct {
	admitted  bool
	memory    bool // decided without the ledger
	remaining int64
	start     int64
}

// debt is a change that the ledger must be told: a block given back (negative), or requests that were admitted
// while it was away (positive).
type debt struct{ start, n int64 }

func (a *account) owe(start, n int64) {
	if n == 0 {
		return
	}
	for i := range a.owed {
		if a.owed[i].start == start {
			a.owed[i].n += n
			return
		}
	}
	a.owed = append(a.owed, debt{start, n})
}

// unwritten is what the ledger's count of the running period will change by when it has been told all: requests
// admitted without it, less what was given back. It may be negative.
func (a *account) unwritten() int64 {
	n := a.flying
	for _, d := range a.owed {
		if d.start == a.start {
			n += d.n
		}
	}
	return n
}

// settle pays requests that were admitted without the ledger with what it has granted since.
func (a *account) settle() {
	for i := range a.owed {
		if d := &a.owed[i]; d.start == a.start && d.n > 0 {
			paid := min(d.n, a.block)
			d.n, a.block = d.n-paid, a.block-paid
		}
	}
}

// roll begins a new period: what is left of the old one's block goes back to it.
func (a *account) roll(start int64) {
	if a.start >= start {
		return // a clock that is a little behind the ledger must not begin the old period again
	}
	a.owe(a.start, -a.block)
	a.start, a.used, a.block, a.flying = start, 0, 0, 0
	a.over, a.want, a.known, a.asked = false, false, false, 0
}

// release gives n of the block back. used stays what the ledger said: it has not heard yet.
func (a *account) release(n int64) {
	a.owe(a.start, -n)
	a.block -= n
	a.want = false
}

// remaining is what the account has left of limit, as far as this node knows.
func (a *account) remaining(limit int64) int64 {
	return max(0, limit-a.used+a.block-a.unwritten())
}

// spent is how much of the period is used, as far as this node knows; its block counts as unused.
func (a *account) spent() int64 { return max(0, a.used-a.block+a.unwritten()) }

// batch is what the loop asks of the ledger for one account.
type batch struct {
	a       *account
	ops     []store.QuotaOp // debts, and last the take
	debts   []debt
	waiting []*waiter
}

// take makes the account's batch. An advance is asked for only when somebody waits or a block runs out: what was
// given back must not be taken again by the contact that gives it back. a.mu is held.
func (a *account) take(now time.Time, advance, floor bool) batch {
	take := store.QuotaOp{Kind: store.QuotaTake, Key: a.key, Period: a.period, Limit: a.limit}
	for _, w := range a.waiting {
		take.Need += w.need
		take.Limit = w.limit // the newest word on the plan
	}
	if take.Limit < a.limit {
		a.release(a.block) // it came, under the higher limit, while they began to wait
	}
	a.limit, take.Held = take.Limit, a.block
	if advance && (a.want || len(a.waiting) > 0) {
		if take.Recent = a.recent.count(now); take.Recent < sparse {
			take.Recent = 0
		}
	}
	a.want = false
	b := batch{a: a, debts: a.owed, waiting: a.waiting}
	a.owed, a.waiting = nil, nil
	if floor && a.start != 0 {
		b.ops = append(b.ops, a.floor())
	}
	for _, d := range b.debts {
		if d.n == 0 {
			continue
		}
		b.ops = append(b.ops, store.QuotaOp{Kind: store.QuotaAdd, Key: a.key, Period: a.period, Start: d.start, N: d.n})
		if d.start == a.start {
			a.flying += d.n
		}
	}
	b.ops = append(b.ops, take)
	return b
}

// floor tells the ledger what it said at the last contact.
func (a *account) floor() store.QuotaOp {
	return store.QuotaOp{Kind: store.QuotaFloor, Key: a.key, Period: a.period, Start: a.start, N: a.used}
}

// sparse is how few requests of late are too few for a block: it would go home before the next one comes.
const sparse = int64(recentWindow / idleAfter)

// usage counts what a node admitted of late: the running window and the one before.
type usage struct {
	window     int64
	now, prior int64
}

// recentWindow is what "of late" means for blocks: a node that stops being used holds nothing after it, and gives
// back what it holds long before.
const recentWindow = 8 * time.Second

func (u *usage) add(at time.Time, n int64) {
	u.roll(at)
	u.now += n
}

func (u *usage) count(at time.Time) int64 {
	u.roll(at)
	return u.now + u.prior
}

func (u *usage) roll(at time.Time) {
	w := at.UnixNano() / int64(recentWindow)
	switch w {
	case u.window:
	case u.window + 1:
		u.window, u.prior, u.now = w, u.now, 0
	default:
		u.window, u.prior, u.now = w, 0, 0
	}
}
