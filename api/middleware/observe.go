package middleware

import (
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// record is what is learnt of a request while it is answered. It travels in the keys of its gin.Context, in a map that
// is made once and used again, so that handing it on allocates nothing.
type record struct {
	plan int
	key  string // the prefix of its key; "" = none that is valid
	keys map[any]any
}

type recordKey struct{}

var records = sync.Pool{New: func() any {
	r := &record{}
	r.keys = map[any]any{recordKey{}: r}
	return r
}}

func (r *record) release() {
	if len(r.keys) != 1 { // a handler kept something in it
		return
	}
	r.plan, r.key = 0, ""
	records.Put(r)
}

// epoch is what requests are timed from: asking for the time since then reads one clock, where time.Now reads two.
var epoch = time.Now()

// identify notes whose request it is, for the counters and the access log.
func identify(c *gin.Context, p *Principal) {
	if r, ok := c.Keys[recordKey{}].(*record); ok && p != nil {
		r.plan, r.key = planIndex(p.Plan), p.KeyPrefix
	}
}

// Observe counts what passes it, and writes the access log. It stands before all others but RequestID; a nil Traffic
// counts nothing.
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
		status := http.StatusInternalServerError // unless the handlers come back: Recovery lets a cut connection pass
		defer func() {
			took, route := time.Since(epoch)-began, t.route(c.FullPath())
			t.count(route, r.plan, status, took)
			if t.log.On() {
				t.log.write(c.Request, Line{Route: route.name, Status: status, Bytes: c.Writer.Size(), Took: took, ID: RequestIDOf(c), Key: r.key})
			}
			if span.End != nil {
				span.End(Answered{Method: method(c.Request.Method), Route: route.name, Status: status, Plan: plans[r.plan], ID: RequestIDOf(c)})
			}
			c.Keys = nil
			r.release()
		}()
		c.Next()
		status = c.Writer.Status()
	}
}
