package middleware

import (
	"context"
	"sync/atomic"
	"time"

	"lottery/models/store"
)

// readAhead reads all keys that work when many were looked up: after a start with many customers that is done sooner than
// looking each of them up while it waits.
type readAhead struct {
	keys   *Keys
	looked atomic.Int64  // look-ups that found a key
	wanted chan struct{} // closed when these were many
}

const (
	// aheadAfter is how many look-ups are many.
	aheadAfter = 1_000
	// mostAhead is how many keys are read at most: each takes some 300 bytes.
	mostAhead = 200_000
	// aheadPortion is how many keys are read at once: requests wait a little meanwhile.
	aheadPortion = 200
	// aheadTimeout is how long a portion may take.
	aheadTimeout = 5 * time.Second
)

// lookedUp counts a look-up that found a key.
func (r *readAhead) lookedUp() {
	if r.looked.Add(1) == aheadAfter {
		close(r.wanted)
	}
}

// run reads ahead, once, when that is wanted.
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

// portion reads the keys behind that with the id last.
func (r *readAhead) portion(ctx context.Context, last string) (keys []store.Key, err error) {
	ctx, cancel := context.WithTimeout(ctx, aheadTimeout)
	defer cancel()
	_, err = r.keys.learn(func() ([]store.Key, error) {
		keys, err = r.keys.store.KeysAfter(ctx, last, aheadPortion)
		return keys, err
	})
	return keys, err
}
