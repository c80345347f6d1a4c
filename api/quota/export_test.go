package quota

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Held is how many requests the node holds in advance for key in its running period.
func (s *Store) Held(key string) int64 {
	a := s.account(key, Day)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.block
}

// Sweep does at once what the loop does at every tick, and waits until the backend has been told everything.
func (s *Store) Sweep() {
	s.giveBackIdle()
	s.Settle()
}

// Waiting is how many of key's requests wait for the contact after the one under way.
func (s *Store) Waiting(key string) int {
	a := s.account(key, Day)
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting)
}

// Settle waits until nothing is pending.
func (s *Store) Settle() {
	for s.busy() {
		runtime.Gosched()
		time.Sleep(50 * time.Microsecond) // the loop is another goroutine that waits for a real backend
	}
}

func (s *Store) busy() bool {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.RLock()
		for _, a := range sh.accounts {
			a.mu.Lock()
			queued := a.queued
			a.mu.Unlock()
			if queued {
				sh.mu.RUnlock()
				return true
			}
		}
		sh.mu.RUnlock()
	}
	return false
}

// Crash ends the node like kill -9: nothing is given back. It returns what key loses by that, by period: the node's
// block, and the debts that the backend was not told of.
func (s *Store) Crash(key string) map[int64]int64 {
	close(s.stop)
	<-s.done
	a := s.account(key, Day)
	a.mu.Lock()
	defer a.mu.Unlock()
	lost := map[int64]int64{a.start: a.block}
	for _, d := range a.owed {
		lost[d.start] -= d.n
	}
	return lost
}

// Away reports whether the node counts from memory.
func (s *Store) Away() bool { return s.away.Load() }

// Failures is how many contacts failed.
func (s *Store) Failures() int { return int(testutil.ToFloat64(s.opts.Metrics.errors)) }

// Forget drops accounts of past periods, as the loop does every few minutes, and returns how many are left.
func (s *Store) Forget() (left int) {
	s.forget()
	for i := range s.shards {
		left += len(s.shards[i].accounts)
	}
	return left
}

// Sync makes the node read the backend's clock: a test's clock may have jumped during a contact.
func (s *Store) Sync() {
	a := s.account("sync", time.Hour)
	a.mu.Lock()
	s.enqueue(a)
	a.mu.Unlock()
	s.Settle()
}

// UsagePortion is how many rows of statistics are written at once.
const UsagePortion = usagePortion

// LeisureAfter is the pause between two portions of statistics.
func LeisureAfter(took time.Duration) time.Duration { return leisureAfter(took) }

// Prune looks for old statistics, as Run does at every tick, if that is due.
func (u *Usage) Prune(ctx context.Context) { u.prune(ctx) }

// Kept is how many accounts have statistics in memory.
func (u *Usage) Kept() (accounts int) {
	for i := range u.shards {
		sh := &u.shards[i]
		sh.mu.Lock()
		accounts += len(sh.counts)
		sh.mu.Unlock()
	}
	return accounts
}

// What is read from Redis's own words, of which other versions have others.
var Undone = undone

// ServerInfo reads INFO's section "server".
func ServerInfo(info string) (version string, cluster bool) {
	return serverInfo(info).version(), serverInfo(info).cluster()
}
