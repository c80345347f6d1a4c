package middleware

import "net/http"

// Tracer starts the span of a request.
type Tracer interface {
	Begin(r *http.Request) Span
}

// Span is a traced request: Request carries the span in its context, End names and ends it.
type Span struct {
	Request *http.Request
	End     func(a Answered)
}

// Answered describes the answer to a traced request.
type Answered struct {
	Method string // a method that HTTP defines, or "other"
	Route  string
	Status int
	Plan   string // of the key; "none" = no valid key
	ID     string
}
