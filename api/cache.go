package api

import (
	"bytes"
	"sync"
)

// answerCache caches compressed answers that cost far more to make than to send: lists of more than uncachedRecords
// draws, what a library compresses, and answers of which there are few. All belong to one data version. When the young
// answers exceed half of maxCached they become the old ones, and the old ones are dropped; an old answer that is
// requested becomes young again.
type answerCache struct {
	mu         sync.RWMutex
	version    string
	young, old map[cacheKey]*answer
	size       int // bytes of the young answers
}

// maxCached bounds the bytes of all cached answers together.
const maxCached = 8 << 20

// cacheKey is all that an answer depends on besides the data version.
type cacheKey struct {
	target string // as the client wrote it, since links repeat it
	form   form
	coding *encoder // the coding that the client prefers
}

// answer is a body and its header values. It does not change once it is cached.
type answer struct {
	body        []byte
	coding      []string // nil = not compressed
	length      []string
	link, total []string // nil = the answer has none
}

// size is roughly how much memory a takes.
func (a *answer) size(key *cacheKey) int {
	const overhead = 256 // headers other than the link, and the map entry
	size := overhead + len(key.target) + len(a.body)
	for _, link := range a.link {
		size += len(link)
	}
	return size
}

func (c *answerCache) get(version string, key cacheKey) *answer {
	c.mu.RLock()
	var a *answer
	young := false
	if c.version == version {
		if a, young = c.young[key]; !young {
			a = c.old[key]
		}
	}
	c.mu.RUnlock()
	if a != nil && !young {
		c.put(version, key, a)
	}
	return a
}

func (c *answerCache) put(version string, key cacheKey, a *answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.version != version:
		c.version, c.young, c.old, c.size = version, map[cacheKey]*answer{}, nil, 0
	case c.size > maxCached/2:
		c.young, c.old, c.size = map[cacheKey]*answer{}, c.young, 0
	}
	c.young[key] = a
	c.size += a.size(&key)
}

func (x *call) cacheKey() cacheKey { return cacheKey{x.c.Request.RequestURI, x.form, x.coding} }

// cached returns the cached answer to this request, or nil.
func (x *call) cached() *answer {
	if x.coding == nil {
		return nil
	}
	return x.h.answers.get(x.cat.Version().Token, x.cacheKey())
}

// cache keeps a copy of a for equal requests; it is a copy because the body's buffer is reused.
func (x *call) cache(a *answer) {
	fixed := *a
	fixed.body = bytes.Clone(a.body)
	x.h.answers.put(x.cat.Version().Token, x.cacheKey(), &fixed)
}

// sendAnswer writes an answer.
func (x *call) sendAnswer(a *answer) {
	x.head(a)
	// A write fails only if the client has gone away, so there is nobody left to tell.
	_, _ = x.c.Writer.Write(a.body)
}

// head sets the headers of an answer, whose status is the default, 200.
func (x *call) head(a *answer) {
	h := x.c.Writer.Header()
	h["Content-Type"] = contentTypes[x.form]
	h["Content-Length"] = a.length
	if a.coding != nil {
		h["Content-Encoding"] = a.coding
	}
	if a.link != nil {
		h["Link"] = a.link
	}
	if a.total != nil {
		h["X-Total-Count"] = a.total
	}
}
