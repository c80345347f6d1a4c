package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// Bodies up to judgedBytes are all validated; of longer ones, one in judgedOneIn, since they repeat
// the same kind of record.
const (
	judgedBytes = 2 << 10
	judgedOneIn = 16
)

// judge checks an answer against the document, and against what is known about the request.
func (w *generatedWorker) judge(g *generated, res *httptest.ResponseRecorder) error {
	if res.Code >= http.StatusInternalServerError {
		return errors.New("a 5xx")
	}
	if res.Header().Get("X-Request-Id") == "" && res.Code != http.StatusNoContent {
		return errors.New("no X-Request-Id")
	}
	if after := res.Header().Get("Retry-After"); (after != "") != (res.Code == http.StatusTooManyRequests) {
		return fmt.Errorf("Retry-After %q", after)
	}
	body, err := decoded(res)
	if err != nil {
		return fmt.Errorf("the body cannot be decoded: %w", err)
	}
	route := w.route(g)
	switch {
	case g.method == http.MethodOptions && route != nil && res.Code == http.StatusNoContent:
		return nil
	case g.method == http.MethodOptions, g.method != http.MethodGet && g.method != http.MethodHead:
		return w.judgeRefusal(res, body, route != nil)
	case route == nil:
		return w.judgeRefusal(res, body, false)
	}
	if err := judgeStatus(g, res.Code); err != nil {
		return err
	}
	return w.judgeAnswer(g, res, body)
}

// judgeRefusal checks the answer to a method or address that is not in the document: a problem with the right status.
func (w *generatedWorker) judgeRefusal(res *httptest.ResponseRecorder, body []byte, known bool) error {
	allowed := []int{http.StatusNotFound, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge}
	if known {
		allowed[0] = http.StatusMethodNotAllowed
	}
	if !slices.Contains(allowed, res.Code) {
		return fmt.Errorf("want one of %v", allowed)
	}
	if res.Code == http.StatusMethodNotAllowed && !strings.Contains(res.Header().Get("Allow"), http.MethodGet) {
		return fmt.Errorf("405 with Allow: %q", res.Header().Get("Allow"))
	}
	if got := res.Header().Get("Content-Type"); got != "application/problem+json" {
		return fmt.Errorf("a refusal of type %q", got)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("a refusal that is no JSON: %w", err)
	}
	w.seen.bodies++
	return w.problem.VisitJSON(v)
}

// judgeStatus checks the status against what is known about the request's key and parameters.
func judgeStatus(g *generated, status int) error {
	open := !strings.HasPrefix(g.template, "/v1/")
	switch {
	case g.tooLong && (status == http.StatusRequestURITooLong || status == http.StatusRequestHeaderFieldsTooLarge):
		return nil
	case open:
		return nil // these take no parameters and refuse none
	}
	var allowed []int
	switch g.key {
	case goodKey:
		return judgeParameters(g, status)
	case noKey:
		allowed = []int{http.StatusUnauthorized}
	case malformedKey, unknownKey:
		allowed = []int{http.StatusUnauthorized, http.StatusTooManyRequests}
	case revokedKey, expiredKey:
		allowed = []int{http.StatusUnauthorized}
	case suspendedKey:
		allowed = []int{http.StatusForbidden}
	default: // quota used up
		allowed = []int{http.StatusTooManyRequests}
	}
	if g.template == "/v1/usage" && g.key == usedUpKey {
		return judgeParameters(g, status)
	}
	if !slices.Contains(allowed, status) && !g.tooLong {
		return fmt.Errorf("want one of %v for such a key", allowed)
	}
	return nil
}

func judgeParameters(g *generated, status int) error {
	ok := status == http.StatusOK || status == http.StatusNotModified
	switch {
	case g.template == "/v1/usage" && status == http.StatusTooManyRequests: // more than 60 a minute
		return nil
	case status == http.StatusTooManyRequests || status == http.StatusUnauthorized || status == http.StatusForbidden:
		return errors.New("a good key is refused")
	case ok && (g.wrong || g.noGame):
		return errors.New("a wrong parameter is taken")
	case g.unsure:
		return nil
	case g.right() && !ok:
		return errors.New("a good request is refused")
	case g.wrong && status != http.StatusBadRequest:
		return errors.New("want 400 for a wrong parameter")
	case g.noGame && !g.wrong && status != http.StatusNotFound:
		return errors.New("want 404 for a game that does not exist")
	}
	return nil
}

// judgeAnswer validates the answer's status, headers and body. Here an answer to HEAD still has GET's body: it
// is net/http that drops it.
func (w *generatedWorker) judgeAnswer(g *generated, res *httptest.ResponseRecorder, body []byte) error {
	validate := len(body) <= judgedBytes || g.number%judgedOneIn == 0
	if validate {
		w.seen.bodies++
	} else {
		w.seen.skipped++
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody)
	if err != nil {
		return err
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: w.route(g)},
		Status:                 res.Code,
		Header:                 res.Header(),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, ExcludeResponseBody: !validate},
	}
	return openapi3filter.ValidateResponse(context.Background(), input.SetBodyBytes(body))
}
