package billing_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models"
)

// A flag tells the operator how much money went back, or may, and of which payment.
func TestFlagsTellTheMoney(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		charge := w.stripe.Invoices(w.customer())[0].Charge
		err := w.stripe.Refund(sub, 300)
		w.must(err)
		w.settle()
		err = w.stripe.Refund(sub, 699)
		w.must(err)
		w.settle()
		dispute, err := w.stripe.Dispute(sub, false)
		w.must(err)
		w.settle()
		w.must(w.stripe.CloseDispute(dispute, "lost"))
		w.settle()
		list, err := w.store.Flags(w.t.Context(), w.account.ID)
		w.must(err)
		for _, want := range []struct {
			kind models.FlagKind
			text string
		}{
			{models.FlagRefund, "3.00 USD of 9.99 USD were refunded, part of payment " + charge},
			{models.FlagRefund, "9.99 USD of 9.99 USD were refunded, all of payment " + charge},
			{models.FlagDispute, "dispute " + dispute + " over 9.99 USD is needs_response (fraudulent)"},
			{models.FlagDispute, "dispute " + dispute + " over 9.99 USD is lost (fraudulent)"},
		} {
			if !slices.ContainsFunc(list, func(f models.AccountFlag) bool {
				return f.Kind == want.kind && strings.HasPrefix(f.Detail, want.text+";")
			}) {
				w.t.Errorf("no flag tells %q: %+v", want.text, list)
			}
		}
		if len(list) != 4 {
			w.t.Errorf("%d flags", len(list))
		}
	})
}

// A refund is flagged on the account whose customer paid, whatever account an invoice names.
func TestMoneyBackIsThePayers(t *testing.T) {
	each(t, func(w *world) {
		payer, named := w.account, w.newAccount()
		w.checkout()
		sub, err := w.stripe.NewSubscription(w.customer(), w.price, "active", map[string]string{"lottery_account": named.ID})
		w.must(err)
		err = w.stripe.Refund(sub, 100)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagRefund)
		for _, e := range w.events() {
			if e.AccountID != payer.ID && e.State != models.EventIgnored || e.Type == "charge.refunded" && e.Outcome != "the account is on pro (billing)" {
				w.t.Errorf("%+v", e)
			}
		}
		w.account = named
		w.wantFlags()
	})
}

// What was paid for something else than Pro is the operator's other business, whoever paid it.
func TestMoneyBackOfOtherProducts(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		sub, err := w.stripe.NewSubscription(w.customer(), w.otherPrice(""), "active", nil)
		w.must(err)
		w.must(w.stripe.Refund(sub, 500))
		_, err = w.stripe.Dispute(sub, false)
		w.must(err)
		w.settle()
		w.wantFlags()
		w.wantPlan(models.PlanPro)
		if got := w.lastOutcome("charge.refunded"); got != "the account is on pro (billing)" {
			w.t.Errorf("%q", got)
		}
	})
}

// Whoever does as a flag says, and refunds what was paid twice, is not told to cancel the subscription that goes on.
func TestRefundOfWhatHasEnded(t *testing.T) {
	each(t, func(w *world) {
		kept := w.pro()
		w.stripe.Advance(time.Hour)
		twice, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagDoublePayment)
		_, err = w.store.ClearFlags(w.t.Context(), w.account.ID)
		w.must(err)
		for sub, want := range map[string]string{
			twice: "; its subscription " + twice + " has ended, so nothing is left to cancel",
			kept:  "; the plan follows the subscription: cancel that too if it should end",
		} {
			w.must(w.stripe.Refund(sub, 999))
			w.settle()
			cleared, err := w.store.ClearFlags(w.t.Context(), w.account.ID)
			if err != nil || len(cleared) != 1 || cleared[0].Kind != models.FlagRefund || !strings.HasSuffix(cleared[0].Detail, want) {
				w.t.Errorf("%v: %+v, want one that ends with %q", err, cleared, want)
			}
		}
	})
}
