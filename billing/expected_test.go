package billing_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
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

// emptied answers requests for a list of Stripe's with what of it is left after change.
func emptied(path string, change func(item map[string]any) (keep bool)) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || r.Method != http.MethodGet || r.URL.Path != path {
			return res, err
		}
		var list struct {
			Object  string           `json:"object"`
			URL     string           `json:"url"`
			HasMore bool             `json:"has_more"`
			Data    []map[string]any `json:"data"`
		}
		err = json.NewDecoder(res.Body).Decode(&list)
		_ = res.Body.Close()
		list.Data = slices.DeleteFunc(list.Data, func(item map[string]any) bool { return !change(item) })
		text, _ := json.Marshal(list)
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		res.Header.Del("Content-Length")
		return res, err
	}
}

// While Stripe shows no subscription for a checkout that was paid, nothing is sold: the customer would pay twice. If it
// never shows one, they can buy again after two days.
func TestFault14NothingIsSoldMeanwhile(t *testing.T) {
	each(t, func(w *world) {
		w.buy(sandbox.CardOK)
		w.kill()
		sessions := emptied("/v1/checkout/sessions", func(item map[string]any) bool {
			item["subscription"] = nil
			return true
		})
		none := emptied("/v1/subscriptions", func(map[string]any) bool { return false })
		early := w.via(roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/v1/subscriptions" {
				return none(r)
			}
			return sessions(r)
		}))
		for range 2 {
			if _, err := early.Checkout(w.t.Context(), w.account.ID); !errors.Is(err, billing.ErrUnderWay) || models.ErrorCode(err) != models.CodeConflict {
				w.t.Errorf("a second checkout: %v", err)
			}
		}
		if n := len(w.stripe.Sessions("")); n != 1 {
			w.t.Errorf("%d sessions", n)
		}
		w.stripe.Advance(49 * time.Hour)
		_, err := early.Checkout(w.t.Context(), w.account.ID)
		w.must(err)
	})
}
