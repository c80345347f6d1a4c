package quota

import (
	"context"
	"runtime"
	"time"

	"lottery/models"
	"lottery/models/store"
)

const (
	// ledgerTimeout is how long a ledger that neither answers nor refuses is waited for, once; after that it is away.
	ledgerTimeout = 2 * time.Second
	// retryAfter is how often a ledger that is away is tried again.
	retryAfter = 250 * time.Millisecond
	// sweepEvery is how often blocks are looked at that nobody uses.
	sweepEvery = 250 * time.Millisecond
	// syncEvery is how often the ledger's clock is asked for when nothing else asks.
	syncEvery = 10 * time.Second
	// noticeEvery is the same where the ledger may be another server since, which has forgotten: that is noticed at a contact.
	noticeEvery = time.Second
	// forgetEvery is how often accounts of past periods are forgotten.
	forgetEvery = 10 * time.Minute
	// mostAccounts is how many accounts one contact serves: it bounds how long rows stay locked.
	mostAccounts = 500
	// gather is how long accounts that can wait are gathered for one contact.
	gather = 50 * time.Millisecond
)

// enqueue gives a to the loop, which takes it at once. a.mu is held.
func (s *Store) enqueue(a *account) {
	s.queue(a)
	s.kick()
}

// enqueueSoon gives a to the loop, which takes it after gather, together with others. a.mu is held.
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

// loop is the one goroutine that talks to the ledger about requests: whoever waits shares its next contact.
func (s *Store) loop() {
	defer close(s.done)
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	s.contact() // the ledger's clock, before the first request
	lastSync, lastForget := time.Now(), time.Now()
	for {
		wake := s.wake
		if s.away.Load() {
			wake = nil // requests do not wait for it; it is tried at every tick
		}
		select {
		case <-s.stop:
			return
		case <-wake:
			if s.idle() {
				continue // who it was woken for went along with others
			}
			runtime.Gosched() // requests that are ready to run get in line first: a contact for ten costs little more than one for one
			s.contact()
			lastSync = time.Now()
		case at := <-sweep.C:
			s.giveBackIdle()
			if s.away.Load() {
				s.answerPending() // whoever began to wait at the moment that the ledger went away
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
	if s.opts.Volatile || s.opts.Replaceable {
		return noticeEvery
	}
	return syncEvery
}

func (s *Store) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) == 0
}

// contact asks the ledger for all that is pending, in portions.
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

// apply asks the ledger for some accounts and tells whether it answered.
func (s *Store) apply(accounts []*account) bool {
	batches := make([]batch, len(accounts))
	epoch, at := s.epoch.Load(), s.clock.now()
	advance := s.opts.Advance && !s.closing.Load() && !s.away.Load() // a block that nobody is sure to hear of would be lost
	for i, a := range accounts {
		a.mu.Lock()
		batches[i] = a.take(at, advance, a.epoch != epoch)
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
	ctx, cancel := context.WithTimeout(context.Background(), ledgerTimeout)
	defer cancel()
	began := time.Now()
	results, now, err := s.tell(ctx, operations, func() {
		epoch = s.epoch.Load()
		remind(batches)
	})
	if err != nil {
		s.failed(batches, mark, err)
		return false
	}
	s.clock.set(now, time.Since(began))
	if s.away.Swap(false) {
		s.opts.Metrics.away.Set(0)
		s.opts.Log.Info("the quota counters answer again")
	}
	for i := range batches {
		n := len(batches[i].ops)
		s.granted(&batches[i], results[n-1], epoch)
		results = results[n:]
	}
	return true
}

// granted hands out what the ledger granted: to those who wait, in their order, the rest into the block.
func (s *Store) granted(b *batch, r store.QuotaResult, epoch int64) {
	a := b.a
	a.mu.Lock()
	defer a.mu.Unlock()
	now := s.clock.now()
	a.roll(r.Start)
	a.roll(models.PeriodStart(now, a.period))
	a.flying, a.epoch = 0, epoch
	a.turns++
	if r.Start == a.start {
		a.used, a.asked, a.known = r.Used, now.UnixNano(), true
		a.block += r.Granted
		a.serve(b.waiting, now)
		a.serveEarly(now)
		a.settle()
	} else {
		a.serveLate(b.waiting, r) // granted before midnight, and midnight has passed
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

// serve answers those who waited, from the block. a.mu is held.
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

// serveEarly answers those who began to wait during the contact, if its block is enough for them. a.mu is held.
func (a *account) serveEarly(now time.Time) {
	for len(a.waiting) > 0 && a.block >= a.waiting[0].need && a.waiting[0].limit >= a.limit {
		a.serve(a.waiting[:1], now)
		a.waiting = a.waiting[1:]
	}
}

// serveLate answers those whom the ledger counted in a period that has ended here. a.mu is held.
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

// indebted tells whether the ledger must be told something. a.mu is held.
func (a *account) indebted() bool {
	for _, d := range a.owed {
		if d.n != 0 {
			return true
		}
	}
	return false
}

// giveBackIdle gives back blocks that nobody uses, and those of a day that has ended.
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
		keep := a.recent.count(now) // traffic that has become thin must not sit on the block of a rush
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

// forget drops accounts that were last asked about in a past period.
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

// Close gives all blocks back and tells the ledger what it does not know yet. Requests that come after it, or that
// still wait at its end, get an error. It is for one call.
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
		s.contact()
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
