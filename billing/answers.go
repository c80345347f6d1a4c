package billing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// answers checks the responses from Stripe, or from whatever stands in its place, before the SDK reads them. The SDK
// accepts any JSON as the object asked for: it would read `{}` as an empty list, and a paying account would lose its
// plan. And it quotes what it cannot read in its errors, which are logged.
type answers struct {
	next  http.RoundTripper
	clock *stripeClock
}

// strange is the error for a response that cannot be Stripe's. Its text contains nothing of that response.
type strange string

func (e strange) Error() string { return string(e) }

// mostAnswer is the longest accepted response, in bytes; a page of a hundred subscriptions takes half a megabyte.
const mostAnswer = 16 << 20

// kinds maps a path of Stripe's API to the kind of object found there. A GET of the path itself, without an id, returns
// a list of them (/v1/account excepted).
var kinds = map[string]string{
	"/v1/account": "account", "/v1/billing_portal/configurations": "billing_portal.configuration", "/v1/billing_portal/sessions": "billing_portal.session",
	"/v1/charges": "charge", "/v1/checkout/sessions": "checkout.session", "/v1/customers": "customer", "/v1/disputes": "dispute", "/v1/invoices": "invoice",
	"/v1/prices": "price", "/v1/products": "product", "/v1/subscriptions": "subscription", "/v1/webhook_endpoints": "webhook_endpoint",
}

// wanted returns the kind of object that a request asks for: "list" for several, "" if unknown.
func wanted(r *http.Request) string {
	for address, kind := range kinds {
		switch {
		case r.URL.Path == address && r.Method == http.MethodGet && kind != "account":
			return "list"
		case r.URL.Path == address || strings.HasPrefix(r.URL.Path, address+"/"):
			return kind
		}
	}
	return ""
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := a.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	_ = res.Body.Close()
	failed := res.StatusCode >= http.StatusBadRequest
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(body) > mostAnswer:
		return nil, strange("an answer of Stripe's has no end")
	case res.StatusCode >= http.StatusMultipleChoices && !failed, failed && !tellsError(body):
		return nil, strange(fmt.Sprintf("the response, with status %d, is not from Stripe", res.StatusCode))
	case !failed:
		if err := whole(body, wanted(r)); err != nil {
			return nil, err
		}
	}
	a.clock.hear(res.Header)
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res.Header.Del("Content-Length")
	return res, nil
}

// whole returns an error unless body is an object of the given kind ("" = any) with an id, or a list of objects with
// ids. A list with a gap is refused: the missing item may be what somebody pays for.
func whole(body []byte, kind string) error {
	type named struct {
		ID string `json:"id"`
	}
	var o struct {
		named

		Object  string   `json:"object"`
		Data    []*named `json:"data"`
		HasMore bool     `json:"has_more"`
	}
	if json.Unmarshal(body, &o) != nil { // the error may quote the response
		return strange("the response is not JSON from Stripe")
	}
	if o.Object == "" || kind != "" && o.Object != kind || o.Object != "list" && o.ID == "" {
		return strange("the response is not what Stripe was asked for")
	}
	if o.Object != "list" {
		return nil
	}
	if o.Data == nil || o.HasMore && len(o.Data) == 0 {
		return strange("the response is not a list from Stripe")
	}
	for _, item := range o.Data {
		if item == nil || item.ID == "" {
			return strange("a list from Stripe has a gap")
		}
	}
	return nil
}

// tellsError reports whether body is an error in Stripe's format.
func tellsError(body []byte) bool {
	var o struct {
		Error *struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	return json.Unmarshal(body, &o) == nil && o.Error != nil && o.Error.Type != ""
}
