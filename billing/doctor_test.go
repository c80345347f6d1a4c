package billing_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lottery/billing"
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
