package quota

// What happens while the ledger is away: nobody waits, and what a node admits from memory is told to the ledger later.

import (
	"context"
	"errors"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// failed is what happens to those who asked a ledger that is away: they are admitted from memory, and the ledger
// is told when it is back. Where nobody knows whether the ledger heard, blocks are not given back a second time:
// an account may lose by an outage, never gain.
func (s *Store) failed(batches []batch, err error) {
	unclear := errors.Is(err, store.ErrQuotaUnclear)
	s.opts.Metrics.errors.Inc()
	if !s.away.Swap(true) {
		s.outages.Add(1)
		s.opts.Metrics.away.Set(1)
	}
	s.logAway(err)
	for i := range batches {
		b := &batches[i]
		b.a.mu.Lock()
		for _, d := range b.debts {
			if d.n > 0 || !unclear {
				b.a.owe(d.start, d.n)
			}
		}
		b.a.flying = 0
		s.admitWaiting(b.a, b.waiting)
		b.a.queued = false
		s.enqueue(b.a)
		b.a.mu.Unlock()
	}
	s.answerPending()
}

// answerPending answers those in the queue from memory: they must not wait for the next attempt.
func (s *Store) answerPending() {
	s.mu.Lock()
	pending := s.pending
	s.mu.Unlock()
	for _, a := range pending {
		a.mu.Lock()
		waiting := a.waiting
		a.waiting = nil
		s.admitWaiting(a, waiting)
		a.mu.Unlock()
	}
}

// admitWaiting answers those who wait from what remained at the last contact. a.mu is held.
func (s *Store) admitWaiting(a *account, waiting []*waiter) {
	now := s.clock.now()
	a.roll(models.PeriodStart(now, a.period))
	if len(waiting) > 0 {
		s.learn(a)
	}
	for _, w := range waiting {
		got := answer{start: a.start, memory: true}
		if a.remaining(w.limit) >= w.need {
			a.owe(a.start, w.need)
			a.recent.add(now, w.need)
			got.admitted, got.remaining = true, a.remaining(w.limit)
		}
		w.answer <- got
	}
}

// learnTimeout bounds the wait for a counter that may be readable.
const learnTimeout = 100 * time.Millisecond

// learn reads the counter of an account that this node has not asked about in the running period, if the ledger can
// be read although it cannot be changed: a node that starts during an import knows what was used before. It tries
// once a period. a.mu is held.
func (s *Store) learn(a *account) {
	if a.known {
		return
	}
	a.known = true
	r, ok := s.ledger.(readable)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), learnTimeout)
	defer cancel()
	if used, start, ok := r.ReadQuota(ctx, a.key, a.period); ok && start == a.start {
		a.used = used
	}
}
