package quota

// A backend on another server, or on one that was restarted, may have lost counts. Nodes tell it what they know.

import (
	"context"
	"errors"
	"maps"
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
	if !s.untold() {
		return
	}
	present := s.source.Load()
	if s.tellingOf != present {
		s.tellingOf, s.telling = present, 0
	}
	now := s.clock.now()
	for queued := 0; s.telling < len(s.shards) && queued < tellAtOnce; s.telling++ {
		sh := &s.shards[s.telling]
		sh.mu.RLock()
		for _, a := range sh.accounts {
			a.mu.Lock()
			if a.source != present && a.used > 0 && a.start == models.PeriodStart(now, a.period) {
				s.enqueue(a)
				queued++
			}
			a.mu.Unlock()
		}
		sh.mu.RUnlock()
	}
}

// untold reports whether the backend is there, and perhaps not told yet what this node knows.
func (s *Store) untold() bool {
	present := s.source.Load()
	return present != nil && !s.away.Load() && (s.tellingOf != present || s.telling < len(s.shards))
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
	next := &source{}
	s.source.Store(next) // before the new server answers: see ask
	b.AcceptCounters()
	next.server = b.CountersOf()
	s.opts.Log.Warn("the quota counters were started anew, or are on another server: they are told what this node knows")
	reminded()
	return s.backend.ApplyQuota(ctx, operations())
}

// remind puts what this node knows of its counter at the front of the batch, if the backend may have lost it since the
// account's last contact. a.mu is held.
func (s *Store) remind(b *batch) {
	a := b.a
	if a.source == s.source.Load() || a.used == 0 {
		return
	}
	op := store.QuotaOp{Kind: store.QuotaRestore, Key: a.key, Period: a.period, Start: a.start, Known: a.counts()}
	if b.reminds {
		b.ops[0] = op
	} else {
		b.ops, b.reminds = slices.Insert(b.ops, 0, op), true
	}
}

// source is a server of the counters, until the backend may have lost counts. Another is made when the server is replaced,
// and after an outage of a backend that may have lost counts although it is the same server.
type source struct {
	server string // its name, see replaceable; read and written by the loop only
}

// counts returns how much of used each server counted, by its name. a.mu is held; only the loop may call it.
func (a *account) counts() map[string]int64 {
	counts := maps.Clone(a.former)
	if counts == nil {
		counts = map[string]int64{}
	}
	own := a.used
	for _, n := range a.former {
		own -= n
	}
	server := ""
	if a.source != nil {
		server = a.source.server
	}
	counts[server] += own
	return counts
}

// heardBy adds what was in flight to what this node knows: src has heard of it, with what the node knew then. a.mu is
// held.
func (s *Store) heardBy(a *account, src *source) {
	if a.source == s.source.Load() { // it was learned since
		src = a.source
	}
	if a.used > 0 && a.source != nil && a.source.server != src.server {
		a.former = a.counts()
		delete(a.former, src.server)
	}
	a.used, a.source = a.used+a.flying, src
}

// met notes that the backend has answered for the first time.
func (s *Store) met() {
	if s.source.Load() != nil {
		return
	}
	first := &source{}
	if b, ok := s.backend.(replaceable); ok {
		first.server = b.CountersOf()
	}
	s.tellingOf, s.telling = first, len(s.shards) // there is nothing to tell yet
	s.source.Store(first)
}
