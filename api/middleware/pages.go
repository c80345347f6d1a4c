package middleware

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"lottery/models/secret"
)

// Wrap gives handlers without Gin (the pages, Stripe's webhook) what the API's middleware provides: a request ID in
// every log line, counters by route, an access log, and one 500 for a panic. route names a request's route; names not
// passed to Know count as "other". A nil Traffic counts nothing.
func (t *Traffic) Wrap(log *slog.Logger, route func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := idOf(r)
		w.Header()[requestID] = id
		r = r.WithContext(WithRequestID(r.Context(), id[0]))
		began := time.Now()
		var span Span
		if t != nil && t.trace != nil {
			span = t.trace.Begin(r)
			r = span.Request
		}
		answer := &noted{ResponseWriter: w}
		ended := false
		defer func() {
			if v := recover(); v != nil {
				answer.panicked(log, r, v)
			}
			if !ended && answer.status == 0 {
				answer.status = http.StatusInternalServerError
			}
			t.wrapped(route(r), answer, r, began, id[0], span)
			if answer.abort {
				panic(http.ErrAbortHandler) // part of the answer is already sent
			}
		}()
		next.ServeHTTP(answer, r)
		ended = true
	})
}

func (t *Traffic) wrapped(template string, answer *noted, r *http.Request, began time.Time, id string, span Span) {
	if t == nil {
		return
	}
	took, route := time.Since(began), t.route(template)
	status := answer.status
	if status == 0 {
		status = http.StatusOK
	}
	status = counted(r, status)
	t.count(route, 0, status, took)
	if t.log.on() {
		t.log.write(r, Line{Route: route.name, Status: status, Bytes: answer.bytes, Took: took, ID: id})
	}
	if span.End != nil {
		span.End(Answered{Method: method(r.Method), Route: route.name, Status: status, Plan: planNone, ID: id})
	}
}

// noted records what was answered.
type noted struct {
	http.ResponseWriter

	status int // 0 = nothing yet
	bytes  int
	abort  bool
}

func (n *noted) WriteHeader(status int) {
	if n.status == 0 && status >= http.StatusOK {
		n.status = status
	}
	n.ResponseWriter.WriteHeader(status)
}

func (n *noted) Write(b []byte) (int, error) {
	if n.status == 0 {
		n.status = http.StatusOK
	}
	wrote, err := n.ResponseWriter.Write(b)
	n.bytes += wrote
	return wrote, err
}

// Unwrap supports http.ResponseController.
func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// panicked answers 500 and logs the panic once.
func (n *noted) panicked(log *slog.Logger, r *http.Request, v any) {
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		n.abort = true
		return
	}
	log.ErrorContext(r.Context(), "request failed", "method", method(r.Method), "path", secret.Redacted(r.URL.Path), "code", "internal", "error", fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
	if n.status != 0 {
		n.abort = true
		return
	}
	n.Header().Set("Cache-Control", "no-store")
	http.Error(n, "Something went wrong here. The error was logged. Try again in a moment; if it keeps happening, give support the request ID "+n.Header().Get(requestID)+".", http.StatusInternalServerError)
}
