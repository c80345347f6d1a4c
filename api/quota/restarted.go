package quota

// What happens when the ledger is another server than before, or the same one started anew: it may have forgotten.

import (
	"context"
	"errors"
	"slices"
	"time"

	"lottery/models/store"
)

// tell asks the ledger. One that was started anew has done nothing: it is asked again at once, after reminded has put
// into the operations what this node knows. To take it for one that is away would admit requests from memory
// while it is there to say what other nodes have counted.
func (s *Store) tell(ctx context.Context, operations func() []store.QuotaOp, reminded func()) ([]store.QuotaResult, time.Time, error) {
	results, now, err := s.ledger.ApplyQuota(ctx, operations())
	l, ok := s.ledger.(interface{ accept() })
	if !ok || !errors.Is(err, errRestarted) {
		return results, now, err
	}
	l.accept()
	s.outages.Add(1)
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
