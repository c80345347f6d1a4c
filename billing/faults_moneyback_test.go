package billing_test

import (
	"slices"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
)

// Rows 37 and 38: money that goes back.

func TestFault37Refunds(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		err := w.stripe.Refund(sub, 300)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagRefund)
		err = w.stripe.Refund(sub, 699)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagRefund, models.FlagRefund)
		cleared, err := w.store.ClearFlags(w.t.Context(), w.account.ID)
		if err != nil || len(cleared) != 2 {
			w.t.Errorf("%v %v", cleared, err)
		}
		w.wantFlags()
	})
}

func TestFault38Disputes(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		for _, inquiry := range []bool{true, false} {
			dispute, err := w.stripe.Dispute(sub, inquiry)
			w.must(err)
			w.settle()
			w.wantPlan(models.PlanPro)
			if !slices.Contains(w.flags(), models.FlagDispute) {
				w.t.Errorf("inquiry %v: flags %v", inquiry, w.flags())
			}
			before := len(w.flags())
			status := "lost"
			if inquiry {
				status = "warning_closed"
			}
			w.must(w.stripe.CloseDispute(dispute, status))
			w.settle()
			w.wantPlan(models.PlanPro)
			if len(w.flags()) <= before {
				w.t.Errorf("inquiry %v: its end is not told: %v", inquiry, w.flags())
			}
		}
	})
}

// A bank can take money back for months, even from somebody who has been deleted at Stripe and here since.
func TestFault38CustomerDeleted(t *testing.T) {
	each(t, func(w *world) {
		for name, leave := range map[string]func(){
			"customer deleted": func() {},
			"account deleted first": func() {
				_, err := w.billing.End(w.t.Context(), w.account.ID, cause())
				w.must(err)
				_, err = w.store.DeleteAccount(w.t.Context(), w.account.ID)
				w.must(err)
			},
		} {
			for _, byHand := range []bool{false, true} { // only the customer named the account
				w.account = w.newAccount()
				var sub string
				if byHand {
					w.checkout()
					var err error
					sub, err = w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
					w.must(err)
					w.settle()
				} else {
					sub = w.pro()
				}
				customer := w.customer()
				leave()
				w.must(w.stripe.DeleteCustomer(customer))
				w.settle()
				w.wantFlags()
				if !byHand { // without its events, only the invoice names the account
					w.offset.Add(int64(100 * day))
					_, err := w.store.Cleanup(w.t.Context())
					w.must(err)
					if list, err := w.store.Events(w.t.Context(), store.EventFilter{AccountID: w.account.ID}); err != nil || len(list) != 0 {
						w.t.Fatalf("%v %+v", err, list)
					}
				}
				err := w.stripe.Refund(sub, 100)
				w.must(err)
				_, err = w.stripe.Dispute(sub, false)
				w.must(err)
				w.settle()
				kinds := w.flags()
				if !slices.Contains(kinds, models.FlagRefund) || !slices.Contains(kinds, models.FlagDispute) {
					w.t.Errorf("%s, made by hand %v: flags %v", name, byHand, kinds)
				}
				if list, err := w.store.Events(w.t.Context(), store.EventFilter{AccountID: w.account.ID, Limit: 1}); err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Type, "charge.") ||
					!strings.Contains(list[0].Outcome, "by an earlier customer") {
					w.t.Errorf("%v %+v", err, list)
				}
			}
		}
	})
}

// A second customer's payment goes back: the account is flagged, and its plan stays.
func TestFault38SecondCustomer(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		second := w.foreignCustomer(map[string]string{"lottery_account": w.account.ID})
		sub, err := w.stripe.NewSubscription(second, w.price, "active", nil)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagSecondCustomer)
		_, err = w.store.ClearFlags(w.t.Context(), w.account.ID)
		w.must(err)
		_, err = w.stripe.Dispute(sub, true)
		w.must(err)
		w.settle()
		w.wantFlags(models.FlagDispute)
		w.wantPlan(models.PlanPro)
	})
}

// Refunds to deleted customers of somebody else belong to no account here.
func TestFault38OfAStranger(t *testing.T) {
	each(t, func(w *world) {
		stranger := w.foreignCustomer(nil)
		sub, err := w.stripe.NewSubscription(stranger, w.price, "active", map[string]string{"lottery_account": "acc_none"})
		w.must(err)
		other, err := w.stripe.NewSubscription(stranger, w.price, "active", nil)
		w.must(err)
		w.must(w.stripe.DeleteCustomer(stranger))
		for _, id := range []string{sub, other} {
			err = w.stripe.Refund(id, 100)
			w.must(err)
		}
		w.settle()
		w.wantFlags()
		for _, e := range w.events() {
			if e.AccountID != "" || e.State != models.EventDone {
				w.t.Errorf("%+v", e)
			}
		}
	})
}
