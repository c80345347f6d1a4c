package quota

// While the backend is away nobody waits for it: a node admits requests from memory and tells the backend of them
// later.

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// failed handles a contact that failed: the waiting requests are decided from memory, and the backend is told when it
// is back. If it is unclear whether the backend heard the contact, the contact's mark settles that later. A contact
// without a mark, because the backend was not yet known to be away, may have its requests counted twice, but never
// gives a block back twice: an account may lose by an outage, never gain.
func (s *Store) failed(batches []batch, mark string, err error) {
	unclear := errors.Is(err, store.ErrQuotaUnclear)
	if unclear && mark != "" {
		s.doubt = &doubt{mark, s.source.Load(), batches}
	}
	s.opts.Metrics.errors.Inc()
	if !s.away.Swap(true) {
		if last := s.source.Load(); s.opts.Volatile && last != nil {
			s.source.Store(&source{last.server})
		}
		s.opts.Metrics.away.Set(1)
	}
	s.note(err)
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

// logEvery is how often a lasting outage is logged.
const logEvery = time.Minute

// note logs when the backend begins to fail and when it answers again. err is that of a contact; nil = it answered.
func (s *Store) note(err error) {
	s.outage.Note(s.opts.Log, err, "the quota counters do not answer: requests are admitted from what remained, and counted afterwards", "the quota counters answer again")
}

// doubt is a contact that the backend may or may not have heard. Its debts stay in flight until that is known.
type doubt struct {
	mark    string  // a counter that exists if the backend heard the contact
	source  *source // that it was made with; nil = the first
	batches []batch
}

// mark names a counter that the next contact creates beside everything else it does; it is "" while the backend
// answers. Without it, a backend that applies a contact but cannot answer, such as a PostgreSQL waiting for a lost
// standby, would count the same debts at every attempt.
func (s *Store) mark() string {
	if !s.away.Load() {
		return ""
	}
	s.marks++
	return "contact:" + s.name + ":" + strconv.Itoa(s.marks)
}

// resolve asks the backend whether it heard the contact in doubt. It reports whether no contact is in doubt any more.
func (s *Store) resolve() bool {
	if s.doubt == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), backendTimeout)
	defer cancel()
	results, _, err := s.tell(ctx, func() []store.QuotaOp {
		return []store.QuotaOp{{Kind: store.QuotaPeek, Key: s.doubt.mark, Period: Day}}
	}, func() {})
	if err != nil {
		s.opts.Metrics.errors.Inc()
		s.note(err)
		s.answerPending()
		return false
	}
	s.met()
	heard := results[0].Used > 0
	for i := range s.doubt.batches {
		b := &s.doubt.batches[i]
		b.a.mu.Lock()
		if heard {
			s.heardBy(b.a, cmp.Or(s.doubt.source, s.source.Load()))
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

// answerPending answers the queued requests from memory, so that they need not wait for the next attempt.
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

// admitWaiting answers waiting requests from what remained at the last contact. a.mu is held.
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

// learnTimeout bounds the read of a counter while the backend is away.
const learnTimeout = 100 * time.Millisecond

// learn reads the counter of an account that this node has not asked about in the running period, if the backend can be
// read although it cannot be written. That way a node that starts during an import knows what was used before. It tries
// once per period. a.mu is held.
func (s *Store) learn(a *account) {
	if a.known {
		return
	}
	a.known = true
	r, ok := s.backend.(readable)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), learnTimeout)
	defer cancel()
	if used, start, ok := r.ReadQuota(ctx, a.key, a.period); ok && start == a.start {
		a.used = used
	}
}
