package billing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/models"
)

// Row 14 concerns paid checkouts, whose subscription appears later. Nothing else that Stripe says about a checkout is a
// reason to retry; only a missing answer is.
func TestFault14OfWhatWasPaid(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		w.kill()
		type answer struct {
			status int
			text   string
			waits  bool
		}
		session := func(id, mode, status, payment string) string {
			return fmt.Sprintf(`{"id":%q,"object":"checkout.session","mode":%q,"status":%q,"payment_status":%q,"subscription":null}`, id, mode, status, payment)
		}
		answers := map[string]answer{
			"cs_test_paid":    {200, session("cs_test_paid", "subscription", "complete", "paid"), true},
			"cs_test_trial":   {200, session("cs_test_trial", "subscription", "complete", "no_payment_required"), true},
			"cs_test_unpaid":  {200, session("cs_test_unpaid", "subscription", "complete", "unpaid"), false},
			"cs_test_open":    {200, session("cs_test_open", "subscription", "open", "no_payment_required"), false},
			"cs_test_once":    {200, session("cs_test_once", "payment", "complete", "paid"), false},
			"cs_test_missing": {404, `{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such checkout.session"}}`, false},
			"cs_test_away":    {500, `{"error":{"type":"api_error","message":"away"}}`, true},
		}
		for id := range answers {
			_, err := w.store.AddEvent(w.t.Context(), models.StripeEvent{
				ID: "evt_" + id, Type: "checkout.session.completed", ObjectID: id, CustomerID: w.customer(), State: models.EventPending, CreatedAt: time.Now().UTC(),
			})
			w.must(err)
		}
		n, err := w.via(answering(func(r *http.Request) (int, string) {
			a := answers[strings.TrimPrefix(r.URL.Path, "/v1/checkout/sessions/")]
			return a.status, a.text
		})).Work(w.t.Context())
		if err != nil || n != len(answers) {
			w.t.Fatalf("%d %v", n, err)
		}
		for _, e := range w.events() {
			if waits := e.State == models.EventPending; waits != answers[e.ObjectID].waits {
				w.t.Errorf("%s: it is tried again: %t; %s", e.ObjectID, waits, e.Outcome)
			}
		}
	})
}
