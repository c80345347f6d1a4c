package middleware

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// knownKey is a key held in memory.
type knownKey struct {
	hash      [32]byte
	principal atomic.Pointer[Principal]
	usedAt    atomic.Int64 // minute (Unix) of the last recorded use
	writtenAt atomic.Int64 // minute of the last use that the database has
	next      *knownKey    // next key of the same account; guarded by Keys.mu
}

// set updates the key from the database.
func (e *knownKey) set(stored *store.Key, plans models.Plans) *Principal {
	p := newPrincipal(stored, plans)
	e.principal.Store(p)
	if at := stored.LastUsedAt; at != nil {
		raise(&e.writtenAt, at.Unix()/60)
	}
	return p
}

// touch records that the key was used in this minute; Run writes it to the database.
func (e *knownKey) touch(now time.Time) { raise(&e.usedAt, now.Unix()/60) }

// raise makes n at least least.
func raise(n *atomic.Int64, least int64) {
	for was := n.Load(); was < least; was = n.Load() {
		if n.CompareAndSwap(was, least) {
			return
		}
	}
}

// keyMap maps hashes to keys. It takes a third of the memory of a sync.Map, in a fifth as many objects for the garbage
// collector to visit. Its locks are held to read or change one key, or to list one shard, but never during a query.
type keyMap struct {
	shards [64]keyShard
}

type keyShard struct {
	mu   sync.RWMutex
	keys map[[32]byte]*knownKey
}

// shard returns the shard of a hash. Hashes are uniform in every byte.
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

// all iterates over every key, without holding a lock while it yields.
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
