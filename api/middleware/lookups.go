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

// lookUps reads keys from the database. Those that are asked for while a read is on its way are read together by the
// next: when many keys are seen for the first time at once, the database is asked a few times, not once for each.
type lookUps struct {
	store *store.Store

	mu      sync.Mutex
	waiting []*lookUp
	reading bool
	failed  time.Duration // when a read did, after epoch; 0 = the last one did not
}

// lookUp is a key that somebody waits for.
type lookUp struct {
	hash [32]byte
	done chan struct{} // closed once key or err is there
	key  store.Key
	err  error
}

const (
	// lookUpTimeout bounds a request's wait for a database that neither answers nor refuses.
	lookUpTimeout = 2 * time.Second
	// lookUpsAtOnce is how many keys one read asks for.
	lookUpsAtOnce = 200
	// lookUpAgain is how long after a read that failed the next one is tried.
	lookUpAgain = 100 * time.Millisecond
)

// errStillAway is that the last read failed, and that somebody else is seeing whether the next one does.
var errStillAway = errors.New("the database did not answer the last time that a key was looked up")

// key is the key with that hash; CodeNotFound if there is none. While the database is away one request at a time waits to
// see whether it is back, and the others get errStillAway at once: all places would be taken by those that wait in vain,
// and those whose keys are known would be refused.
func (l *lookUps) key(ctx context.Context, hash [32]byte) (store.Key, error) {
	if err := ctx.Err(); err != nil { // nobody waits
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

// giveUp takes back a look-up that nobody waits for any more: a database that hangs must not leave more and more to be
// read. If its time has run out, that is a read that failed, though it may not have ended yet.
func (l *lookUps) giveUp(wanted *lookUp, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(w *lookUp) bool { return w == wanted })
	if errors.Is(err, context.DeadlineExceeded) {
		l.failed = time.Since(epoch)
	}
}

// read reads until nobody waits. It has a time of its own: whoever asked first may be gone while others wait.
func (l *lookUps) read() {
	for {
		runtime.Gosched() // requests that are ready to run get in line first: a read of ten keys costs little more than of one
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

// note keeps in mind whether the last read failed.
func (l *lookUps) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed = 0; err != nil {
		l.failed = time.Since(epoch)
	}
}
