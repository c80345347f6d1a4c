package billing_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lottery/billing"
	"lottery/models"
)

// A machine without root certificates, with a wrong clock, or behind a proxy that opens TLS cannot trust what answers
// for Stripe. The error says so, and nothing changes: trying again would not help.
func TestCertificateIsNotAccepted(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.kill()
		asked := false
		somebody := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
		somebody.Config.ErrorLog = log.New(io.Discard, "", 0)
		somebody.StartTLS()
		defer somebody.Close()
		o := billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now}
		o.Stripe.APIURL = somebody.URL
		node := billing.New(o)
		_, err := node.Sync(w.t.Context(), w.account.ID, cause())
		if models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "Stripe's certificate is not accepted") || strings.Contains(err.Error(), "try again") {
			w.t.Error(err)
		}
		if checks := node.Doctor(w.t.Context()); !strings.Contains(checks[1].Found, "Stripe's certificate is not accepted") {
			w.t.Errorf("%+v", checks)
		}
		if asked {
			w.t.Error("the key was sent to somebody else")
		}
		w.wantPlan(models.PlanPro)
	})
}
