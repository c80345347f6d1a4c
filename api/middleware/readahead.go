package middleware

import (
	"context"
	"sync/atomic"
	"time"

	"lottery/models/store"
)

// readAhead reads all working keys once many have been looked up: after a start with many customers that is faster than
// looking up each one while its request waits.
type readAhead struct {
	keys   *Keys
	looked atomic.Int64  // lookups that found a key
	wanted chan struct{} // closed after aheadAfter of them
}

const (
	// aheadAfter is how many lookups start the reading.
	aheadAfter = 1_000
	// mostAhead is roughly how many keys are read at most: each takes some 300 bytes.
	mostAhead = 200_000
	// aheadPortion is how many keys one query reads: requests wait a little for it.
	aheadPortion = 200
	// aheadTimeout bounds the reading of a portion.
	aheadTimeout = 5 * time.Second
)

// lookedUp counts a lookup that found a key.
func (r *readAhead) lookedUp() {
	if r.looked.Add(1) == aheadAfter {
		close(r.wanted)
	}
}

// run reads ahead once, when enough keys have been looked up.
func (r *readAhead) run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-r.wanted:
	}
	last := ""
	for read := 0; read < mostAhead; {
		keys, err := r.portion(ctx, last)
		if err != nil && ctx.Err() == nil {
			r.keys.log.Warn("keys cannot be read ahead now; they are looked up when they are used", "error", err)
		}
		if err != nil || len(keys) == 0 {
			return
		}
		last, read = keys[len(keys)-1].ID, read+len(keys)
	}
}

// portion reads keys in the order of their ids, after the id last.
func (r *readAhead) portion(ctx context.Context, last string) (keys []store.Key, err error) {
	ctx, cancel := context.WithTimeout(ctx, aheadTimeout)
	defer cancel()
	_, err = r.keys.learn(func() ([]store.Key, error) {
		keys, err = r.keys.store.KeysAfter(ctx, last, aheadPortion)
		return keys, err
	})
	return keys, err
}
