package billing_test

import (
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

// Rows 7 to 16: one sale, one subscription, one account.

func TestFault07OldSubscriptionDeletedAfterNew(t *testing.T) {
	each(t, func(w *world) {
		old := w.pro()
		w.must(w.stripe.SetStatus(old, "unpaid"))
		_, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.Cancel(old))
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

// replaced makes an account that paid, set that subscription to end, and has another one beside it.
func (w *world) replaced() (old, next string) {
	w.t.Helper()
	old = w.pro()
	w.must(w.stripe.CancelAtPeriodEnd(old, true))
	w.stripe.Advance(time.Minute)
	next, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
	w.must(err)
	w.settle()
	return old, next
}

// wantStates compares the customer's subscriptions with the wanted states.
func (w *world) wantStates(want map[string]string) {
	w.t.Helper()
	for _, sub := range w.stripe.Subscriptions(w.customer()) {
		if sub.Status != want[sub.ID] {
			w.t.Errorf("%s is %s, want %s", sub.ID, sub.Status, want[sub.ID])
		}
	}
}

func TestFault07OldSubscriptionEndsAfterNew(t *testing.T) {
	each(t, func(w *world) {
		old, next := w.replaced()
		w.wantStates(map[string]string{old: "active", next: "active"})
		w.wantFlags(models.FlagSubscriptions)
		if b, err := w.store.BillingAccount(w.t.Context(), w.account.ID); err != nil || *b.SubscriptionID != next || b.CancelAtPeriodEnd {
			w.t.Errorf("%v %+v", err, b)
		}
		w.must(w.stripe.Renew(old))
		w.settle()
		w.wantStates(map[string]string{old: "canceled", next: "active"})
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
	})
}

// Undoing the end of the replaced subscription means paying twice: that is row 9.
func TestFault07ReplacedAndTakenBack(t *testing.T) {
	each(t, func(w *world) {
		old, next := w.replaced()
		w.must(w.stripe.CancelAtPeriodEnd(old, false))
		w.settle()
		w.wantStates(map[string]string{old: "active", next: "canceled"})
		w.wantFlags(models.FlagSubscriptions, models.FlagDoublePayment)
		w.wantPlan(models.PlanPro)
	})
}

func TestFault08OtherProduct(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		socks, err := w.stripe.NewSubscription(w.customer(), w.otherPrice(""), "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanFree)
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.Cancel(socks))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags()
	})
}

func TestFault09TwoTabsBothPaid(t *testing.T) {
	each(t, func(w *world) {
		first := w.pro()
		w.stripe.Advance(time.Minute)
		second, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagDoublePayment)
		w.wantStates(map[string]string{first: "active", second: "canceled"})
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault10PaysAgain(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.buy(sandbox.CardOK)
		_, err := w.billing.Checkout(w.t.Context(), w.account.ID)
		if models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "portal") {
			w.t.Errorf("%v", err)
		}
		w.wantPlan(models.PlanPro) // the attempt has synced the account
		url, err := w.billing.Portal(w.t.Context(), w.account.ID)
		if err != nil || !strings.HasPrefix(url, w.api.URL) {
			w.t.Errorf("%q %v", url, err)
		}
		w.onlySubscription()
	})
}

func TestFault11TwoCustomers(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		stray := w.foreignCustomer(map[string]string{"lottery_account": w.account.ID})
		sub, err := w.stripe.NewSubscription(stray, w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagSecondCustomer)
		w.wantPlan(models.PlanPro)
		for _, e := range w.events() {
			if told := strings.Contains(e.Outcome, "a second customer of account "+w.account.ID); told != (e.CustomerID == stray) {
				w.t.Errorf("%+v", e)
			}
		}
		w.must(w.stripe.Cancel(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

func TestFault12SuccessPageBeforeAnyWebhook(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Hold})
		session := w.buy(sandbox.CardOK)
		arrived, _, err := w.billing.Return(w.t.Context(), w.account.ID, session)
		if err != nil || arrived != billing.ArrivedPro {
			w.t.Fatalf("%s %v", arrived, err)
		}
		w.wantPlan(models.PlanPro)
		w.stripe.ClearFaults()
		_, err = w.stripe.Release(w.t.Context(), sandbox.OrderRandom)
		w.must(err)
		w.settle()
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault13RedirectNeverHappens(t *testing.T) {
	each(t, func(w *world) { w.pro() })
}

func TestFault14SessionHasNoSubscriptionYet(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.Withhold})
		w.stripe.SkipEvents("customer.subscription.*")
		w.stripe.SkipEvents("invoice.*")
		session := w.buy(sandbox.CardOK)
		if arrived, _, err := w.billing.Return(w.t.Context(), w.account.ID, session); err != nil || (arrived != billing.ArrivedPending && arrived != billing.ArrivedPro) {
			w.t.Errorf("%s %v", arrived, err)
		}
		w.stripe.ClearFaults()
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

func TestFault15PaidLater(t *testing.T) {
	for card, want := range map[sandbox.Card]models.Plan{sandbox.BankPays: models.PlanPro, sandbox.BankFails: models.PlanFree} {
		t.Run(string(card), func(t *testing.T) {
			each(t, func(w *world) {
				session := w.buy(card)
				w.settle()
				w.wantPlan(models.PlanFree)
				w.wantStates(map[string]string{w.onlySubscription(): "active"}) // at Stripe
				if b, err := w.store.BillingAccount(w.t.Context(), w.account.ID); err != nil || *b.Status != "incomplete" {
					w.t.Errorf("%v %+v", err, b)
				}
				if arrived, _, err := w.billing.Return(w.t.Context(), w.account.ID, session); err != nil || arrived != billing.ArrivedPending {
					w.t.Errorf("%s %v", arrived, err)
				}
				if _, err := w.billing.Checkout(w.t.Context(), w.account.ID); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "is being processed") {
					w.t.Errorf("a second checkout: %v", err)
				}
				w.stripe.Advance(4 * day)
				w.settle()
				w.wantPlan(want)
				_, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
				w.must(err)
				w.wantPlan(want)
				w.wantMails(map[models.Plan]models.MailKind{models.PlanPro: models.MailWelcomePro, models.PlanFree: models.MailFirstFailed}[want])
			})
		})
	}
}

// Whatever Stripe is set up to do once a bank has refused the first payment, the customer is told of it, once.
func TestFault15RefusedLater(t *testing.T) {
	for _, end := range []string{"past_due", "unpaid", "canceled"} {
		t.Run(end, func(t *testing.T) {
			each(t, func(w *world) {
				w.stripe.SetDunning(sandbox.Dunning{End: end})
				w.buy(sandbox.BankFails)
				w.settle()
				w.wantMails()
				w.stripe.Advance(4 * day)
				w.settle()
				w.wantStates(map[string]string{w.onlySubscription(): end})
				w.wantPlan(models.PlanFree)
				w.wantMails(models.MailFirstFailed)
				w.stripe.Advance(40 * day)
				w.settle()
				w.wantPlan(models.PlanFree)
				w.wantMails(models.MailFirstFailed)
			})
		})
	}
}

// A checkout that is left after a refused card, and what is canceled before a bank has decided, are no refused payments.
func TestFault15NotRefused(t *testing.T) {
	each(t, func(w *world) {
		_, _, err := w.stripe.Pay(w.checkout(), sandbox.CardDeclined)
		w.must(err)
		w.settle()
		w.stripe.Advance(2 * day)
		w.settle()
		w.buy(sandbox.BankPays)
		w.settle()
		for _, sub := range w.stripe.Subscriptions(w.customer()) {
			if sub.Status == "active" {
				w.must(w.stripe.Cancel(sub.ID))
			}
		}
		w.settle()
		w.wantMails()
	})
}

// According to Stripe's guide, the subscription is incomplete while a bank decides: the result is the same.
func TestFault15PaidLaterAndIncomplete(t *testing.T) {
	each(t, func(w *world) {
		session := w.buy(sandbox.BankPays)
		w.must(w.stripe.SetStatus(w.onlySubscription(), "incomplete"))
		w.settle()
		w.wantPlan(models.PlanFree)
		w.must(w.stripe.Settle(session, true))
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

// A subscription that was never paid has no grace period; one that was has one.
func TestFault15FirstDebitFails(t *testing.T) {
	each(t, func(w *world) {
		session := w.buy(sandbox.BankFails)
		sub := w.onlySubscription()
		w.must(w.stripe.Settle(session, false))
		w.settle()
		w.wantStates(map[string]string{sub: "past_due"})
		w.wantPlan(models.PlanFree)
		w.wantMails(models.MailFirstFailed) // and not one that says that Pro goes on
		_, err := w.billing.Checkout(w.t.Context(), w.account.ID)
		w.refused(err)
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardFailsLater))
		w.must(w.stripe.RetryPayment(sub))
		w.settle()
		w.wantPlan(models.PlanFree) // that card did not pay either
		w.wantMails(models.MailFirstFailed)
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardOK))
		w.must(w.stripe.RetryPayment(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(sub))
		w.settle()
		w.wantStates(map[string]string{sub: "past_due"})
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailFirstFailed, models.MailWelcomePro, models.MailPaymentFailed)
	})
}

// A refused first debit that the operator has written off at Stripe still counts as never paid.
func TestFault15FirstDebitIsWrittenOff(t *testing.T) {
	each(t, func(w *world) {
		session := w.buy(sandbox.BankFails)
		w.kill()
		w.must(w.stripe.Settle(session, false))
		w.wantStates(map[string]string{w.onlySubscription(): "past_due"})
		node := w.via(rewritten("/v1/invoices", func(text string) string {
			return strings.ReplaceAll(text, `"status": "open"`, `"status": "uncollectible"`)
		}))
		_, err := node.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanFree)
	})
}

// A bank takes days to decide on a renewal: nobody who has paid before loses Pro meanwhile.
func TestFault15RenewalPaidLater(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.BankPays))
		w.must(w.stripe.Renew(sub))
		w.settle()
		if inv := w.stripe.Invoices(w.customer()); len(inv) != 2 || inv[1].Status != "open" {
			w.t.Fatalf("%+v", inv)
		}
		w.wantPlan(models.PlanPro)
		w.stripe.Advance(4 * day)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault16SomebodyElsesSession(t *testing.T) {
	each(t, func(w *world) {
		session := w.buy(sandbox.CardOK)
		w.settle()
		w.account = w.newAccount()
		thief := w.account
		refused := func() {
			w.t.Helper()
			_, _, stolen := w.billing.Return(w.t.Context(), thief.ID, session)
			_, _, missing := w.billing.Return(w.t.Context(), thief.ID, "cs_test_none")
			if models.ErrorCode(stolen) != models.CodeNotFound || missing == nil || stolen.Error() != missing.Error() {
				w.t.Errorf("%v; %v", stolen, missing)
			}
		}
		before := len(w.stripe.Calls())
		refused()
		if n := len(w.stripe.Calls()) - before; n != 0 {
			w.t.Errorf("Stripe was asked %d times for an account that never went to checkout", n)
		}
		w.checkout()
		refused()
		if a, err := w.store.Account(w.t.Context(), thief.ID); err != nil || a.BilledPlan != nil {
			w.t.Errorf("%v %+v", err, a)
		}
	})
}

// An operator makes a subscription by hand for somebody with an open checkout: that is closed before it is paid as
// well.
func TestNothingIsSoldBesideWhatWasMadeByHand(t *testing.T) {
	each(t, func(w *world) {
		session := w.checkout()
		sub, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		if _, paid, err := w.stripe.Pay(session, sandbox.CardOK); err != nil || paid {
			w.t.Errorf("paid twice: %v %v", paid, err)
		}
		w.settle()
		w.wantStates(map[string]string{sub: "active"})
		w.wantFlags()
		if b := w.written(); b.SessionID != nil {
			w.t.Errorf("%s is open", *b.SessionID)
		}
	})
}
