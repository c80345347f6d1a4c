package middleware

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// knownKey is a key in memory.
type knownKey struct {
	hash      [32]byte
	principal atomic.Pointer[Principal]
	usedAt    atomic.Int64 // minute (Unix) of the last use that was noted
	writtenAt atomic.Int64 // that of the last use that the database has
	next      *knownKey    // another one of the account; guarded by Keys.mu
}

// set makes the key what the database says.
func (e *knownKey) set(stored *store.Key, plans models.Plans) *Principal {
	p := newPrincipal(stored, plans)
	e.principal.Store(p)
	if at := stored.LastUsedAt; at != nil {
		raise(&e.writtenAt, at.Unix()/60)
	}
	return p
}

// touch notes that the key was used in this minute; Run writes it down.
func (e *knownKey) touch(now time.Time) { raise(&e.usedAt, now.Unix()/60) }

// raise makes n what it is at least.
func raise(n *atomic.Int64, least int64) {
	for was := n.Load(); was < least; was = n.Load() {
		if n.CompareAndSwap(was, least) {
			return
		}
	}
}

// keyMap is keys by hash. It takes a third of the memory of a sync.Map, in a fifth of as many pieces, which garbage
// collections look through. Its locks are held for a look, a change of one key, or while a sixty-fourth of the keys are
// listed: never while a database is asked.
type keyMap struct {
	shards [64]keyShard
}

type keyShard struct {
	mu   sync.RWMutex
	keys map[[32]byte]*knownKey
}

// shard is where the key of a hash is. Hashes are even in every byte.
func (m *keyMap) shard(hash [32]byte) *keyShard { return &m.shards[int(hash[0])%len(m.shards)] }

func (m *keyMap) get(hash [32]byte) *knownKey {
	s := m.shard(hash)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys[hash]
}

func (m *keyMap) put(e *knownKey) {
	s := m.shard(e.hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[[32]byte]*knownKey{}
	}
	s.keys[e.hash] = e
}

func (m *keyMap) remove(hash [32]byte) {
	s := m.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, hash)
}

// all is every key, those of one shard at a time.
func (m *keyMap) all() iter.Seq[*knownKey] {
	return func(yield func(*knownKey) bool) {
		var keys []*knownKey
		for i := range m.shards {
			s := &m.shards[i]
			keys = keys[:0]
			s.mu.RLock()
			for _, e := range s.keys {
				keys = append(keys, e)
			}
			s.mu.RUnlock()
			for _, e := range keys {
				if !yield(e) {
					return
				}
			}
		}
	}
}
