package quota

// A backend on another server, or on one that was restarted, may have lost counts. Nodes tell it what they know.

import (
	"context"
	"errors"
	"slices"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// tellAtOnce is roughly how many counters a tick tells the backend without being asked: requests queue behind them.
const tellAtOnce = 5_000

// tellKnown tells a backend that may have lost counts what this node knows of counters that get no requests here: they
// may get some on another node, which never knew them. Each tick handles a portion until all are told.
func (s *Store) tellKnown() {
	epoch := s.epoch.Load()
	if epoch == 0 || s.away.Load() {
		return
	}
	if s.tellingOf != epoch {
		s.tellingOf, s.telling = epoch, 0
	}
	now := s.clock.now()
	for queued := 0; s.telling < len(s.shards) && queued < tellAtOnce; s.telling++ {
		sh := &s.shards[s.telling]
		sh.mu.RLock()
		for _, a := range sh.accounts {
			a.mu.Lock()
			if a.epoch != epoch && a.used > 0 && a.start == models.PeriodStart(now, a.period) {
				s.enqueue(a)
				queued++
			}
			a.mu.Unlock()
		}
		sh.mu.RUnlock()
	}
}

// tell applies the operations. A backend that was restarted has applied nothing: it is asked again at once, after
// reminded has added what this node knows to the operations. Treating it as away would admit requests from memory while
// the backend is there to say what other nodes have counted.
func (s *Store) tell(ctx context.Context, operations func() []store.QuotaOp, reminded func()) ([]store.QuotaResult, time.Time, error) {
	results, now, err := s.backend.ApplyQuota(ctx, operations())
	b, ok := s.backend.(replaceable)
	if !ok || !errors.Is(err, store.ErrQuotaRestarted) {
		return results, now, err
	}
	s.moved = s.epoch.Add(1) // before the new server answers: see ask
	b.AcceptCounters()
	s.opts.Log.Warn("the quota counters were started anew, or are on another server: they are told what this node knows")
	reminded()
	return s.backend.ApplyQuota(ctx, operations())
}

// remind puts what this node knows of its counter at the front of the batch, if the backend may have lost it since the
// account's last contact. a.mu is held.
func (s *Store) remind(b *batch) {
	a := b.a
	if a.epoch == s.epoch.Load() || a.used == 0 {
		return
	}
	op := store.QuotaOp{Kind: store.QuotaFloor, Key: a.key, Period: a.period, Start: a.start, N: a.used}
	if a.epoch < s.moved { // what is counted now may be of requests that are not among those
		op.Kind = store.QuotaRestore
	}
	if b.reminds {
		b.ops[0] = op
	} else {
		b.ops, b.reminds = slices.Insert(b.ops, 0, op), true
	}
}
