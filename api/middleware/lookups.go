package middleware

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// lookUps reads keys from the database. Keys requested during a read are read together by the next: when many keys are
// seen for the first time at once, the database gets a few queries instead of one per key.
type lookUps struct {
	store *store.Store

	mu      sync.Mutex
	waiting []*lookUp
	reading bool
	failed  time.Duration // when the last read failed, after epoch; 0 = it succeeded
}

// lookUp is a key that a request waits for.
type lookUp struct {
	hash [32]byte
	done chan struct{} // closed when key or err is set
	key  store.Key
	err  error
}

const (
	// lookUpTimeout bounds how long a request waits for a silent database.
	lookUpTimeout = 2 * time.Second
	// lookUpsAtOnce is how many keys one query asks for.
	lookUpsAtOnce = 200
	// lookUpAgain is how long after a failed read the next one is tried.
	lookUpAgain = 100 * time.Millisecond
)

// errStillAway means that the last read failed and that no new read was tried for this request.
var errStillAway = errors.New("the database did not answer the last time that a key was looked up")

// key returns the key with that hash; CodeNotFound if there is none. While the database is away, one request at a time
// waits to see whether it is back, and the others get errStillAway at once. Otherwise requests waiting in vain would
// take all places, and requests with known keys would be refused.
func (l *lookUps) key(ctx context.Context, hash [32]byte) (store.Key, error) {
	if err := ctx.Err(); err != nil { // nobody is waiting
		return store.Key{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	wanted := &lookUp{hash: hash, done: make(chan struct{})}
	l.mu.Lock()
	if l.failed > 0 && (l.reading || time.Since(epoch)-l.failed < lookUpAgain) {
		l.mu.Unlock()
		return store.Key{}, errStillAway
	}
	l.waiting = append(l.waiting, wanted)
	idle := !l.reading
	l.reading = true
	l.mu.Unlock()
	if idle {
		go l.read() //nolint:gosec // it reads for others too, and outlives this request
	}
	select {
	case <-wanted.done:
		return wanted.key, wanted.err
	case <-ctx.Done():
		l.giveUp(wanted, ctx.Err())
		return store.Key{}, ctx.Err()
	}
}

// giveUp withdraws a lookup that is no longer waited for, so that a database that hangs does not leave a growing
// backlog. A timeout counts as a failed read, even if the read has not ended yet.
func (l *lookUps) giveUp(wanted *lookUp, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(w *lookUp) bool { return w == wanted })
	if errors.Is(err, context.DeadlineExceeded) {
		l.failed = time.Since(epoch)
	}
}

// read serves lookups until none is waiting. It has its own timeout, since the first requester may
// leave while others wait.
func (l *lookUps) read() {
	for {
		runtime.Gosched() // let runnable requests join: reading ten keys costs little more than reading one
		l.mu.Lock()
		n := min(len(l.waiting), lookUpsAtOnce)
		wanted := slices.Clone(l.waiting[:n])
		l.waiting = slices.Delete(l.waiting, 0, n)
		l.reading = n > 0
		l.mu.Unlock()
		if n == 0 {
			return
		}
		hashes := make([][32]byte, n)
		for i, w := range wanted {
			hashes[i] = w.hash
		}
		ctx, cancel := context.WithTimeout(context.Background(), lookUpTimeout)
		keys, err := l.store.KeysByHash(ctx, hashes)
		cancel()
		l.note(err)
		for _, w := range wanted {
			var found bool
			if w.key, found = keys[w.hash]; !found {
				w.err = models.Errorf(models.CodeNotFound, "no such key")
			}
			if err != nil {
				w.err = err
			}
			close(w.done)
		}
	}
}

// note records whether the last read failed.
func (l *lookUps) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed = 0; err != nil {
		l.failed = time.Since(epoch)
	}
}
