package api

import (
	"bytes"
	"net/http"
	"sync"
)

// kept caches compressed answers that cost far more to make than to send: lists of more than keptRecords draws,
// what a library compresses, and answers of which there are few. All belong to one data version. When the young
// answers exceed half of maxKept they become the old ones, and the old ones are dropped; an old answer that is
// requested becomes young again.
type kept struct {
	mu         sync.RWMutex
	version    string
	young, old map[question]*made
	size       int // bytes of the young answers
}

// maxKept bounds the bytes of all kept answers together.
const maxKept = 8 << 20

// question is all that an answer depends on besides the data version.
type question struct {
	target string // as the client wrote it, since links repeat it
	form   form
	coding *encoder // the coding that the client prefers
}

// made is an answer: a body and its header values. It does not change once it is kept.
type made struct {
	body        []byte
	coding      []string // nil = not compressed
	length      []string
	link, total []string // nil = the answer has none
}

// size is roughly how much memory a takes.
func (a *made) size(q *question) int {
	const overhead = 256 // headers other than the link, and the map entry
	size := overhead + len(q.target) + len(a.body)
	for _, link := range a.link {
		size += len(link)
	}
	return size
}

func (k *kept) get(version string, q question) *made {
	k.mu.RLock()
	var a *made
	young := false
	if k.version == version {
		if a, young = k.young[q]; !young {
			a = k.old[q]
		}
	}
	k.mu.RUnlock()
	if a != nil && !young {
		k.put(version, q, a)
	}
	return a
}

func (k *kept) put(version string, q question, a *made) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.version != version:
		k.version, k.young, k.old, k.size = version, map[question]*made{}, nil, 0
	case k.size > maxKept/2:
		k.young, k.old, k.size = map[question]*made{}, k.young, 0
	}
	k.young[q] = a
	k.size += a.size(&q)
}

func (x *call) question() question { return question{x.c.Request.RequestURI, x.form, x.coding} }

// find returns the kept answer to this request, or nil.
func (x *call) find() *made {
	if x.coding == nil {
		return nil
	}
	return x.h.kept.get(x.cat.Version().Token, x.question())
}

// keepMade keeps a copy of a for equal requests; it is a copy because the body's buffer is reused.
func (x *call) keepMade(a *made) {
	fixed := *a
	fixed.body = bytes.Clone(a.body)
	x.h.kept.put(x.cat.Version().Token, x.question(), &fixed)
}

// give writes an answer.
func (x *call) give(a *made) {
	x.head(a)
	// A write fails only if the client has gone away, so there is nobody left to tell.
	_, _ = x.c.Writer.Write(a.body)
}

// head sets the status and headers of an answer.
func (x *call) head(a *made) {
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
	x.c.Status(http.StatusOK)
}
