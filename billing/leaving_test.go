package billing_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

func TestPortal(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		if _, err := w.billing.Portal(ctx, w.account.ID); models.ErrorCode(err) != models.CodeConflict {
			w.t.Errorf("of an account that never paid: %v", err)
		}
		w.pro()
		ended, end := context.WithCancel(ctx)
		end()
		if _, err := w.billing.Portal(ended, w.account.ID); err == nil || models.ErrorCode(err) == models.CodeConflict {
			w.t.Errorf("of an account that cannot be read: %v", err)
		}
		if url, err := w.billing.Portal(ctx, w.account.ID); err != nil || url == "" {
			w.t.Errorf("%q %v", url, err)
		}
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.must(w.stripe.DeleteCustomer(w.customer()))
		if _, err := w.billing.Portal(ctx, w.account.ID); models.ErrorCode(err) != models.CodeConflict {
			w.t.Errorf("of a customer that was deleted at Stripe: %v", err)
		}
		w.wantPlan(models.PlanFree) // what it found out is not forgotten
	})
}

func TestReturnRefusesWhatIsNoSession(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		before := len(w.stripe.Calls())
		for _, id := range []string{"", "sub_1", "../customers", "cs_1/../../customers", "cs_1?expand[]=customer", "%2e%2e"} {
			if _, _, err := w.billing.Return(w.t.Context(), w.account.ID, id); models.ErrorCode(err) != models.CodeNotFound {
				w.t.Errorf("%q: %v", id, err)
			}
		}
		for _, c := range w.stripe.Calls()[before:] {
			if c.Path == "/v1/checkout/sessions" || c.Path == "/v1/checkout/sessions/" || c.Path == "/v1/customers" {
				w.t.Errorf("Stripe was asked for %s", c.Path)
			}
		}
	})
}

// Closing or deleting an account ends its payments, and it cannot begin new ones.
func TestEndCancelsEverything(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		if ended, err := w.billing.End(ctx, w.account.ID, cause()); err != nil || len(ended.Cancelled) != 0 {
			w.t.Errorf("of an account that never paid: %v %+v", err, ended)
		}
		first := w.pro()
		_, err := w.stripe.NewSubscription(w.customer(), w.price, "past_due", nil)
		w.must(err)
		socks, err := w.stripe.NewSubscription(w.customer(), w.otherPrice(""), "active", nil)
		w.must(err)
		ended, err := w.billing.End(ctx, w.account.ID, cause())
		if err != nil || len(ended.Cancelled) != 2 || !slices.Contains(ended.Cancelled, first) {
			w.t.Errorf("%v %+v", err, ended)
		}
		w.wantPlan(models.PlanFree)
		for _, sub := range w.stripe.Subscriptions(w.customer()) {
			if (sub.Status == "canceled") != (sub.ID != socks) {
				w.t.Errorf("%+v", sub)
			}
		}
		w.account = w.newAccount()
		open := w.checkout()
		_, err = w.billing.End(ctx, w.account.ID, cause())
		w.must(err)
		if _, paid, err := w.stripe.Pay(open, sandbox.CardOK); err != nil || paid {
			w.t.Errorf("the open checkout can still be paid: %v", err)
		}
	})
}

// The checkout is paid at the moment the account ends, or before, and no event told of it. An operator is asked to
// refund it.
func TestEndWhilePaying(t *testing.T) {
	each(t, func(w *world) {
		session := w.checkout()
		node := w.via(after(http.MethodGet, "/v1/checkout/sessions", func() { _, _, _ = w.stripe.Pay(session, sandbox.CardOK) }))
		ended, err := node.End(w.t.Context(), w.account.ID, cause())
		if err != nil || !ended.JustPaid {
			w.t.Errorf("%+v, %v", ended, err)
		}
		w.wantFlags(models.FlagClosed)
		for _, sub := range w.stripe.Subscriptions("") {
			if sub.Status != "canceled" {
				w.t.Errorf("%+v", sub)
			}
		}
	})
}

// End does not report that everything is cancelled unless Stripe has said so.
func TestEndFailsWithStripe(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		for _, path := range []string{"/v1/checkout/sessions", "/v1/subscriptions", "/v1/subscriptions/*"} {
			w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: path})
			if _, err := w.billing.End(w.t.Context(), w.account.ID, cause()); models.ErrorCode(err) != models.CodeUnavailable {
				w.t.Errorf("%s: %v", path, err)
			}
			w.stripe.ClearFaults()
		}
	})
}

// Somebody pays for an account that was deleted here: the subscription ends at once, and an operator is asked to look.
func TestClosedAccountPays(t *testing.T) {
	each(t, func(w *world) {
		session := w.checkout()
		_, err := w.store.DeleteAccount(w.t.Context(), w.account.ID)
		w.must(err)
		_, _, err = w.stripe.Pay(session, sandbox.CardOK)
		w.must(err)
		w.settle()
		for _, sub := range w.stripe.Subscriptions("") {
			if sub.Status != "canceled" {
				w.t.Errorf("%+v", sub)
			}
		}
		w.wantFlags(models.FlagClosed)
		_, err = w.billing.Reconcile(w.t.Context(), nil)
		w.must(err)
		w.wantMails()
	})
}

func TestFlagSuspended(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		if raised, err := billing.FlagSuspended(ctx, w.store, w.account.ID); err != nil || raised {
			w.t.Errorf("never paid: %v %v", raised, err)
		}
		sub := w.pro()
		for range 2 {
			if raised, err := billing.FlagSuspended(ctx, w.store, w.account.ID); err != nil || !raised {
				w.t.Errorf("%v %v", raised, err)
			}
		}
		w.wantFlags(models.FlagSuspended)
		_, err := w.store.ClearFlags(ctx, w.account.ID)
		w.must(err)
		if raised, err := billing.FlagSuspended(ctx, w.store, w.account.ID); err != nil || !raised { // it was resumed, and is suspended again
			w.t.Errorf("%v %v", raised, err)
		}
		w.wantFlags(models.FlagSuspended)
		w.must(w.stripe.Cancel(sub))
		w.settle()
		if raised, err := billing.FlagSuspended(ctx, w.store, w.account.ID); err != nil || raised {
			w.t.Errorf("ended: %v %v", raised, err)
		}
	})
}

// Once an account is suspended, nothing more can be paid; what was paid at that moment is flagged.
func TestCloseCheckout(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.must(w.billing.CloseCheckout(ctx, w.account.ID, cause())) // it never went to checkout
		session := w.checkout()
		_, err := w.store.SetAccountStatus(ctx, w.account.ID, models.AccountSuspended)
		w.must(err)
		w.must(w.billing.CloseCheckout(ctx, w.account.ID, cause()))
		if _, paid, err := w.stripe.Pay(session, sandbox.CardOK); err != nil || paid {
			w.t.Errorf("the checkout can still be paid: %v", err)
		}
		if b, err := w.store.BillingAccount(ctx, w.account.ID); err != nil || b.SessionID != nil {
			w.t.Errorf("%v %+v", err, b)
		}
		w.wantFlags()

		w.account = w.newAccount()
		session = w.checkout()
		_, err = w.store.SetAccountStatus(ctx, w.account.ID, models.AccountSuspended)
		w.must(err)
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		node := w.via(after(http.MethodGet, "/v1/checkout/sessions", func() { _, _, _ = w.stripe.Pay(session, sandbox.CardOK) }))
		w.must(node.CloseCheckout(ctx, w.account.ID, cause()))
		w.wantFlags(models.FlagSuspended)
	})
}

// A paid checkout is dropped by the first sync that sees its subscription, whatever caused it, so that nobody is told
// that it can be paid. One that is still open is kept.
func TestPaidCheckoutIsForgotten(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		payable := func() bool {
			b, err := w.store.BillingAccount(ctx, w.account.ID)
			w.must(err)
			return b.Payable(w.stripe.Now())
		}
		for _, card := range []sandbox.Card{sandbox.CardOK, sandbox.BankPays} {
			w.account = w.newAccount()
			session := w.checkout()
			if !payable() {
				w.t.Error("an open checkout is forgotten")
			}
			w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
			_, _, err := w.stripe.Pay(session, card)
			w.must(err)
			w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/checkout/sessions/*", Times: 1})
			now, err := w.billing.Sync(ctx, w.account.ID, cause())
			if err != nil || !now.Unfinished || !payable() { // what is known about the plan does not depend on it
				w.t.Errorf("%v %+v", err, now)
			}
			_, err = w.billing.Sync(ctx, w.account.ID, cause())
			w.must(err)
			if payable() {
				w.t.Errorf("%v: what was paid is said to be open", card)
			}
			w.stripe.ClearFaults()
		}
		w.account = w.newAccount()
		w.checkout()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodPost, Path: "/v1/checkout/sessions/*"})
		_, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.settle()
		if !payable() {
			w.t.Error("an open checkout is forgotten: another subscription was made by hand, and nobody has closed it")
		}
		w.stripe.ClearFaults()
		_, err = w.billing.Sync(ctx, w.account.ID, cause())
		w.must(err)
		if payable() {
			w.t.Error("a checkout stays open beside a subscription that was made by hand")
		}
	})
}

// However a sync discovers that a suspended account pays, an operator is told, once.
func TestSuspendedAccountPays(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		session := w.checkout()
		_, err := w.store.SetAccountStatus(ctx, w.account.ID, models.AccountSuspended)
		w.must(err)
		_, _, err = w.stripe.Pay(session, sandbox.CardOK)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagSuspended)
		_, err = w.store.ClearFlags(ctx, w.account.ID)
		w.must(err)
		_, err = w.billing.Sync(ctx, w.account.ID, cause())
		w.must(err)
		w.wantFlags() // nothing new
		w.must(w.stripe.Cancel(w.onlySubscription()))
		_, err = w.stripe.NewSubscription(w.customer(), w.price, "past_due", nil)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagSuspended)
	})
}

// A bank goes on deciding on a debit after the subscription is cancelled: what it pays then is flagged.
func TestMoneyThatComesAfterTheEnd(t *testing.T) {
	each(t, func(w *world) {
		for name, end := range map[string]func(sub string){
			"the account is closed": func(string) {
				ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
				w.must(err)
				if !ended.UnderWay {
					w.t.Error("it is not told that a bank is deciding")
				}
				_, err = w.store.DeleteAccount(w.t.Context(), w.account.ID)
				w.must(err)
			},
			"cancelled at Stripe": func(sub string) { w.must(w.stripe.Cancel(sub)) },
		} {
			for _, paid := range []bool{true, false} {
				w.account = w.newAccount()
				w.buy(sandbox.BankPays)
				w.settle()
				sub := w.onlySubscription()
				end(sub)
				w.settle()
				w.wantFlags()
				w.stripe.Advance(time.Hour)
				w.must(w.stripe.Settle(sub, paid))
				w.settle()
				want := []models.FlagKind{}
				if paid {
					want = append(want, models.FlagPaidLate)
				}
				if got := w.flags(); fmt.Sprint(got) != fmt.Sprint(want) {
					w.t.Errorf("%s, paid %t: flags %v, want %v", name, paid, got, want)
				}
			}
		}
		w.account = w.newAccount()
		w.must(w.stripe.Cancel(w.pro()))
		w.settle()
		w.wantFlags() // payments before the end are not flagged
		w.account = w.newAccount()
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.BankPays))
		w.must(w.stripe.Renew(sub))
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		w.must(err)
		if !ended.UnderWay {
			w.t.Error("it is not told that a bank is deciding on the renewal")
		}
		w.settle()
		w.wantFlags()
		w.stripe.Advance(time.Hour)
		w.must(w.stripe.Settle(sub, true))
		w.settle()
		w.wantFlags(models.FlagPaidLate)
	})
}
