package quota

import (
	"sync"
	"time"

	"lottery/models/store"
)

// account is one node's view of one counter. There is one per customer who made a request today, so it is kept small.
type account struct {
	key    string
	period time.Duration

	mu     sync.Mutex
	start  int64 // start of the period that used and block belong to (Unix seconds); 0 = the backend was never asked
	used   int64 // the backend's count at the last contact: all that was granted to any node, our block included
	block  int64 // granted to this node and not yet spent
	limit  int64 // the limit under which the block was granted
	asked  int64 // when the backend last answered (Unix nanoseconds); 0 = ask it again
	turns  int64 // contacts so far
	flying int64 // debts of the running period in the contact under way
	idleAt int64 // when the block is given back unless a request comes first (Unix nanoseconds)
	known  bool  // used was read from the backend in the running period, or an attempt was made
	queued bool  // the loop has this account, or is about to take it
	want   bool  // the next block is due
	over   bool  // a request was refused here in the running period

	source *source          // who told used; nil = nobody yet
	former map[string]int64 // how much of used former servers counted (see store.QuotaResult); never changed in place

	waiting []*waiter
	owed    []debt // changes that the backend has not been told of

	recent usage
}

// waiter is a request that is waiting for the backend.
type waiter struct {
	need   int64
	limit  int64
	answer chan answer // buffered: the loop never waits for a request
}

// answer is the loop's reply to a waiter.
type answer struct {
	admitted  bool
	memory    bool // decided without the backend
	remaining int64
	start     int64
}

// debt is a change that the backend has not been told of: a block or requests given back (negative), or requests
// admitted while the backend was away (positive). start is the period's (Unix seconds).
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

// unwritten is how much the backend's count of the running period will change once all debts are delivered: requests
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

// settle pays for requests that were admitted without the backend out of the block that it has granted since.
func (a *account) settle() {
	for i := range a.owed {
		if d := &a.owed[i]; d.start == a.start && d.n > 0 {
			paid := min(d.n, a.block)
			d.n, a.block = d.n-paid, a.block-paid
		}
	}
}

// roll begins the period at start unless a later one has begun.
func (a *account) roll(start int64) {
	if a.start < start { // a clock slightly behind the backend's must not restart the old period
		a.begin(start)
	}
}

// catchUp rolls to start, the latest period known after the backend has answered. If the account was in a later one
// before the backend was asked, the backend's clock was ahead and has been set back: the earlier period is running again.
func (a *account) catchUp(before, start int64) {
	if a.roll(start); before > start && a.start > start {
		a.begin(start)
	}
}

// begin begins the period at start. What is left of the other period's block is given back to that period.
func (a *account) begin(start int64) {
	a.owe(a.start, -a.block)
	a.start, a.used, a.block, a.flying, a.former = start, 0, 0, 0, nil
	a.over, a.want, a.known, a.asked = false, false, false, 0
}

// release gives back n of the block. used stays as it is, since the backend has not been told yet.
func (a *account) release(n int64) {
	a.owe(a.start, -n)
	a.block -= n
	a.want = false
}

// remaining is what the account has left of limit, as far as this node knows.
func (a *account) remaining(limit int64) int64 {
	return max(0, limit-a.used+a.block-a.unwritten())
}

// spent is how much of the period's limit is used, as far as this node knows; its block counts as unused.
func (a *account) spent() int64 { return max(0, a.used-a.block+a.unwritten()) }

// batch is what the loop asks of the backend for one account in one contact.
type batch struct {
	a       *account
	start   int64           // the account's period
	ops     []store.QuotaOp // what remind adds, the debts, then the take
	debts   []debt
	reminds bool // the first of ops is what remind adds
	waiting []*waiter
}

// take builds the account's batch. It asks for an advance only if a request is waiting or the block is running out:
// otherwise the contact that gives a block back would take it again. a.mu is held.
func (a *account) take(now time.Time, advance bool) batch {
	take := store.QuotaOp{Kind: store.QuotaTake, Key: a.key, Period: a.period, Limit: a.limit}
	for _, w := range a.waiting {
		take.Need += w.need
		take.Limit = w.limit // the most recent request knows the plan best
	}
	if take.Limit < a.limit {
		a.release(a.block) // granted under the higher limit, while these requests were already waiting
	}
	a.limit, take.Held = take.Limit, a.block
	if advance && (a.want || len(a.waiting) > 0) {
		if take.Recent = a.recent.count(now); take.Recent < sparse {
			take.Recent = 0
		}
	}
	a.want = false
	b := batch{a: a, start: a.start, debts: a.owed, waiting: a.waiting}
	a.owed, a.waiting = nil, nil
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

// sparse is the number of recent requests below which no block is taken: it would be given back
// before the next request.
const sparse = int64(recentWindow / idleAfter)

// usage counts the requests that a node admitted recently: in the current window and the one before.
type usage struct {
	window     int64
	now, prior int64
}

// recentWindow defines "recently" for the size of blocks. A node that is no longer used takes no block after two
// windows, and gives back the one it holds long before that.
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
