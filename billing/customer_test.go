package billing_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store"
)

// Receipts name the customer if the account has a name.
func TestCustomersName(t *testing.T) {
	each(t, func(w *world) {
		for _, name := range []string{"Ann O'Hara & Søn", ""} {
			a, err := w.store.CreateAccount(w.t.Context(), store.NewAccount{Email: fmt.Sprintf("name%d@example.com", len(name)), Name: name})
			w.must(err)
			var told url.Values
			node := w.via(roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost && r.URL.Path == "/v1/customers" {
					body, err := r.GetBody()
					w.must(err)
					text, err := io.ReadAll(body)
					w.must(err)
					told, err = url.ParseQuery(string(text))
					w.must(err)
				}
				return http.DefaultTransport.RoundTrip(r)
			}))
			_, err = node.Checkout(w.t.Context(), a.ID)
			w.must(err)
			if told.Get("email") != *a.Email || told.Get("name") != name || told.Has("name") != (name != "") {
				w.t.Errorf("%q: Stripe is told %v", name, told)
			}
		}
	})
}

// Another customer may have the account's address: of another service of the operator's, or of an earlier account. What
// that one pays does not count.
func TestCustomerAtTheSameAddress(t *testing.T) {
	each(t, func(w *world) {
		var strangers []string
		for _, form := range []url.Values{{}, {"metadata[lottery_account]": {"acc_before"}}} {
			form.Set("email", *w.account.Email)
			var made struct{ ID string }
			w.ask(http.MethodPost, "/v1/customers", form, &made)
			_, err := w.stripe.NewSubscription(made.ID, w.price, "active", nil)
			w.must(err)
			strangers = append(strangers, made.ID)
		}
		w.settle()
		if ended, err := w.billing.End(w.t.Context(), w.account.ID, cause()); err != nil || len(ended.Cancelled) != 0 {
			w.t.Errorf("%v %+v", err, ended)
		}
		w.checkout()
		if slices.Contains(strangers, w.customer()) {
			w.t.Errorf("a stranger, %s, is the account's customer", w.customer())
		}
		w.wantAfterSync(models.PlanFree)
	})
}

// Receipts go to the account's address, or to the one set in the portal, if that was set later.
func TestSendEmail(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.must(w.billing.SendEmail(ctx, w.account.ID)) // there is no customer
		w.pro()
		w.moves("ann@example.com")
		w.must(w.billing.SendEmail(ctx, w.account.ID))
		if c := w.stripe.Customers(); len(c) != 1 || c[0].Email != "ann@example.com" {
			w.t.Errorf("%+v", c)
		}
		w.must(w.stripe.SetEmail(w.customer(), "bills@example.com"))
		w.settle()
		_, err := w.billing.Sync(ctx, w.account.ID, cause())
		w.must(err)
		if c := w.stripe.Customers(); c[0].Email != "bills@example.com" {
			w.t.Errorf("%+v", c)
		}
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
		if err := w.billing.SendEmail(ctx, w.account.ID); models.ErrorCode(err) != models.CodeUnavailable {
			w.t.Errorf("%v", err)
		}
	})
}

// An address that works but that Stripe rejects keeps nobody from paying, and no receipt goes to the former address.
func TestAddressThatStripeRefuses(t *testing.T) {
	each(t, func(w *world) {
		w.moves("jürgen@example.com")
		w.pro()
		if c := w.stripe.Customers(); len(c) != 1 || c[0].Email != "" {
			w.t.Errorf("%+v", c)
		}
		w.moves("ann@example.com")
		w.must(w.billing.SendEmail(w.t.Context(), w.account.ID))
		w.moves("jürgen@müller.example")
		w.must(w.billing.SendEmail(w.t.Context(), w.account.ID))
		if c := w.stripe.Customers(); len(c) != 1 || c[0].Email != "" {
			w.t.Errorf("%+v", c)
		}
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

// The same holds if Stripe will not even search for such an address.
func TestAddressThatStripeDoesNotLookFor(t *testing.T) {
	each(t, func(w *world) {
		w.moves("jürgen@example.com")
		node := w.via(answering(func(r *http.Request) (int, string) {
			if r.Method == http.MethodGet && r.URL.Query().Get("email") == *w.account.Email {
				return http.StatusBadRequest, `{"error":{"type":"invalid_request_error","code":"email_invalid","param":"email","message":"Invalid email address"}}`
			}
			return 0, ""
		}))
		if _, err := node.End(w.t.Context(), w.account.ID, cause()); err != nil {
			w.t.Errorf("the end: %v", err)
		}
		if _, err := node.Checkout(w.t.Context(), w.account.ID); err != nil {
			w.t.Errorf("the checkout: %v", err)
		}
	})
}

// moves changes the account's address, as its owner does.
func (w *world) moves(email string) {
	w.t.Helper()
	hash := sha256.Sum256([]byte(email))
	err := w.store.CreateLink(w.t.Context(), store.NewLink{Hash: hash, Purpose: models.LinkChangeEmail, Email: email, AccountID: w.account.ID, PerHour: 9})
	w.must(err)
	_, w.account, err = w.store.ChangeEmail(w.t.Context(), store.EmailChange{Link: hash})
	w.must(err)
}
