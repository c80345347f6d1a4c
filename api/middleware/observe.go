package middleware

import (
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// record is what is learned about a request while it is answered. It travels in the keys of the gin.Context, in a map
// that is reused, so that passing it on allocates nothing.
type record struct {
	plan int
	key  string // the prefix of its key; "" = no valid key
	keys map[any]any
}

type recordKey struct{}

var records = sync.Pool{New: func() any {
	r := &record{}
	r.keys = map[any]any{recordKey{}: r}
	return r
}}

func (r *record) release() {
	if len(r.keys) != 1 { // a handler stored something in it
		return
	}
	r.plan, r.key = 0, ""
	records.Put(r)
}

// epoch is the reference for timing requests: time.Since(epoch) reads one clock, time.Now two.
var epoch = time.Now()

// identify records whose request it is, for the counters and the access log.
func identify(c *gin.Context, p *Principal) {
	if r, ok := c.Keys[recordKey{}].(*record); ok && p != nil {
		r.plan, r.key = planIndex(p.Plan), p.KeyPrefix
	}
}

// Observe counts requests and writes the access log. It comes before all other middleware except RequestID. A
// nil Traffic counts nothing.
func (t *Traffic) Observe() gin.HandlerFunc {
	if t == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		r := records.Get().(*record) //nolint:forcetypeassert // the pool makes nothing else
		c.Keys = r.keys
		began := time.Since(epoch)
		var span Span
		if t.trace != nil {
			span = t.trace.Begin(c.Request)
			c.Request = span.Request
		}
		status := http.StatusInternalServerError // if a handler panics: Recovery passes on http.ErrAbortHandler
		defer func() {
			took, route := time.Since(epoch)-began, t.route(c.FullPath())
			t.count(route, r.plan, status, took)
			if t.log.on() {
				t.log.write(c.Request, Line{Route: route.name, Status: status, Bytes: c.Writer.Size(), Took: took, ID: RequestIDOf(c), Key: r.key})
			}
			if span.End != nil {
				span.End(Answered{Method: method(c.Request.Method), Route: route.name, Status: status, Plan: plans[r.plan], ID: RequestIDOf(c)})
			}
			c.Keys = nil
			r.release()
		}()
		c.Next()
		status = counted(c.Request, c.Writer.Status())
	}
}
