package billing_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store/storetest"
)

// What a checkout sells, and which of several sessions is the account's own.

// answering returns a transport that answers some requests itself.
func answering(mine func(r *http.Request) (status int, text string)) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		status, text := mine(r)
		if status == 0 {
			return http.DefaultTransport.RoundTrip(r)
		}
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
			Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
		}, nil
	})
}

// rewritten returns a transport that changes the responses to GETs of a path.
func rewritten(path string, change func(text string) string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || r.Method != http.MethodGet || r.URL.Path != path {
			return res, err
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		told := change(string(text))
		res.Body, res.ContentLength = io.NopCloser(strings.NewReader(told)), int64(len(told))
		res.Header.Del("Content-Length")
		return res, err
	})
}

// openedFor returns a session that somebody else opened for a customer, at the price of Pro.
func (w *world) openedFor(customer, reference string) string {
	w.t.Helper()
	return w.openedAt(w.price, customer, reference)
}

// openedAt returns a session that somebody else opened for a customer.
func (w *world) openedAt(price, customer, reference string) string {
	w.t.Helper()
	form := url.Values{
		"mode": {"subscription"}, "customer": {customer}, "line_items[0][price]": {price}, "line_items[0][quantity]": {"1"},
		"success_url": {"https://example.com"},
	}
	if reference != "" {
		form.Set("client_reference_id", reference)
	}
	var made struct{ ID string }
	w.ask(http.MethodPost, "/v1/checkout/sessions", form, &made)
	return made.ID
}

// noted returns the account's stored checkout.
func (w *world) noted() *string {
	w.t.Helper()
	b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
	w.must(err)
	return b.SessionID
}

// The amount charged is the price that the pages show, once; and checkout returns with the session's id.
func TestCheckoutSellsOneMonth(t *testing.T) {
	each(t, func(w *world) {
		var shown struct {
			Total   int64  `json:"amount_total"`
			Success string `json:"success_url"`
			Cancel  string `json:"cancel_url"`
		}
		id := w.checkout()
		w.ask(http.MethodGet, "/v1/checkout/sessions/"+id, nil, &shown)
		if shown.Total != models.ProMonthlyCents {
			w.t.Errorf("the checkout asks for %d cents", shown.Total)
		}
		if shown.Success != w.hook.URL+"/dashboard/billing/return?session_id={CHECKOUT_SESSION_ID}" || shown.Cancel != w.hook.URL+"/dashboard" {
			w.t.Errorf("it leads to %s, or back to %s", shown.Success, shown.Cancel)
		}
		_, _, err := w.stripe.Pay(id, sandbox.CardOK)
		w.must(err)
		if paid := w.stripe.Invoices(w.customer()); len(paid) != 1 || paid[0].Total != models.ProMonthlyCents {
			w.t.Errorf("%+v", paid)
		}
	})
}

// Of two open sessions that could be offered, one is kept: the other could be paid as well.
func TestCheckoutKeepsOneOfTwo(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		w.openedFor(w.customer(), w.account.ID)
		given := w.checkout()
		if open := w.openSessions(); len(open) != 1 || open[0].ID != given {
			w.t.Errorf("%s is given, open are %+v", given, open)
		}
	})
}

// Whatever one account does, the open checkout of another stays open.
func TestCheckoutsOfOthersStayOpen(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		first := w.account
		session := w.checkout()
		w.account = w.newAccount()
		w.checkout()
		w.checkout()
		w.must(w.billing.CloseCheckout(ctx, w.account.ID, cause()))
		w.checkout()
		_, err := w.billing.End(ctx, w.account.ID, cause())
		w.must(err)
		if _, paid, err := w.stripe.Pay(session, sandbox.CardOK); err != nil || !paid {
			w.t.Errorf("it cannot be paid: %v", err)
		}
		w.settle()
		w.account = first
		w.wantPlan(models.PlanPro)
	})
}

// What the operator sells to the same customer otherwise stays open, whatever becomes of Pro, and is not mistaken for a
// payment of Pro that is under way.
func TestCheckoutsOfOtherProducts(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		first := w.checkout()
		socks := w.openedAt(w.otherPrice(""), w.customer(), "order-77")
		left := func(step string, want ...string) {
			w.t.Helper()
			var open []string
			for _, s := range w.openSessions() {
				open = append(open, s.ID)
			}
			slices.Sort(open)
			if slices.Sort(want); !slices.Equal(open, want) {
				w.t.Errorf("%s: %v are open, want %v", step, open, want)
			}
		}
		if again := w.checkout(); again != first {
			w.t.Errorf("%s is opened beside %s", again, first)
		}
		left("a second visit", first, socks)
		_, _, err := w.stripe.Pay(first, sandbox.CardDeclined)
		w.must(err)
		w.settle()
		w.must(w.billing.CloseCheckout(ctx, w.account.ID, cause()))
		left("a grant", socks)
		next := w.checkout() // what the refused card began is out of the way
		left("bought anew", next, socks)
		_, err = w.billing.End(ctx, w.account.ID, cause())
		w.must(err)
		left("closed", socks)
	})
}

// Our own checkouts are known by the account that they name, even if the database was restored to before anything was for
// sale: whoever closes the account cannot be charged by one.
func TestCheckoutOfAnUnknownPrice(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		storetest.Exec(w.t, w.address, "DELETE FROM known_prices")
		_, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		w.must(err)
		if open := w.openSessions(); len(open) != 0 {
			w.t.Errorf("open: %+v", open)
		}
	})
}

// A session that Stripe fails to close can still be paid: no other one is opened beside it.
func TestCheckoutThatIsNotClosed(t *testing.T) {
	each(t, func(w *world) {
		for name, unread := range map[string]bool{"it is open": false, "nobody knows": true} {
			w.account = w.newAccount()
			old := w.checkout()
			w.stripe.Advance(23*time.Hour + 55*time.Minute)
			node := w.via(answering(func(r *http.Request) (int, string) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/expire"):
					return http.StatusBadRequest, `{"error":{"type":"invalid_request_error","message":"not now"}}`
				case unread && r.URL.Path == "/v1/checkout/sessions/"+old:
					return http.StatusInternalServerError, `{"error":{"type":"api_error","message":"away"}}`
				}
				return 0, ""
			}))
			if s, err := node.Checkout(w.t.Context(), w.account.ID); err == nil {
				w.t.Errorf("%s: %s is sold beside %s", name, s.ID, old)
			}
			if n := len(w.stripe.Sessions(w.customer())); n != 1 {
				w.t.Errorf("%s: %d sessions", name, n)
			}
			if again := w.checkout(); again == old {
				w.t.Errorf("%s: %s is given again", name, old)
			}
		}
	})
}

// A closed session is not shown as open, even if no other one could be opened.
func TestCheckoutThatIsClosedIsForgotten(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.checkout()
		w.stripe.Advance(23*time.Hour + 55*time.Minute)
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodPost, Path: "/v1/checkout/sessions"})
		if _, err := w.billing.Checkout(ctx, w.account.ID); models.ErrorCode(err) != models.CodeUnavailable {
			w.t.Errorf("%v", err)
		}
		if id := w.noted(); id != nil {
			w.t.Errorf("%s is said to be open", *id)
		}
		w.stripe.ClearFaults()
		for _, archived := range []string{"products/lottery_pro", "prices/" + w.price} { // in Stripe's dashboard
			w.ask(http.MethodPost, "/v1/"+archived, url.Values{"active": {"false"}}, &struct{}{})
			_, err := w.billing.Checkout(ctx, w.account.ID)
			w.refused(err)
			if err != nil && (!strings.Contains(err.Error(), w.price) || !strings.Contains(err.Error(), "billing doctor")) {
				w.t.Errorf("%s is archived: %v", archived, err)
			}
			w.ask(http.MethodPost, "/v1/"+archived, url.Values{"active": {"true"}}, &struct{}{})
		}
	})
}

// Stripe binds a customer to one currency at a time. If the price of Pro moves to another, what a customer began in the
// old one is out of the way before a new checkout opens; what they pay for something else refuses it.
func TestCheckoutInAnotherCurrency(t *testing.T) {
	each(t, func(w *world) {
		socks := w.otherPrice("")
		old := w.checkout()
		_, _, err := w.stripe.Pay(old, sandbox.CardDeclined)
		w.must(err)
		w.keyed(url.Values{"unit_amount": {"899"}, "currency": {"eur"}, "recurring[interval]": {"month"}})
		w.sold()
		if next := w.checkout(); next == old {
			w.t.Errorf("%s sells the old price", next)
		}

		_, err = w.stripe.NewSubscription(w.customer(), socks, "active", nil)
		w.must(err)
		w.stripe.Advance(25 * time.Hour) // the checkout is over
		_, err = w.billing.Checkout(w.t.Context(), w.account.ID)
		if w.refused(err); err != nil && !strings.Contains(err.Error(), "combine currencies") {
			w.t.Errorf("%v", err)
		}
	})
}

// An address of ours that Stripe does not take is a failure, which alerts notice, and no refusal to sell.
func TestCheckoutWithoutAddress(t *testing.T) {
	each(t, func(w *world) {
		s := billing.New(billing.Options{Store: w.store, Stripe: w.cfg, PublicURL: "example.com", StripeNow: w.stripe.Now, Log: slog.New(slog.DiscardHandler)})
		if _, err := s.Checkout(w.t.Context(), w.account.ID); err == nil || models.ErrorCode(err) == models.CodeConflict {
			w.t.Errorf("%v", err)
		}
	})
}

// Whatever Stripe says about the sessions of a deleted customer, the next checkout is a new customer's.
func TestCheckoutOfADeletedCustomer(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		unlisted := sandbox.APIFault{Action: sandbox.NotFound, Method: http.MethodGet, Path: "/v1/checkout/sessions", Times: 1}
		w.checkout()
		w.must(w.stripe.DeleteCustomer(w.customer()))
		w.stripe.FaultAPI(unlisted)
		w.buy(sandbox.CardOK)
		w.wantAfterSync(models.PlanPro)

		w.account = w.newAccount()
		w.checkout()
		w.must(w.stripe.DeleteCustomer(w.customer()))
		w.stripe.FaultAPI(unlisted)
		if _, err := w.billing.End(ctx, w.account.ID, cause()); err != nil {
			w.t.Errorf("the end: %v", err)
		}

		w.account = w.newAccount() // whose customer is deleted once the session was found
		old := w.checkout()
		dead := w.customer()
		node := w.via(after(http.MethodGet, "/v1/checkout/sessions", func() { w.must(w.stripe.DeleteCustomer(dead)) }))
		s, err := node.Checkout(ctx, w.account.ID)
		if err != nil || s.ID == old || w.customer() == dead {
			w.t.Errorf("%s after %s, of %s after %s: %v", s.ID, old, w.customer(), dead, err)
		}
	})
}

// A session is the account's own only if it is its customer's and names the account: a payment link's URL may name any
// account, and an operator may open a session for the customer that sells something else.
func TestReturnWithAForeignSession(t *testing.T) {
	each(t, func(w *world) {
		ours := w.checkout()
		for name, id := range map[string]string{
			"of another customer": w.openedFor(w.foreignCustomer(nil), w.account.ID),
			"for another account": w.openedFor(w.customer(), "acc_other"),
			"for nobody":          w.openedFor(w.customer(), ""),
			"that does not exist": "cs_test_none",
		} {
			if arrived, _, err := w.billing.Return(w.t.Context(), w.account.ID, id); models.ErrorCode(err) != models.CodeNotFound {
				w.t.Errorf("%s: %s %v", name, arrived, err)
			}
		}
		if _, _, err := w.billing.Return(w.t.Context(), w.account.ID, ours); err != nil {
			w.t.Errorf("our own: %v", err)
		}
	})
}

// Whoever returns from a checkout is told what became of it, even long after.
func TestReturnTellsWhatBecameOfIt(t *testing.T) {
	each(t, func(w *world) {
		arrived := func(session string) billing.Arrival {
			w.t.Helper()
			how, _, err := w.billing.Return(w.t.Context(), w.account.ID, session)
			w.must(err)
			return how
		}
		session := w.checkout()
		if how := arrived(session); how != billing.ArrivedOpen {
			w.t.Errorf("nothing was paid: %s", how)
		}
		w.stripe.Advance(25 * time.Hour)
		if how := arrived(session); how != billing.ArrivedLate {
			w.t.Errorf("nothing was paid in a day: %s", how)
		}
		session = w.buy(sandbox.CardOK)
		sub := w.onlySubscription()
		for _, c := range []struct {
			status string
			want   billing.Arrival
		}{
			{"active", billing.ArrivedPro}, {"trialing", billing.ArrivedPro}, {"incomplete", billing.ArrivedPending},
			{"past_due", billing.ArrivedLate}, {"unpaid", billing.ArrivedLate}, {"paused", billing.ArrivedLate},
			{"incomplete_expired", billing.ArrivedLate}, {"canceled", billing.ArrivedLate},
		} {
			w.must(w.stripe.SetStatus(sub, c.status))
			if how := arrived(session); how != c.want {
				w.t.Errorf("%s: %s, want %s", c.status, how, c.want)
			}
		}
	})
}
