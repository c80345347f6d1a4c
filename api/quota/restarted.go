package quota

// What happens when the ledger is another server than before, or the same one started anew: it may have forgotten.

import (
	"context"
	"errors"
	"slices"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// tellAtOnce is about how many counters are told at a tick without being asked about: requests wait behind them.
const tellAtOnce = 5_000

// tellKnown tells a ledger that may have forgotten what this node knows of counters that nobody asks about
// here: another node may be asked, which never knew. It takes some at each tick until all are told.
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

// tell asks the ledger. One that was started anew has done nothing: it is asked again at once, after reminded has put
// into the operations what this node knows. To take it for one that is away would admit requests from memory
// while it is there to say what other nodes have counted.
func (s *Store) tell(ctx context.Context, operations func() []store.QuotaOp, reminded func()) ([]store.QuotaResult, time.Time, error) {
	results, now, err := s.ledger.ApplyQuota(ctx, operations())
	l, ok := s.ledger.(replaceable)
	if !ok || !errors.Is(err, store.ErrQuotaRestarted) {
		return results, now, err
	}
	l.AcceptCounters()
	s.epoch.Add(1)
	s.opts.Log.Warn("the quota counters were started anew, or are on another server: they are told what this node knows")
	reminded()
	return s.ledger.ApplyQuota(ctx, operations())
}

// remind adds to each batch what this node knows of its counter, unless it says so already.
func remind(batches []batch) {
	for i := range batches {
		b := &batches[i]
		b.a.mu.Lock()
		if b.a.start != 0 && b.ops[0].Kind != store.QuotaFloor {
			b.ops = slices.Insert(b.ops, 0, b.a.floor())
		}
		b.a.mu.Unlock()
	}
}
