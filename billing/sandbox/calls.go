package sandbox

import (
	"net/http"
	"slices"
	"time"
)

// Call is a request that the API received.
type Call struct {
	Request string    `json:"request"` // its Request-Id
	At      time.Time `json:"at"`      // by the clock beneath the sandbox's own, not moved by Advance
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Query   string    `json:"query"`
	Body    string    `json:"body"`
	Key     string    `json:"idempotency_key"`
	Version string    `json:"version"`
	Fault   Action    `json:"fault"` // the fault that struck it, "" = none
}

const mostCalls = 2000

func (s *Sandbox) noteCall(r *http.Request, id string, body []byte, fault APIFault) {
	if len(s.calls) == mostCalls {
		s.calls = slices.Delete(s.calls, 0, mostCalls/2)
	}
	s.calls = append(s.calls, Call{
		Request: id, At: s.clock().Add(-s.d.Offset), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: string(body),
		Key: r.Header.Get("Idempotency-Key"), Version: r.Header.Get("Stripe-Version"), Fault: fault.Action,
	})
}

// Calls returns the latest requests to the API, oldest first: at least the last thousand.
func (s *Sandbox) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}
