package quota

import (
	"context"
	"runtime"
	"time"

	"lottery/models"
	"lottery/models/store"
)

const (
	// backendTimeout is how long one contact waits for a silent backend before the backend counts as away.
	backendTimeout = 2 * time.Second
	// retryAfter is how often Close retries a backend that is away; the loop does so every sweepEvery.
	retryAfter = 250 * time.Millisecond
	// sweepEvery is how often the loop looks for unused blocks, and tries a backend that is away.
	sweepEvery = 250 * time.Millisecond
	// syncEvery is how often the loop reads the backend's clock when there is no other contact.
	syncEvery = 10 * time.Second
	// noticeEvery replaces syncEvery where the backend may have been replaced and lost counts,
	// which only a contact reveals.
	noticeEvery = time.Second
	// forgetEvery is how often accounts of past periods are dropped.
	forgetEvery = 10 * time.Minute
	// mostAccounts is how many accounts one contact serves. It bounds how long rows stay locked.
	mostAccounts = 500
	// gather is how long the loop collects accounts that can wait, to serve them in one contact.
	gather = 50 * time.Millisecond
)

// enqueue queues a and wakes the loop at once. a.mu is held.
func (s *Store) enqueue(a *account) {
	s.queue(a)
	s.kick()
}

// enqueueSoon queues a and wakes the loop after gather, so that others can share the contact. a.mu is held.
func (s *Store) enqueueSoon(a *account) {
	s.queue(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.gathering {
		s.gathering = true
		time.AfterFunc(gather, func() {
			s.mu.Lock()
			s.gathering = false
			s.mu.Unlock()
			s.kick()
		})
	}
}

func (s *Store) queue(a *account) {
	if a.queued {
		return
	}
	a.queued = true
	s.mu.Lock()
	s.pending = append(s.pending, a)
	s.mu.Unlock()
}

// kick wakes the loop.
func (s *Store) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// loop is the only goroutine that contacts the backend to admit requests: all waiting requests share its next contact.
func (s *Store) loop() {
	defer close(s.done)
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	s.contact() // learn the backend's clock before the first request
	close(s.contacted)
	lastSync, lastForget := time.Now(), time.Now()
	for {
		wake := s.wake
		if s.away.Load() {
			wake = nil // requests do not wait for the backend now; it is tried at every tick
		}
		select {
		case <-s.stop:
			return
		case <-wake:
			if s.idle() {
				continue // an earlier contact served the account that caused this wake-up
			}
			runtime.Gosched() // let runnable requests join: a contact for ten costs little more than for one
			s.contact()
			lastSync = time.Now()
		case at := <-sweep.C:
			s.giveBackIdle()
			if s.away.Load() {
				s.answerPending() // requests that began to wait just as the backend went away
			}
			if s.away.Load() || at.Sub(lastSync) > s.syncEvery() {
				s.contact()
				lastSync = at
			}
			s.tellKnown()
			if at.Sub(lastForget) > forgetEvery {
				s.forget()
				lastForget = at
			}
		}
	}
}

func (s *Store) syncEvery() time.Duration {
	if s.opts.Replaceable {
		return noticeEvery
	}
	return syncEvery
}

func (s *Store) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) == 0
}

// contact serves all pending accounts, in portions of at most mostAccounts.
func (s *Store) contact() {
	if !s.resolve() {
		return
	}
	for {
		s.mu.Lock()
		n := min(len(s.pending), mostAccounts)
		accounts := s.pending[:n:n]
		s.pending = s.pending[n:]
		if len(s.pending) == 0 {
			s.pending = nil
		}
		s.mu.Unlock()
		if !s.apply(accounts) || n < mostAccounts {
			return
		}
	}
}

// apply makes one contact for the given accounts. It reports whether the backend answered.
func (s *Store) apply(accounts []*account) bool {
	batches := make([]batch, len(accounts))
	at := s.clock.now()
	advance := s.opts.Advance && !s.closing.Load() && !s.away.Load() // a block would be lost with its answer
	for i, a := range accounts {
		a.mu.Lock()
		batches[i] = a.take(at, advance)
		s.remind(&batches[i])
		a.mu.Unlock()
	}
	mark := s.mark()
	operations := func() []store.QuotaOp {
		var ops []store.QuotaOp
		for i := range batches {
			ops = append(ops, batches[i].ops...)
		}
		if mark != "" {
			ops = append(ops, store.QuotaOp{Kind: store.QuotaAdd, Key: mark, Period: Day, Start: models.PeriodStart(at, Day), N: 1})
		}
		return ops
	}
	ctx, cancel := context.WithTimeout(context.Background(), backendTimeout)
	defer cancel()
	began := time.Now()
	results, now, err := s.tell(ctx, operations, func() {
		for i := range batches {
			b := &batches[i]
			b.a.mu.Lock()
			s.remind(b)
			b.a.mu.Unlock()
		}
	})
	if err != nil {
		s.failed(batches, mark, err)
		return false
	}
	s.met()
	s.clock.set(now, time.Since(began))
	if s.opts.Volatile { // PostgreSQL's clock is compared by the schedule of jobs
		s.clocks.Compare(s.opts.Log, "Redis's", now, began)
	}
	if s.away.Swap(false) {
		s.opts.Metrics.away.Set(0)
	}
	s.note(nil)
	for i := range batches {
		n := len(batches[i].ops)
		s.granted(&batches[i], results[n-1])
		results = results[n:]
	}
	return true
}

// granted hands out the backend's grant: first to the waiting requests in order, the rest into the block.
func (s *Store) granted(b *batch, r store.QuotaResult) {
	a := b.a
	a.mu.Lock()
	defer a.mu.Unlock()
	now := s.clock.now()
	a.catchUp(b.start, max(r.Start, models.PeriodStart(now, a.period)))
	a.flying = 0
	a.turns++
	if r.Start == a.start {
		a.used, a.former, a.source, a.asked, a.known = r.Used, r.Former, s.source.Load(), now.UnixNano(), true
		a.block += r.Granted
		a.serve(b.waiting, now)
		a.serveEarly(now)
		a.settle()
	} else {
		a.serveLate(b.waiting, r) // granted before midnight, which has passed since
	}
	if a.block > 0 {
		a.idleAt = now.Add(idleAfter).UnixNano()
		s.mu.Lock()
		s.holding[a] = struct{}{}
		s.mu.Unlock()
	}
	a.queued = false
	if len(a.waiting) > 0 || a.indebted() {
		s.enqueue(a)
	}
}

// serve answers waiting requests from the block. a.mu is held.
func (a *account) serve(waiting []*waiter, now time.Time) {
	for _, w := range waiting {
		got := answer{start: a.start, admitted: a.block >= w.need}
		if got.admitted {
			a.block -= w.need
			a.recent.add(now, w.need)
			got.remaining = a.remaining(w.limit)
		} else {
			a.over = true
		}
		w.answer <- got
	}
}

// serveEarly answers requests that began to wait during the contact, as far as the block suffices. a.mu is held.
func (a *account) serveEarly(now time.Time) {
	for len(a.waiting) > 0 && a.block >= a.waiting[0].need && a.waiting[0].limit >= a.limit {
		a.serve(a.waiting[:1], now)
		a.waiting = a.waiting[1:]
	}
}

// serveLate answers requests that the backend counted in a period that is over by now. a.mu is held.
func (a *account) serveLate(waiting []*waiter, r store.QuotaResult) {
	left := r.Granted
	for _, w := range waiting {
		got := answer{start: r.Start, admitted: left >= w.need}
		if got.admitted {
			left -= w.need
			got.remaining = max(0, w.limit-r.Used+left)
		}
		w.answer <- got
	}
	a.owe(r.Start, -left)
}

// indebted reports whether the backend must be told something. a.mu is held.
func (a *account) indebted() bool {
	for _, d := range a.owed {
		if d.n != 0 {
			return true
		}
	}
	return false
}

// giveBackIdle gives back unused blocks, and those of a period that has ended.
func (s *Store) giveBackIdle() {
	s.mu.Lock()
	holding := make([]*account, 0, len(s.holding))
	for a := range s.holding {
		holding = append(holding, a)
	}
	s.mu.Unlock()
	now := s.clock.now()
	for _, a := range holding {
		a.mu.Lock()
		a.roll(models.PeriodStart(now, a.period))
		keep := a.recent.count(now) // a trickle of requests must not keep the block of an earlier rush
		if now.UnixNano() >= a.idleAt {
			keep = 0
		}
		if a.block > keep {
			a.release(a.block - keep)
		}
		if a.indebted() {
			s.enqueue(a)
		}
		if a.block == 0 {
			s.mu.Lock()
			delete(s.holding, a)
			s.mu.Unlock()
		}
		a.mu.Unlock()
	}
}

// forget drops accounts that were last used in a past period.
func (s *Store) forget() {
	now := s.clock.now()
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for id, a := range sh.accounts {
			a.mu.Lock()
			if a.start < models.PeriodStart(now, a.period) && !a.queued && a.block == 0 && !a.indebted() && len(a.waiting) == 0 {
				delete(sh.accounts, id)
			}
			a.mu.Unlock()
		}
		sh.mu.Unlock()
	}
}

// Close gives back all blocks and tells the backend what it does not know yet, or has lost. Requests that come later, or
// still wait when Close returns, get an error. Close may be called once.
func (s *Store) Close(ctx context.Context) error {
	s.closing.Store(true)
	defer close(s.ended)
	close(s.stop)
	<-s.done
	s.mu.Lock()
	for a := range s.holding {
		s.mu.Unlock()
		a.mu.Lock()
		a.release(a.block)
		s.enqueue(a)
		a.mu.Unlock()
		s.mu.Lock()
	}
	s.mu.Unlock()
	for {
		s.contact()     // it may find another server of the counters
		if s.untold() { // perhaps nobody else knows it
			for s.untold() {
				s.tellKnown()
			}
			continue
		}
		s.mu.Lock()
		left := len(s.pending)
		s.mu.Unlock()
		if s.doubt != nil {
			left = max(left, len(s.doubt.batches))
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return models.Errorf(models.CodeUnavailable, "the counters of %s could not be written: their store is away", models.Count(left, "account"))
		case <-time.After(retryAfter):
		}
	}
}
