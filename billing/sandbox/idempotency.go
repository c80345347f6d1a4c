package sandbox

import (
	"net/http"
	"time"
)

// saved is the first response for an idempotency key. Stripe keeps it for 24 hours, even if it is an error.
type saved struct {
	Path    string `json:"path"`
	Params  string `json:"params"`
	Request string `json:"request"`
	At      int64  `json:"at"`
	Status  int    `json:"status"`
	Body    []byte `json:"body"`
}

const keepKeys = day

// replay returns the response for a key that was used before.
func (s *Sandbox) replay(key, path, params string) (reply, bool) {
	old, ok := s.d.Idempotency[key]
	if !ok || s.now()-old.At >= int64(keepKeys/time.Second) {
		return reply{}, false
	}
	var e *apiError
	switch {
	case old.Path != path:
		e = &apiError{status: http.StatusBadRequest, Type: idempotencyError, Message: "Keys for idempotent requests can only be used for the same endpoint they were first used for ('" + path + "' vs '" + old.Path + "'). Try using a key other than '" + key + "' if you meant to execute a different request."}
	case old.Params != params:
		e = &apiError{status: http.StatusBadRequest, Type: idempotencyError, Message: "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '" + key + "' if you meant to execute a different request."}
	default:
		return reply{status: old.Status, body: old.Body, header: map[string]string{"Idempotent-Replayed": "true", "Original-Request": old.Request}}, true
	}
	return failure(e, ""), true
}

// remember keeps a response, unless Stripe would let the client try again: a request with invalid parameters has begun
// nothing.
func (s *Sandbox) remember(key, path, params, request string, rep reply) {
	if rep.status == http.StatusBadRequest || rep.status == http.StatusNotFound {
		return
	}
	const most = 4096
	if len(s.d.Idempotency) >= most {
		for k, v := range s.d.Idempotency {
			if s.now()-v.At >= int64(keepKeys/time.Second) {
				delete(s.d.Idempotency, k)
			}
		}
	}
	s.d.Idempotency[key] = &saved{Path: path, Params: params, Request: request, At: s.now(), Status: rep.status, Body: rep.body}
	s.dirty = true
}

// keyOf returns a request's idempotency key, "" if it has none. Stripe ignores it on GET and DELETE.
func (s *Sandbox) keyOf(r *http.Request) string {
	if r.Method != http.MethodPost || s.authorize(r) != nil {
		return ""
	}
	return r.Header.Get("Idempotency-Key")
}

func keyInUse(key string) *apiError {
	return &apiError{
		status: http.StatusConflict, Type: idempotencyError, Code: "idempotency_key_in_use",
		Message: "There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): " + key + ". Please try again later.",
	}
}
