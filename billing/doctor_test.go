package billing_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
)

// forbids answers requests for the paths as Stripe does if a restricted key lacks the right to them.
func forbids(paths ...string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		res, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(r.URL.Path, path) }) {
			_ = res.Body.Close()
			res.StatusCode = http.StatusForbidden
			const text = `{"error": {"type": "invalid_request_error", "message": "The provided key does not have the required permissions for this endpoint."}}`
			res.Body, res.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			res.Header.Del("Content-Length")
		}
		return res, err
	})
}

// No restricted key may ask which account it belongs to: that is no reason to stop there. For rights that it could have,
// the doctor says so.
func TestDoctorWithARestrictedKey(t *testing.T) {
	each(t, func(w *world) {
		wantOnlyWrong(w.t, w.via(forbids("/v1/account")))
		for path, wrong := range map[string]string{
			"/v1/prices": "price", "/v1/products": "price", "/v1/webhook_endpoints": "webhook endpoint", "/v1/billing_portal": "portal",
		} {
			node := w.via(forbids("/v1/account", path))
			wantOnlyWrong(w.t, node, wrong)
			list := node.Doctor(w.t.Context())
			i := slices.IndexFunc(list, func(c billing.Check) bool { return !c.OK })
			if got := list[i]; !strings.Contains(got.Remedy, "rights") || !strings.Contains(got.Found, "required permissions") {
				w.t.Errorf("%s: %+v", path, got)
			}
		}
	})
}

// A doctor whose time is over says that Stripe is slow, and blames nothing else for it.
func TestDoctorOfASlowStripe(t *testing.T) {
	each(t, func(w *world) {
		for _, fault := range []sandbox.APIFault{
			{Action: sandbox.Hang, Delay: 10 * time.Second}, {Action: sandbox.DelayReply, Delay: 300 * time.Millisecond},
		} {
			w.stripe.FaultAPI(fault)
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
			began := time.Now()
			list := w.billing.Doctor(ctx)
			cancel()
			w.stripe.ClearFaults()
			if took := time.Since(began); took > 8*time.Second {
				w.t.Errorf("%s: the doctor took %s", fault.Action, took)
			}
			if !slices.ContainsFunc(list, func(c billing.Check) bool { return !c.OK && strings.Contains(c.Found, "Stripe") }) {
				w.t.Errorf("%s: nothing is wrong: %+v", fault.Action, list)
			}
			for _, c := range list {
				if !c.OK && !strings.Contains(c.Found, "Stripe") {
					w.t.Errorf("%s: %s: %s", fault.Action, c.Name, c.Found)
				}
			}
		}
	})
}
