package middleware

import "net/http"

// Tracer begins the span of a request.
type Tracer interface {
	Begin(r *http.Request) Span
}

// Span is a request that is traced: Request carries it in its context, End names and ends it.
type Span struct {
	Request *http.Request
	End     func(route string, status int, plan string)
}
