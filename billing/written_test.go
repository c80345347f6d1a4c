package billing_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
)

// What a sync stores, and whom it tells what.

func (w *world) written() models.BillingAccount {
	w.t.Helper()
	b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
	w.must(err)
	return b
}

// The plan page, and the operator's command, show what is stored: it must be what Stripe says.
func TestWhatIsWrittenDown(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		end := w.stripe.Subscriptions(w.customer())[0].PeriodEnd
		b := w.written()
		if *b.SubscriptionID != sub || *b.Status != "active" || *b.PriceID != w.price || b.PeriodEnd == nil || !b.PeriodEnd.Equal(end) || b.CancelAtPeriodEnd || b.GraceEndsAt != nil {
			w.t.Errorf("%+v, its period ends %s", b, end)
		}
		changes, err := w.store.AuditOf(w.t.Context(), w.account.ID, 10)
		if err != nil || len(changes) != 1 || changes[0].Actor != "stripe" || !strings.HasPrefix(changes[0].EventID, "evt_") {
			w.t.Errorf("%v %+v", err, changes)
		}
		w.must(w.stripe.CancelAtPeriodEnd(sub, true))
		w.settle()
		if b = w.written(); !b.CancelAtPeriodEnd || !b.PeriodEnd.Equal(end) {
			w.t.Errorf("set to end: %+v", b)
		}
		w.must(w.stripe.DeleteCustomer(w.customer()))
		w.settle()
		if b = w.written(); *b.SubscriptionID != sub || *b.Status != "canceled" || b.CancelAtPeriodEnd || b.CustomerID != nil {
			w.t.Errorf("its customer is gone: %+v", b)
		}
	})
}

// A subscription that continues without giving a plan is stored rather than an ended one: it charges, and somebody must
// see that.
func TestWhatGoesOnBesideWhatEnded(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.stripe.Cancel(w.pro()))
		unknown := w.otherPrice("lottery_pro")
		for _, status := range []string{"active", "unpaid"} {
			next, err := w.stripe.NewSubscription(w.customer(), unknown, status, nil)
			w.must(err)
			w.settle()
			w.wantPlan(models.PlanFree)
			if b := w.written(); *b.SubscriptionID != next || *b.Status != status || !b.GoesOn() {
				w.t.Errorf("%s: %+v, want %s", status, b, next)
			}
			w.must(w.stripe.Cancel(next))
			w.settle()
		}
	})
}

// The checkout of a deleted customer is not shown as open.
func TestCheckoutOfADeletedCustomerIsForgotten(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		w.must(w.stripe.DeleteCustomer(w.customer()))
		w.settle()
		if b := w.written(); b.CustomerID != nil || b.SessionID != nil {
			w.t.Errorf("%+v", b)
		}
	})
}

// A subscription may give Pro, stop giving it, and give it again: its customer is told each time.
func TestEachBeginningAndEndIsTold(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		want := []models.MailKind{models.MailWelcomePro}
		for range 2 {
			w.must(w.stripe.SetStatus(sub, "unpaid"))
			w.settle()
			w.wantPlan(models.PlanFree)
			w.must(w.stripe.SetStatus(sub, "active"))
			w.settle()
			w.wantPlan(models.PlanPro)
			want = append(want, models.MailProEnded, models.MailWelcomePro)
		}
		w.wantMails(want...)
	})
}

// Somebody who paid twice before we heard of either is on Pro, even if the second payment cannot be cancelled now.
func TestDoublePaymentThatIsNotCancelledGivesPro(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.buy(sandbox.CardOK)
		w.stripe.Advance(time.Minute)
		_, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodDelete})
		if _, err := w.billing.Sync(w.t.Context(), w.account.ID, cause()); models.ErrorCode(err) != models.CodeUnavailable {
			w.t.Errorf("that it was not cancelled is not told: %v", err)
		}
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagDoublePayment)
	})
}

// A first payment that fails charges nothing: no operator need look at a suspended account for it.
func TestSuspendedAccountWhosePaymentFails(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		_, err := w.store.SetAccountStatus(w.t.Context(), w.account.ID, models.AccountSuspended)
		w.must(err)
		_, err = w.stripe.NewSubscription(w.customer(), w.price, "incomplete", nil)
		w.must(err)
		w.settle()
		w.wantFlags()
	})
}

// What a closed account pays for ends, and is flagged; subscriptions that had ended before, and other products, are
// not.
func TestClosedAccountPaysForSeveral(t *testing.T) {
	each(t, func(w *world) {
		before := w.pro()
		w.must(w.stripe.Cancel(before))
		session := w.checkout()
		socks, err := w.stripe.NewSubscription(w.customer(), w.otherPrice(""), "active", nil)
		w.must(err)
		w.settle()
		_, err = w.store.DeleteAccount(w.t.Context(), w.account.ID)
		w.must(err)
		_, _, err = w.stripe.Pay(session, sandbox.CardOK)
		w.must(err)
		w.settle()
		for _, sub := range w.stripe.Subscriptions(w.customer()) {
			if (sub.Status == "canceled") != (sub.ID != socks) {
				w.t.Errorf("%+v", sub)
			}
		}
		w.wantFlags(models.FlagClosed)
	})
}

// What a closed account pays for is written down as ended by the same look that ends it: the event that tells of the end
// may be lost.
func TestWhatIsWrittenDownOfAClosedAccountThatPays(t *testing.T) {
	each(t, func(w *world) {
		w.paysClosed()
		now, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		if b := w.written(); b.GoesOn() || now.Unfinished {
			w.t.Errorf("it is canceled, and %s is written down: %+v", *b.Status, now)
		}
		w.wantFlags(models.FlagClosed)

		// While Stripe does not cancel it, it is written down as it is.
		w.account = w.newAccount()
		w.paysClosed()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodDelete})
		if _, err = w.billing.Sync(w.t.Context(), w.account.ID, cause()); models.ErrorCode(err) != models.CodeUnavailable {
			w.t.Errorf("Stripe fails: %v", err)
		}
		if b := w.written(); !b.GoesOn() {
			w.t.Errorf("it goes on, and %v is written down", b.Status)
		}
	})
}

// A subscription that its customer cancels at the same moment must not prevent closing the account.
func TestEndOfWhatEndsJustNow(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		node := w.via(after(http.MethodGet, "/v1/subscriptions", func() { w.must(w.stripe.Cancel(sub)) }))
		if ended, err := node.End(w.t.Context(), w.account.ID, cause()); err != nil || !ended.All {
			w.t.Errorf("%v %+v", err, ended)
		}
		w.wantPlan(models.PlanFree)
	})
}

// An unpaid subscription has its own grace period, whatever was seen of another subscription meanwhile.
func TestGraceOfAnotherSubscription(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.SetDunning(sandbox.Dunning{Retries: []time.Duration{30 * day}, End: "past_due"})
		w.kill()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.buy(sandbox.CardOK)
		owes := w.onlySubscription()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(owes))
		w.wantAfterSync(models.PlanPro)
		w.stripe.Advance(5 * day)
		other, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.must(w.stripe.SetCard(w.customer(), sandbox.BankPays))
		w.must(w.stripe.Renew(other))
		w.wantAfterSync(models.PlanPro)
		if b := w.written(); *b.SubscriptionID != other || b.PastDueSince == nil {
			w.t.Fatalf("the story is another one: %+v", b)
		}
		w.must(w.stripe.Cancel(other))
		w.stripe.Advance(day)
		w.must(w.stripe.SetStatus(owes, "past_due"))
		w.stripe.Advance(2 * day)
		w.wantAfterSync(models.PlanFree)
	})
}
