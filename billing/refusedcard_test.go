package billing_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
)

// A refused card leaves its subscription incomplete and the checkout open: the customer continues there, and pays for
// the same subscription.
func TestCheckoutIsGoneOnWithAfterARefusedCard(t *testing.T) {
	each(t, func(w *world) {
		first := w.checkout()
		for range 2 {
			if _, paid, err := w.stripe.Pay(first, sandbox.CardDeclined); err != nil || paid {
				w.t.Fatal(paid, err)
			}
			w.settle()
			w.wantStates(map[string]string{w.onlySubscription(): "incomplete"})
			w.wantPlan(models.PlanFree)
			if again := w.checkout(); again != first {
				w.t.Errorf("%s is opened beside %s", again, first)
			}
		}
		b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
		w.must(err)
		if !b.InCheckout(w.stripe.Now()) {
			w.t.Errorf("not in checkout: %+v", b)
		}
		w.stripe.Advance(time.Hour)
		if _, paid, err := w.stripe.Pay(first, sandbox.CardOK); err != nil || !paid {
			w.t.Fatal(paid, err)
		}
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantStates(map[string]string{w.onlySubscription(): "active"})
		w.wantFlags()
		_, err = w.billing.Checkout(w.t.Context(), w.account.ID)
		w.refused(err)
	})
}

// wantOver checks that the account's stored subscription has ended.
func (w *world) wantOver() {
	w.t.Helper()
	if b := w.written(); b.GoesOn() {
		w.t.Errorf("%s of %s goes on", *b.Status, *b.SubscriptionID)
	}
}

// Closing a checkout, whoever does it, cancels what a refused card left: that can no longer be paid, and its owner can
// buy at the next click. What waits for a bank is left alone.
func TestClosedCheckoutAfterARefusedCard(t *testing.T) {
	for name, closes := range map[string]func(w *world, session string){
		"the price moved": func(w *world, _ string) {
			w.keyed(url.Values{"product": {"lottery_pro"}, "unit_amount": {"1299"}, "currency": {"usd"}, "recurring[interval]": {"month"}})
			w.sold()
		},
		"in Stripe's dashboard": func(w *world, session string) {
			w.ask(http.MethodPost, "/v1/checkout/sessions/"+session+"/expire", nil, new(struct{}))
		},
		"suspended, and resumed": func(w *world, _ string) {
			w.must(w.billing.CloseCheckout(w.t.Context(), w.account.ID, cause()))
			w.wantOver()
		},
		"by itself, after a day": func(w *world, _ string) {
			w.stripe.Advance(5 * time.Hour)
			_, err := w.billing.Reconcile(w.t.Context(), nil)
			w.must(err)
			w.wantOver()
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				first := w.checkout()
				w.stripe.Advance(20 * time.Hour)
				_, _, err := w.stripe.Pay(first, sandbox.CardDeclined)
				w.must(err)
				w.settle()
				left := w.onlySubscription()
				closes(w, first)
				next := w.checkout()
				if next == first {
					w.t.Errorf("%s is closed, and is given again", first)
				}
				w.wantStates(map[string]string{left: "incomplete_expired"})
				_, paid, err := w.stripe.Pay(next, sandbox.CardOK)
				if err != nil || !paid {
					w.t.Fatal(paid, err)
				}
				w.settle()
				w.wantPlan(models.PlanPro)
				w.wantFlags()
			})
		})
	}
	each(t, func(w *world) {
		session := w.buy(sandbox.BankPays)
		sub := w.onlySubscription()
		w.must(w.stripe.SetStatus(sub, "incomplete"))
		w.settle()
		_, err := w.billing.Checkout(w.t.Context(), w.account.ID)
		w.refused(err)
		w.must(w.billing.CloseCheckout(w.t.Context(), w.account.ID, cause()))
		_, err = w.billing.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantStates(map[string]string{sub: "incomplete"})
		w.must(w.stripe.Settle(session, true))
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

// Once what a refused card left is over, its owner can pay for a new subscription, or leave and pay nothing.
func TestCheckoutLongAfterARefusedCard(t *testing.T) {
	each(t, func(w *world) {
		_, _, err := w.stripe.Pay(w.checkout(), sandbox.CardDeclined)
		w.must(err)
		left := w.onlySubscription()
		w.settle()
		w.stripe.Advance(25 * time.Hour)
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)

		w.account = w.newAccount()
		again := w.checkout()
		_, _, err = w.stripe.Pay(again, sandbox.CardDeclined)
		w.must(err)
		w.settle()
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || len(ended.Cancelled) != 1 || ended.UnderWay || ended.Cancelled[0] == left {
			w.t.Errorf("%+v: %v", ended, err)
		}
		if _, paid, err := w.stripe.Pay(again, sandbox.CardOK); err != nil || paid {
			w.t.Errorf("paid after the end: %v", err)
		}
	})
}

// After a refused card, the customer pays the invoice in the portal, with the checkout still open in another tab: it is
// one subscription, paid once, and nothing else is sold.
func TestRefusedCardIsPaidInThePortal(t *testing.T) {
	each(t, func(w *world) {
		session := w.buy(sandbox.CardDeclined)
		w.settle()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardOK))
		w.must(w.stripe.RetryPayment(w.onlySubscription()))
		w.settle()
		w.wantPlan(models.PlanPro)
		_, err := w.billing.Checkout(w.t.Context(), w.account.ID)
		w.refused(err)
		_, _, err = w.stripe.Pay(session, sandbox.CardOK)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags()
		w.wantMails(models.MailWelcomePro)
		w.wantStates(map[string]string{w.onlySubscription(): "active"})
		if paid := w.stripe.Invoices(w.customer()); len(paid) != 1 {
			w.t.Errorf("%+v", paid)
		}
		charged := 0
		for _, e := range w.stripe.Events() {
			if e.Type == "charge.succeeded" {
				charged++
			}
		}
		if charged != 1 {
			w.t.Errorf("charged %d times", charged)
		}
	})
}
