package models

import (
	"errors"
	"fmt"
)

// Code classifies an Error. Callers map it in one place: to an exit code in admin, to a status in api.
type Code string

// The codes of every expected failure; anything that is not an *Error is internal.
const (
	CodeInvalid     Code = "invalid"     // the input cannot be used; the message says how to fix it
	CodeNotFound    Code = "not_found"   // nothing has that name
	CodeConflict    Code = "conflict"    // it already exists, or a limit is reached
	CodeUnavailable Code = "unavailable" // a component (database, counter store) does not answer now
)

// Error is a failure that a person can act on. Message is public: it has no internals and no secrets.
type Error struct {
	Code    Code
	Message string
	Err     error // cause, for the log; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ErrorCode returns the code of the first *Error in err's chain, or "" if there is none.
func ErrorCode(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
