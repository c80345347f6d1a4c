// Package sandboxtest helps the tests of several packages to use the Stripe sandbox and stripe-mock, its yardstick.
package sandboxtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"lottery/billing"
	"lottery/billing/sandbox"
)

// Ask calls Stripe's API as its dashboard does, with the sandbox's own key, and decodes the response into what into
// points to. Any status but 200 is an error.
func Ask(ctx context.Context, way http.RoundTripper, method, address string, form url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Stripe-Version", billing.APIVersion)
	r.SetBasicAuth(sandbox.DefaultKey, "")
	res, err := way.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, address, res.StatusCode, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
