package api

import (
	"bytes"
	"net/http"
	"sync"
)

// kept is compressed answers that cost far more to make than to send, which are lists of more than keptRecords draws
// and what a library compresses, and those of which there are few. All are of one data version. The young ones become
// the old ones when they have grown to half of what may be kept, and the old ones are forgotten then, unless they were
// asked for again.
type kept struct {
	mu         sync.RWMutex
	version    string
	young, old map[question]*made
	size       int // bytes of the young ones
}

// maxKept is bytes of all kept answers together.
const maxKept = 8 << 20

// question is all that an answer depends on, beside the data version.
type question struct {
	target string // as the client wrote it: links repeat it
	form   form
	coding *encoder // that the client likes best
}

// made is an answer: a body and the header values that come with it. It is not changed once it is kept.
type made struct {
	body        []byte
	coding      []string // nil = not compressed
	length      []string
	link, total []string // nil = the answer has none
}

// size is about what a takes in memory.
func (a *made) size(q *question) int {
	const overhead = 256 // the headers but the link, and the place in the map
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

// find gives the kept answer to this request, or nil.
func (x *call) find() *made {
	if x.coding == nil {
		return nil
	}
	return x.h.kept.get(x.cat.Version().Token, x.question())
}

// keepMade keeps a for whoever asks the same: a copy, since the body's buffer is used again.
func (x *call) keepMade(a *made) {
	fixed := *a
	fixed.body = bytes.Clone(a.body)
	x.h.kept.put(x.cat.Version().Token, x.question(), &fixed)
}

// give writes an answer.
func (x *call) give(a *made) {
	x.head(a)
	// An error here is a client that has gone away: there is nobody left to tell.
	_, _ = x.c.Writer.Write(a.body)
}

// head sets status and headers of an answer.
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
