package billing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// answers looks at what comes back from Stripe, or from who stands in its place, before the SDK reads it. The SDK takes
// any JSON for what was asked for, `{}` for a list without anything in it: an account that pays would lose its plan. And
// of what it cannot read it puts a piece into its errors, which are logged.
type answers struct{ next http.RoundTripper }

// strange is an answer that cannot be Stripe's, in words that hold nothing of it.
type strange string

func (e strange) Error() string { return string(e) }

// mostAnswer is how long an answer may be: a page of a hundred subscriptions has half a megabyte.
const mostAnswer = 16 << 20

// notStripes is an answer in the place of one that says nothing of what went wrong.
const notStripes = `{"error":{"type":"api_error","message":"the answer is none of Stripe's"}}`

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := a.next.RoundTrip(r)
	if err != nil || res.StatusCode >= http.StatusMultipleChoices && res.StatusCode < http.StatusBadRequest {
		return res, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	_ = res.Body.Close()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(body) > mostAnswer:
		return nil, strange("an answer of Stripe's has no end")
	case res.StatusCode >= http.StatusBadRequest:
		if !tellsError(body) {
			body = []byte(notStripes)
		}
	default:
		if err := whole(body); err != nil {
			return nil, err
		}
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res.Header.Del("Content-Length")
	return res, nil
}

// whole is an error unless body is an object of Stripe's with its id, or a list of such. A list with a hole is none: what
// is missing may be what somebody pays for.
func whole(body []byte) error {
	type named struct {
		ID string `json:"id"`
	}
	var o struct {
		named

		Object  string   `json:"object"`
		Data    []*named `json:"data"`
		HasMore bool     `json:"has_more"`
	}
	if json.Unmarshal(body, &o) != nil { // its error may hold a piece of the answer
		return strange("the answer is no JSON of Stripe's")
	}
	if o.Object != "list" {
		if o.Object == "" || o.ID == "" {
			return strange("the answer is no object of Stripe's")
		}
		return nil
	}
	if o.Data == nil || o.HasMore && len(o.Data) == 0 {
		return strange("the answer is no list of Stripe's")
	}
	for _, item := range o.Data {
		if item == nil || item.ID == "" {
			return strange("a list of Stripe's has a hole")
		}
	}
	return nil
}

// tellsError tells whether body is an error as Stripe tells it.
func tellsError(body []byte) bool {
	var o struct {
		Error *struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	return json.Unmarshal(body, &o) == nil && o.Error != nil
}
