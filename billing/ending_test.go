package billing_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

// What End reports: what was cancelled, whether that is all, and whether a bank is still deciding.

// A subscription that had ended before is not reported as cancelled now.
func TestEndTellsWhatItCancelled(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.stripe.Cancel(w.pro()))
		w.settle()
		w.buy(sandbox.CardOK)
		w.settle()
		b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
		w.must(err)
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || !slices.Equal(ended.Cancelled, []string{*b.SubscriptionID}) || !ended.All || ended.UnderWay {
			w.t.Errorf("%v %+v, want %s", err, ended, *b.SubscriptionID)
		}
	})
}

// A bank decides on one of two subscriptions: that is reported in whatever order they are cancelled.
func TestEndOfSeveralTellsOfTheBank(t *testing.T) {
	each(t, func(w *world) {
		for _, first := range []bool{true, false} {
			w.account = w.newAccount()
			session := w.checkout()
			pay := func() {
				_, _, err := w.stripe.Pay(session, sandbox.BankPays)
				w.must(err)
			}
			if first {
				pay()
			}
			_, err := w.stripe.NewSubscription(w.customer(), w.price, "unpaid", nil)
			w.must(err)
			if !first {
				pay()
			}
			ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
			if err != nil || len(ended.Cancelled) != 2 || !ended.UnderWay {
				w.t.Errorf("the bank's first: %t: %v %+v", first, err, ended)
			}
		}
	})
}

// A bank's decision on something else that the operator sells to the same customer is none of ours.
func TestEndTellsOfNoOtherBank(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		other, err := w.stripe.NewSubscription(w.customer(), w.otherPrice(""), "active", nil)
		w.must(err)
		w.must(errors.Join(w.stripe.SetCard(w.customer(), sandbox.BankFails), w.stripe.Renew(other)))
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || !slices.Equal(ended.Cancelled, []string{sub}) || !ended.All || ended.UnderWay {
			w.t.Errorf("%v %+v, want %s", err, ended, sub)
		}
	})
}

// An attempt that fails after it has cancelled everything leaves it to the next one to tell that a bank is deciding, on
// the first payment or a renewal. What a card could not pay is with no bank, nor is what the bank has paid meanwhile, nor
// anything after four weeks.
func TestEndTellsOfTheBankAgain(t *testing.T) {
	each(t, func(w *world) {
		for name, begin := range map[string]func() (withBank time.Duration){
			"the first payment": func() time.Duration { w.buy(sandbox.BankFails); return 28 * day },
			"a bank that pays":  func() time.Duration { w.buy(sandbox.BankPays); return 4 * day },
			"a renewal": func() time.Duration {
				sub := w.pro()
				w.must(errors.Join(w.stripe.SetCard(w.customer(), sandbox.BankFails), w.stripe.Renew(sub)))
				return 28 * day
			},
			"a refused card": func() time.Duration {
				sub := w.pro()
				w.must(errors.Join(w.stripe.SetCard(w.customer(), sandbox.CardDeclined), w.stripe.Renew(sub)))
				return 0
			},
		} {
			w.account = w.newAccount()
			withBank, later := begin(), time.Duration(0)
			w.settle()
			w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.LoseReply, Method: http.MethodDelete, Path: "/v1/subscriptions/*"})
			if _, err := w.billing.End(w.t.Context(), w.account.ID, cause()); models.ErrorCode(err) != models.CodeUnavailable {
				w.t.Errorf("%s: %v", name, err)
			}
			w.stripe.ClearFaults()
			for _, passes := range []time.Duration{0, 25 * day, 4 * day} {
				w.stripe.Advance(passes)
				later += passes
				ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
				if err != nil || len(ended.Cancelled) != 0 || !ended.All || ended.UnderWay != (later < withBank) {
					w.t.Errorf("%s, %s later: %v %+v", name, later, err, ended)
				}
			}
		}
	})
}

// failToEndPaid buys Pro without anybody hearing of the payment, and lets an attempt fail that cancels what was paid.
func failToEndPaid(w *world) {
	w.t.Helper()
	w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
	w.buy(sandbox.CardOK)
	w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/customers/*"})
	if ended, err := w.billing.End(w.t.Context(), w.account.ID, cause()); models.ErrorCode(err) != models.CodeUnavailable || !ended.JustPaid {
		w.t.Errorf("%v %+v", err, ended)
	}
	w.stripe.ClearFaults()
}

// The attempt after one that failed tells of the payment, but not one of another day.
func TestEndTellsOfThePaymentAgain(t *testing.T) {
	each(t, func(w *world) {
		failToEndPaid(w)
		for later, want := range map[time.Duration]bool{0: true, 25 * time.Hour: false} {
			node := billing.New(billing.Options{
				Store: w.store, Stripe: w.cfg, PublicURL: w.hook.URL, StripeNow: w.stripe.Now, Now: func() time.Time { return time.Now().Add(later) },
			})
			if ended, err := node.End(w.t.Context(), w.account.ID, cause()); err != nil || len(ended.Cancelled) != 0 || ended.JustPaid != want {
				w.t.Errorf("%s later: %v %+v", later, err, ended)
			}
		}
		_, err := w.store.ClearFlags(w.t.Context(), w.account.ID)
		w.must(err)
		if ended, err := w.billing.End(w.t.Context(), w.account.ID, cause()); err != nil || ended.JustPaid {
			w.t.Errorf("refunded: %v %+v", err, ended)
		}
		w.must(w.store.RaiseFlag(w.t.Context(), models.AccountFlag{AccountID: w.account.ID, Kind: models.FlagRefund, Ref: "ch_1"}))
		if ended, err := w.billing.End(w.t.Context(), w.account.ID, cause()); err != nil || ended.JustPaid {
			w.t.Errorf("flagged for something else: %v %+v", err, ended)
		}
	})
}

// Somebody whose first attempt failed, and who then buys again and closes another time, is not told that this last
// payment is refunded: nobody is asked to.
func TestEndTellsOfNoOtherPayment(t *testing.T) {
	each(t, func(w *world) {
		failToEndPaid(w)
		_, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		if ended, err := w.billing.End(w.t.Context(), w.account.ID, cause()); err != nil || len(ended.Cancelled) != 1 || ended.JustPaid {
			w.t.Errorf("%v %+v", err, ended)
		}
	})
}

// Stripe stops answering after it has confirmed the end of everything: End still reports that nothing more will be
// charged. It does not if one of two could not be cancelled.
func TestEndTellsWhetherThatIsAll(t *testing.T) {
	each(t, func(w *world) {
		const away = `{"error":{"type":"api_error","message":"away"}}`
		for name, whole := range map[string]bool{"everything is cancelled": true, "one is not": false} {
			w.account = w.newAccount()
			w.pro()
			_, err := w.stripe.NewSubscription(w.customer(), w.price, "unpaid", nil)
			w.must(err)
			w.settle()
			var cancelled atomic.Int32
			node := w.via(answering(func(r *http.Request) (int, string) {
				switch {
				case r.Method == http.MethodDelete:
					if cancelled.Add(1) == 2 && !whole {
						return http.StatusInternalServerError, away
					}
				case r.URL.Path == "/v1/subscriptions" && cancelled.Load() > 0:
					return http.StatusInternalServerError, away
				}
				return 0, ""
			}))
			ended, err := node.End(w.t.Context(), w.account.ID, cause())
			if models.ErrorCode(err) != models.CodeUnavailable || ended.All != whole || len(ended.Cancelled) != map[bool]int{true: 2, false: 1}[whole] {
				w.t.Errorf("%s: %v %+v", name, err, ended)
			}
		}
	})
}

// An account is closed while Stripe is being asked about it: its subscription ends at once, not at the next reconcile.
func TestClosedWhileStripeIsAsked(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.buy(sandbox.CardOK)
		node := w.via(after(http.MethodGet, "/v1/subscriptions", func() {
			_, err := w.store.DeleteAccount(ctx, w.account.ID)
			w.must(err)
		}))
		_, err := node.Sync(ctx, w.account.ID, cause())
		w.must(err)
		w.wantStates(map[string]string{w.onlySubscription(): "canceled"})
		w.wantFlags(models.FlagClosed)
		w.wantMails()
		if a, err := w.store.BilledAccount(ctx, w.account.ID); err != nil || a.BilledPlan != nil {
			w.t.Errorf("%v %+v", err, a)
		}
	})
}

// In the first hour of a period, its invoice is a draft: no bank has been asked to pay, and an account that ends then is
// not told of a payment that cannot be stopped. The same holds while the operator has paused collection.
func TestEndBesideAnInvoiceThatIsNotCollected(t *testing.T) {
	each(t, func(w *world) {
		for status, want := range map[string]bool{"draft": false, "uncollectible": false, "open": true} {
			w.account = w.newAccount()
			w.pro()
			node := w.via(rewritten("/v1/subscriptions", func(text string) string {
				return strings.ReplaceAll(text, `"status": "paid"`, `"status": "`+status+`"`)
			}))
			if ended, err := node.End(w.t.Context(), w.account.ID, cause()); err != nil || len(ended.Cancelled) != 1 || ended.UnderWay != want {
				w.t.Errorf("%s: %+v %v", status, ended, err)
			}
		}
	})
}
