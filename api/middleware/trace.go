package middleware

import "net/http"

// Tracer begins the span of a request.
type Tracer interface {
	Begin(r *http.Request) Span
}

// Span is a request that is traced: Request carries it in its context, End names and ends it.
type Span struct {
	Request *http.Request
	End     func(a Answered)
}

// Answered is what is told of a request that is traced.
type Answered struct {
	Method string // one that HTTP knows, or "other"
	Route  string
	Status int
	Plan   string // of its key; "none" = it has no valid one
	ID     string
}
