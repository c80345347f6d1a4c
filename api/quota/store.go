package quota

import (
	"context"
	"crypto/rand"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ulule/limiter/v3"

	"lottery/models"
	"lottery/models/store"
)

// Options configures a Store.
type Options struct {
	// Advance lets the node take blocks of requests in advance, so that most requests touch only memory.
	Advance bool
	// Volatile means that the backend may have lost counts after any outage, so it is told what this node knows.
	Volatile bool
	// Replaceable means that another server may replace the backend (see replaceable); that is checked every second.
	Replaceable bool
	Now         func() time.Time // nil = time.Now
	Log         *slog.Logger
	Metrics     *Metrics // nil = none
}

// Store is a limiter.Store whose periods begin at multiples of their length since 1970 UTC, so that a period of 24 h is
// the UTC day by the backend's clock. Refused requests are not counted. It is safe for concurrent use.
//
// A request is admitted from the node's block, or else waits for the backend; one contact serves all waiting requests.
// While the backend is away, a node admits what it knows to remain and tells the backend afterwards.
type Store struct {
	backend Backend
	opts    Options
	clock   *clock
	seed    maphash.Seed
	shards  [64]shard

	mu      sync.Mutex
	pending []*account            // queued for the loop
	holding map[*account]struct{} // accounts that have a block
	// gathering means that a timer is set to wake the loop.
	gathering bool

	wake    chan struct{}
	stop    chan struct{}
	done    chan struct{} // the loop has ended
	ended   chan struct{} // Close has returned
	closing atomic.Bool
	away    atomic.Bool

	contacted chan struct{}          // the backend was contacted once, whether or not it answered
	source    atomic.Pointer[source] // who tells counts now; nil = nobody has answered yet

	// Used by the loop, then by Close; see mark.
	name  string
	marks int
	doubt *doubt // nil = none

	// Used by the loop, then by Close.
	clocks store.Clocks
	outage store.Outage

	// Used by the loop only; see tellKnown.
	tellingOf *source // who is being told
	telling   int     // index of the next shard
}

type shard struct {
	mu       sync.RWMutex
	accounts map[accountID]*account
}

type accountID struct {
	key    string
	period time.Duration
}

var _ limiter.Store = (*Store)(nil)

// New starts a Store. Close ends it.
func New(backend Backend, opts Options) *Store {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Metrics == nil {
		opts.Metrics = NewMetrics()
	}
	s := &Store{
		backend: backend, opts: opts, clock: newClock(opts.Now), seed: maphash.MakeSeed(), holding: map[*account]struct{}{},
		outage: store.Outage{Every: logEvery},
		name:   rand.Text(), wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{}), contacted: make(chan struct{}),
	}
	for i := range s.shards {
		s.shards[i].accounts = map[accountID]*account{}
	}
	go s.loop()
	return s
}

func (s *Store) account(key string, period time.Duration) *account {
	id := accountID{key, period}
	sh := &s.shards[maphash.String(s.seed, key)%uint64(len(s.shards))]
	sh.mu.RLock()
	a := sh.accounts[id]
	sh.mu.RUnlock()
	if a != nil {
		return a
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if a = sh.accounts[id]; a == nil {
		a = &account{key: key, period: period}
		sh.accounts[id] = a
	}
	return a
}

// Get counts one request. The request is admitted unless the result has Reached set.
func (s *Store) Get(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return s.Increment(ctx, key, 1, rate)
}

// refusalHolds is how long a refusal is repeated without asking the backend; idleAfter is how long
// an unused block is kept.
const (
	refusalHolds = 200 * time.Millisecond
	idleAfter    = 1500 * time.Millisecond
)

// Increment counts n requests, all or none; n ≥ 1.
func (s *Store) Increment(_ context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	a := s.account(key, rate.Period)
	a.mu.Lock()
	now := s.clock.now()
	if start := models.PeriodStart(now, rate.Period); a.start != 0 || s.away.Load() {
		a.roll(start)
	}
	if a.block > 0 && rate.Limit < a.limit {
		a.release(a.block) // it was granted under a higher limit
		s.enqueue(a)
	}
	if a.block >= n {
		a.block -= n
		s.spent(a, now, n)
		c := a.state(rate, false)
		a.mu.Unlock()
		s.opts.Metrics.admitted.Inc()
		return c, nil
	}
	if s.away.Load() {
		defer a.mu.Unlock()
		if s.closing.Load() { // nobody would tell the backend
			return limiter.Context{}, errClosed
		}
		return s.withoutBackend(a, now, n, rate), nil
	}
	if since := time.Duration(now.UnixNano() - a.asked); a.remaining(rate.Limit) == 0 && since >= 0 && since < refusalHolds && !a.queued {
		c := a.state(rate, true)
		a.mu.Unlock()
		s.opts.Metrics.refused.Inc()
		return c, nil
	}
	w := &waiter{need: n, limit: rate.Limit, answer: make(chan answer, 1)}
	a.waiting = append(a.waiting, w)
	s.enqueue(a)
	a.mu.Unlock()

	got, err := s.await(w)
	switch {
	case err != nil:
		return limiter.Context{}, err
	case !got.admitted:
		s.opts.Metrics.refused.Inc()
	case got.memory:
		s.opts.Metrics.withoutBackend.Inc()
	default:
		s.opts.Metrics.admitted.Inc()
	}
	return limiter.Context{
		Limit: rate.Limit, Remaining: got.remaining, Reset: got.start + int64(rate.Period/time.Second), Reached: !got.admitted,
	}, nil
}

// await waits until the loop answers, which it does within about backendTimeout, or until Close returns.
func (s *Store) await(w *waiter) (answer, error) {
	select {
	case got := <-w.answer:
		return got, nil
	case <-s.ended:
	}
	select {
	case got := <-w.answer:
		return got, nil
	default:
		return answer{}, errClosed
	}
}

var errClosed = models.Errorf(models.CodeUnavailable, "the server is shutting down")

// GiveBack takes back one request of the period that ends at reset (Unix seconds): it failed through
// no fault of the customer.
func (s *Store) GiveBack(key string, period time.Duration, reset int64) {
	a := s.account(key, period)
	start := reset - int64(period/time.Second)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.owe(start, -1)
	s.enqueue(a)
}

// spent records that n requests were admitted from the block. It asks for the next block when no more than a quarter of
// a full one is left. a.mu is held.
func (s *Store) spent(a *account, now time.Time, n int64) {
	a.recent.add(now, n)
	a.idleAt = now.Add(idleAfter).UnixNano()
	if !s.opts.Advance || a.queued || s.away.Load() {
		return
	}
	recent := a.recent.count(now)
	if a.block > store.QuotaAdvance(a.limit-a.used, recent)/4 {
		return
	}
	a.want = true
	if a.block > recent*int64(2*gather)/int64(recentWindow) {
		s.enqueueSoon(a) // the block lasts longer than gather
	} else {
		s.enqueue(a)
	}
}

// withoutBackend admits n requests from what remained at the last contact. a.mu is held.
func (s *Store) withoutBackend(a *account, now time.Time, n int64, rate limiter.Rate) limiter.Context {
	s.learn(a)
	reached := a.remaining(rate.Limit) < n
	if reached {
		a.over = true
		s.opts.Metrics.refused.Inc()
	} else {
		a.owe(a.start, n)
		a.recent.add(now, n)
		s.enqueue(a)
		s.opts.Metrics.withoutBackend.Inc()
	}
	return a.state(rate, reached)
}

// state is what this node knows of a, as the limiter library reports it. a.mu is held.
func (a *account) state(rate limiter.Rate, reached bool) limiter.Context {
	return limiter.Context{Limit: rate.Limit, Remaining: a.remaining(rate.Limit), Reset: a.start + int64(rate.Period/time.Second), Reached: reached}
}

// Peek reports what remains without counting.
func (s *Store) Peek(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	c, _, err := s.ask(ctx, key, rate, store.QuotaPeek)
	return c, err
}

// Reset sets the counter of the running period to zero.
func (s *Store) Reset(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	c, _, err := s.ask(ctx, key, rate, store.QuotaReset)
	return c, err
}

// ask contacts the backend at once; while it is away, a peek is answered from memory. c and used
// describe the same moment.
func (s *Store) ask(ctx context.Context, key string, rate limiter.Rate, kind store.QuotaKind) (c limiter.Context, used int64, err error) {
	a := s.account(key, rate.Period)
	ctx, cancel := context.WithTimeout(ctx, backendTimeout)
	defer cancel()
	select {
	case <-s.contacted:
	case <-ctx.Done():
	}
	src := s.source.Load()
	a.mu.Lock()
	turns, before := a.turns, a.start
	a.mu.Unlock()
	var results []store.QuotaResult
	if !s.away.Load() {
		var now time.Time
		results, now, err = s.backend.ApplyQuota(ctx, []store.QuotaOp{{Kind: kind, Key: key, Period: rate.Period}})
		if err == nil {
			s.clock.set(now, backendTimeout)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if start := models.PeriodStart(s.clock.now(), rate.Period); len(results) > 0 {
		a.catchUp(before, max(start, results[0].Start))
	} else {
		a.roll(start)
	}
	switch {
	case err != nil && kind != store.QuotaPeek:
		return limiter.Context{}, 0, err
	case len(results) == 0:
		s.learn(a)
	case kind == store.QuotaReset:
		a.used, a.block, a.owed, a.over = 0, 0, nil, false
	case results[0].Start == a.start && a.turns == turns && a.flying == 0: // otherwise the loop has newer information
		// What another server told, or one that has not been told yet what this node knows, is not mixed with that.
		if told := a.source == src || a.used == 0; told && src == s.source.Load() {
			a.used, a.former, a.known, a.source = results[0].Used, results[0].Former, true, src
		}
	}
	a.asked = 0
	return a.state(rate, a.over && a.remaining(rate.Limit) == 0), a.spent(), nil
}
