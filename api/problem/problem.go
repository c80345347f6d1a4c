// Package problem is how the API reports errors: RFC 9457 problem+json with stable codes.
package problem

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Code names a kind of failure. Codes are part of the contract; each is explained at /docs/errors/CODE.
type Code string

// The codes of the API.
const (
	InvalidParameter Code = "invalid_parameter"
	MissingAPIKey    Code = "missing_api_key"
	InvalidAPIKey    Code = "invalid_api_key"
	RevokedAPIKey    Code = "revoked_api_key"
	ExpiredAPIKey    Code = "expired_api_key"
	AccountSuspended Code = "account_suspended"
	UnknownGame      Code = "unknown_game"
	NotFound         Code = "not_found"
	MethodNotAllowed Code = "method_not_allowed"
	NotAcceptable    Code = "not_acceptable"
	URITooLong       Code = "uri_too_long"
	HeadersTooLarge  Code = "headers_too_large"
	QuotaExceeded    Code = "quota_exceeded"
	RateLimited      Code = "rate_limited"
	Internal         Code = "internal"
	Unavailable      Code = "unavailable"
)

// kind is what a code alone determines.
type kind struct {
	status int
	title  string
}

var kinds = map[Code]kind{
	InvalidParameter: {http.StatusBadRequest, "The request has invalid parameters"},
	MissingAPIKey:    {http.StatusUnauthorized, "The request has no API key"},
	InvalidAPIKey:    {http.StatusUnauthorized, "The API key is not valid"},
	RevokedAPIKey:    {http.StatusUnauthorized, "The API key was revoked"},
	ExpiredAPIKey:    {http.StatusUnauthorized, "The API key has expired"},
	AccountSuspended: {http.StatusForbidden, "The account is suspended"},
	UnknownGame:      {http.StatusNotFound, "No such game"},
	NotFound:         {http.StatusNotFound, "No such path"},
	MethodNotAllowed: {http.StatusMethodNotAllowed, "Method not allowed"},
	NotAcceptable:    {http.StatusNotAcceptable, "None of the accepted formats is available"},
	URITooLong:       {http.StatusRequestURITooLong, "The request URL is too long"},
	HeadersTooLarge:  {http.StatusRequestHeaderFieldsTooLarge, "The request headers are too large"},
	QuotaExceeded:    {http.StatusTooManyRequests, "The daily quota is used up"},
	RateLimited:      {http.StatusTooManyRequests, "Too many requests"},
	Internal:         {http.StatusInternalServerError, "Something went wrong here"},
	Unavailable:      {http.StatusServiceUnavailable, "The service is temporarily unavailable"},
}

// Codes lists every code with its status.
func Codes() map[Code]int {
	all := make(map[Code]int, len(kinds))
	for code, k := range kinds {
		all[code] = k.status
	}
	return all
}

// ParameterCode is what is wrong with one parameter.
type ParameterCode string

// What may be wrong with a parameter.
const (
	Missing    ParameterCode = "missing"
	Repeated   ParameterCode = "repeated"
	Malformed  ParameterCode = "malformed"
	OutOfRange ParameterCode = "out_of_range"
	Unknown    ParameterCode = "unknown"
)

// Parameter is one thing wrong with one parameter.
type Parameter struct {
	Parameter string        `json:"parameter"`
	Code      ParameterCode `json:"code"`
	Detail    string        `json:"detail"`
}

// Problem is a refusal. Detail and Errors are shown to the client; Cause is for the log only.
type Problem struct {
	Code       Code
	Detail     string
	Errors     []Parameter
	RetryAfter time.Duration // rounded up to seconds; 0 = no header
	Cause      error
	Logged     bool // the cause has been logged already
}

// New returns a Problem with only a detail.
func New(code Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
}

func (p *Problem) Error() string {
	if p.Cause != nil {
		return fmt.Sprintf("%s: %v", p.Code, p.Cause)
	}
	return fmt.Sprintf("%s: %s", p.Code, p.Detail)
}

func (p *Problem) Unwrap() error { return p.Cause }

// Status is the HTTP status of p.
func (p *Problem) Status() int { return kinds[p.Code].status }

// body is the JSON form, in the contract's field order.
type body struct {
	Type      string      `json:"type"`
	Title     string      `json:"title"`
	Status    int         `json:"status"`
	Detail    string      `json:"detail"`
	Code      Code        `json:"code"`
	RequestID string      `json:"request_id"`
	Errors    []Parameter `json:"errors,omitempty"`
}

// Write answers with p. baseURL is the service's public address, without a trailing slash.
func (p *Problem) Write(w http.ResponseWriter, baseURL, requestID string) {
	k := kinds[p.Code]
	h := w.Header()
	h.Del("ETag")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((p.RetryAfter+time.Second-1)/time.Second), 10))
	}
	if k.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "ApiKey")
	}
	text, err := json.Marshal(body{
		Type: baseURL + "/docs/errors/" + string(p.Code), Title: k.title, Status: k.status,
		Detail: clean(p.Detail), Code: p.Code, RequestID: requestID, Errors: p.Errors,
	})
	if err != nil { // strings and numbers only: cannot fail
		text = []byte("{}")
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(k.status)
	_, _ = w.Write(text) // if it fails, the client has gone away
}

// clean keeps details valid UTF-8 where they quote what the client sent.
func clean(s string) string {
	return strings.ToValidUTF8(s, "\uFFFD")
}
