package quota

// What happens while the ledger is away: nobody waits, and what a node admits from memory is told to the ledger later.

import (
	"context"
	"errors"
	"strconv"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// failed is what happens to those who asked a ledger that is away: they are admitted from memory, and the ledger
// is told when it is back. Where nobody knows whether the ledger heard, that is found out by the contact's mark; one that
// has none, since the ledger was not away before, may be heard twice, but gives no block back a second time: an account may
// lose by an outage, never gain.
func (s *Store) failed(batches []batch, mark string, err error) {
	unclear := errors.Is(err, store.ErrQuotaUnclear)
	if unclear && mark != "" {
		s.doubt = &doubt{mark, batches}
	}
	s.opts.Metrics.errors.Inc()
	if !s.away.Swap(true) {
		if s.opts.Volatile {
			s.epoch.Add(1)
		}
		s.opts.Metrics.away.Set(1)
	}
	s.logAway(err)
	for i := range batches {
		b := &batches[i]
		b.a.mu.Lock()
		if s.doubt == nil {
			for _, d := range b.debts {
				if d.n > 0 || !unclear {
					b.a.owe(d.start, d.n)
				}
			}
			b.a.flying = 0
		}
		s.admitWaiting(b.a, b.waiting)
		b.a.queued = false
		s.enqueue(b.a)
		b.a.mu.Unlock()
	}
	s.answerPending()
}

// doubt is a contact of which nobody knows whether the ledger heard it. Its debts are on their way until that is known.
type doubt struct {
	mark    string // a counter that the ledger has if it heard
	batches []batch
}

// mark is the name of a counter that the next contact makes, beside what else it says: "" while the ledger answers. One
// that hears and cannot say so, such as a PostgreSQL that waits for a standby which is gone, would count what it is told at
// every attempt.
func (s *Store) mark() string {
	if !s.away.Load() {
		return ""
	}
	s.marks++
	return "contact:" + s.name + ":" + strconv.Itoa(s.marks)
}

// resolve asks the ledger whether it heard the contact that is in doubt, and tells whether none is.
func (s *Store) resolve() bool {
	if s.doubt == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), ledgerTimeout)
	defer cancel()
	results, _, err := s.tell(ctx, func() []store.QuotaOp {
		return []store.QuotaOp{{Kind: store.QuotaPeek, Key: s.doubt.mark, Period: Day}}
	}, func() {})
	if err != nil {
		s.opts.Metrics.errors.Inc()
		s.logAway(err)
		s.answerPending()
		return false
	}
	heard := results[0].Used > 0
	for i := range s.doubt.batches {
		b := &s.doubt.batches[i]
		b.a.mu.Lock()
		if heard {
			b.a.used += b.a.flying
		} else {
			for _, d := range b.debts {
				b.a.owe(d.start, d.n)
			}
		}
		b.a.flying = 0
		b.a.mu.Unlock()
	}
	s.doubt = nil
	return true
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
