package billing_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

// elsewhere returns billing at another Stripe account that knows none of this one's objects, in the mode of the key.
func (w *world) elsewhere(key string) (*billing.Service, *sandbox.Sandbox) {
	w.t.Helper()
	other, err := sandbox.New(sandbox.Options{SecretKey: key})
	w.must(err)
	server := httptest.NewServer(other)
	w.t.Cleanup(func() {
		server.Close()
		_ = other.Close(context.Background())
	})
	cfg := w.cfg
	cfg.SecretKey, cfg.APIURL = key, server.URL
	s := billing.New(billing.Options{
		Store: w.store, Stripe: cfg, PublicURL: "https://lottery.example", StripeNow: other.Now, Pace: time.Nanosecond, Log: slog.New(slog.DiscardHandler),
	})
	_, err = s.Setup(w.t.Context())
	w.must(err)
	return s, other
}

// testers makes accounts that tried everything in test mode: one pays, one has cancelled, one has a checkout open, and
// one's checkout was closed.
func (w *world) testers() (pays, cancelled, looks, closed models.Account) {
	w.t.Helper()
	pays = w.account
	w.pro()
	w.account = w.newAccount()
	w.must(w.stripe.Cancel(w.pro()))
	w.settle()
	cancelled, w.account = w.account, w.newAccount()
	w.checkout()
	looks, w.account = w.account, w.newAccount()
	w.checkout()
	w.must(w.billing.CloseCheckout(w.t.Context(), w.account.ID, cause()))
	closed = w.account
	w.kill()
	return pays, cancelled, looks, closed
}

// Live mode knows none of test mode's customers: they are forgotten, with what they paid in play money.
func TestGoingLive(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		pays, cancelled, looks, closed := w.testers()
		live, _ := w.elsewhere("sk_live_1")
		for _, a := range []models.Account{cancelled, looks, closed} { // whatever they do next
			if s, err := live.Checkout(ctx, a.ID); err != nil || !strings.HasPrefix(s.ID, "cs_live_") {
				w.t.Errorf("checkout: %+v %v", s, err)
			}
		}
		if done, err := live.Reconcile(ctx, nil); err != nil || len(done.Failed) != 0 || len(done.Drifts) != 1 || done.Drifts[0].AccountID != pays.ID {
			w.t.Errorf("%+v %v", done, err)
		}
		w.account = pays
		w.wantPlan(models.PlanFree)
		w.wantMails(models.MailWelcomePro, models.MailProEnded)
		if s, err := live.Checkout(ctx, pays.ID); err != nil || !strings.HasPrefix(s.ID, "cs_live_") {
			w.t.Errorf("checkout: %+v %v", s, err)
		}
	})
}

// A customer of test mode must not keep anybody from the portal, or from ending an account.
func TestGoingLiveAndLeaving(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		pays, _, looks, _ := w.testers()
		live, _ := w.elsewhere("sk_live_1")
		if _, err := live.Portal(ctx, pays.ID); models.ErrorCode(err) != models.CodeConflict {
			w.t.Errorf("the portal: %v", err)
		}
		w.account = pays
		w.wantPlan(models.PlanFree)
		if _, err := live.End(ctx, looks.ID, cause()); err != nil {
			w.t.Errorf("the end: %v", err)
		}
	})
}

// A wrong key takes nobody's plan or customer: neither a test key with live accounts, nor one of another Stripe
// account, even if set-up was run with it.
func TestNobodyIsForgottenByAWrongKey(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.kill()
		live, stripe := w.elsewhere("sk_live_1")
		var customers []string
		for _, paid := range []bool{true, false} {
			w.account = w.newAccount()
			_, err := live.Setup(ctx) // after the wrong ones
			w.must(err)
			s, err := live.Checkout(ctx, w.account.ID)
			w.must(err)
			if paid {
				_, _, err = stripe.Pay(s.ID, sandbox.CardOK)
				w.must(err)
				_, err = live.Sync(ctx, w.account.ID, cause())
				w.must(err)
				w.wantPlan(models.PlanPro)
			}
			customers = append(customers, w.customer())
			for _, key := range []string{"sk_test_1", "sk_live_2"} {
				wrong, _ := w.elsewhere(key)
				for what, do := range map[string]func() error{
					"sync":     func() error { _, err := wrong.Sync(ctx, w.account.ID, cause()); return err },
					"checkout": func() error { _, err := wrong.Checkout(ctx, w.account.ID); return err },
					"portal":   func() error { _, err := wrong.Portal(ctx, w.account.ID); return err },
					"end":      func() error { _, err := wrong.End(ctx, w.account.ID, cause()); return err },
				} {
					if err := do(); models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "stripe_secret_key") {
						w.t.Errorf("%s with %s: %v", what, key, err)
					}
				}
				if got := w.customer(); got != customers[len(customers)-1] {
					w.t.Errorf("%s: the customer is %s, was %s", key, got, customers)
				}
			}
			if paid {
				w.wantPlan(models.PlanPro)
			}
		}
	})
}
