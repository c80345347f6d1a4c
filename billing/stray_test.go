package billing_test

import (
	"net/http"
	"slices"
	"testing"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

// Customers at Stripe that name accounts which are not here: perhaps they were created after the backup that the
// database was restored from.

// SyncAll tells the operator who pays for nothing. Those that pay nothing, or for something else, are not mentioned.
func TestSyncAllTellsOfStrays(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		lost := map[string]string{"lottery_account": "acc_lost"}
		stray := w.foreignCustomer(lost)
		sub, err := w.stripe.NewSubscription(stray, w.price, "past_due", nil)
		w.must(err)
		ended, err := w.stripe.NewSubscription(w.foreignCustomer(lost), w.price, "active", nil)
		w.must(err)
		w.must(w.stripe.Cancel(ended))
		_, err = w.stripe.NewSubscription(w.foreignCustomer(lost), w.otherPrice(""), "active", nil)
		w.must(err)
		w.foreignCustomer(lost)
		done, err := w.billing.SyncAll(w.t.Context(), nil)
		want := billing.Stray{CustomerID: stray, Email: "elsewhere@example.com", AccountID: "acc_lost", SubscriptionID: sub, Status: "past_due"}
		if err != nil || !done.Whole || done.Accounts != 1 || !slices.Equal(done.Strays, []billing.Stray{want}) {
			w.t.Errorf("%v %+v, want the stray %+v", err, done, want)
		}
	})
}

// Whoever signs up again with the address of a stray can buy, and the operator learns that both may be the same
// person's.
func TestCheckoutBesideAStray(t *testing.T) {
	each(t, func(w *world) {
		for status, want := range map[string][]models.FlagKind{"active": {models.FlagSecondCustomer}, "canceled": nil} {
			w.account = w.newAccount()
			stray := w.foreignCustomer(map[string]string{"lottery_account": "acc_lost"})
			w.must(w.stripe.SetEmail(stray, *w.account.Email))
			sub, err := w.stripe.NewSubscription(stray, w.price, "active", nil)
			w.must(err)
			w.must(w.stripe.SetStatus(sub, status))
			w.buy(sandbox.CardOK)
			w.settle()
			w.wantPlan(models.PlanPro)
			w.wantFlags(want...)
			_, err = w.billing.End(w.t.Context(), w.account.ID, cause()) // the stray's is not its own
			w.must(err)
			if got := w.stripe.Subscriptions(stray); len(got) != 1 || got[0].Status != status {
				w.t.Errorf("%+v, want %s", got, status)
			}
		}
	})
}

// Somebody who began again and again with an empty database, and left a customer each time, need not wait for all of
// them to be looked at.
func TestCheckoutBesideManyStrays(t *testing.T) {
	each(t, func(w *world) {
		for range 20 {
			w.must(w.stripe.SetEmail(w.foreignCustomer(map[string]string{"lottery_account": "acc_lost"}), *w.account.Email))
		}
		looked := 0
		node := w.via(answering(func(r *http.Request) (int, string) {
			if r.Method == http.MethodGet && r.URL.Path == "/v1/subscriptions" {
				looked++
			}
			return 0, ""
		}))
		_, err := node.Checkout(w.t.Context(), w.account.ID)
		if w.must(err); looked > 6 {
			w.t.Errorf("%d lists of subscriptions were read", looked)
		}
	})
}

// A customer that Stripe cannot show keeps nobody else from being put right.
func TestSyncAllBesideAFailure(t *testing.T) {
	each(t, func(w *world) {
		broken := w.account
		w.pro()
		own := w.customer()
		w.foreignCustomer(map[string]string{"lottery_account": broken.ID})
		w.account = w.newAccount()
		sub := w.pro()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.must(w.stripe.Cancel(sub))
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodGet, Path: "/v1/customers/" + own})
		failed := map[string]int{}
		done, err := w.billing.SyncAll(w.t.Context(), func(id string, _ billing.Standing, err error) {
			if err != nil {
				failed[id]++
			}
		})
		if err != nil || !done.Whole || done.Accounts != 2 || !slices.Equal(done.Failed, []string{broken.ID}) || failed[broken.ID] == 0 || len(failed) != 1 {
			w.t.Errorf("%v %+v, failed %v", err, done, failed)
		}
		w.wantPlan(models.PlanFree)
	})
}
