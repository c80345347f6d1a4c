package billing_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"lottery/billing/sandbox"
	"lottery/models"
)

// second makes a second customer of the account, who also pays for it.
func (w *world) second() (customer, sub string) {
	w.t.Helper()
	customer = w.foreignCustomer(map[string]string{"lottery_account": w.account.ID})
	sub, err := w.stripe.NewSubscription(customer, w.price, "active", nil)
	w.must(err)
	return customer, sub
}

// wantAll compares all customers' subscriptions with the wanted states.
func (w *world) wantAll(want map[string]string) {
	w.t.Helper()
	for _, sub := range w.stripe.Subscriptions("") {
		if sub.Status != want[sub.ID] {
			w.t.Errorf("%s is %s, want %s", sub.ID, sub.Status, want[sub.ID])
		}
	}
}

// What a second customer pays for a closed account ends as well, however it becomes known.
func TestSecondCustomerOfAClosedAccount(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		_, err := w.store.DeleteAccount(w.t.Context(), w.account.ID)
		w.must(err)
		_, sub := w.second()
		w.settle()
		w.wantFlags(models.FlagSecondCustomer, models.FlagClosed)
		w.wantAll(map[string]string{sub: "canceled"})
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		_, unheard := w.second()
		_, err = w.billing.SyncAll(w.t.Context(), nil)
		w.must(err)
		w.wantAll(map[string]string{sub: "canceled", unheard: "canceled"})
	})
}

// Whoever closes an account is told that nothing more will be charged. That includes its second customers, even those
// that an operator has looked at and left alone, but not one that now belongs to somebody else.
func TestEndWithSecondCustomers(t *testing.T) {
	each(t, func(w *world) {
		own := w.pro()
		_, sub := w.second()
		moved, elsewhere := w.second()
		gone, deleted := w.second()
		w.settle()
		_, err := w.store.ClearFlags(w.t.Context(), w.account.ID)
		w.must(err)
		w.ask(http.MethodPost, "/v1/customers/"+moved, url.Values{"metadata[lottery_account]": {"acc_other"}}, new(struct{}))
		w.must(w.stripe.DeleteCustomer(gone))
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || !ended.All || !slices.Equal(ended.Cancelled, []string{sub, own}) {
			w.t.Errorf("%v %+v", err, ended)
		}
		w.wantAll(map[string]string{own: "canceled", sub: "canceled", elsewhere: "active", deleted: "canceled"})
		w.wantFlags()
	})
}

// If Stripe fails for a second customer, End fails before it touches what the account itself pays for, so that the
// account is not closed; the next attempt ends both.
func TestEndFailsForASecondCustomer(t *testing.T) {
	each(t, func(w *world) {
		own := w.pro()
		second, sub := w.second()
		w.settle()
		for _, fault := range []sandbox.APIFault{
			{Path: "/v1/customers/" + second}, {Path: "/v1/subscriptions"}, {Method: http.MethodDelete, Path: "/v1/subscriptions/" + sub},
		} {
			fault.Action = sandbox.ServerError
			w.stripe.FaultAPI(fault)
			ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
			if models.ErrorCode(err) != models.CodeUnavailable || ended.All || ended.Cancelled != nil {
				w.t.Errorf("%s: %v %+v", fault.Path, err, ended)
			}
			w.stripe.ClearFaults()
			w.wantAll(map[string]string{own: "active", sub: "active"})
		}
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || !ended.All || !slices.Equal(ended.Cancelled, []string{sub, own}) {
			w.t.Errorf("%v %+v", err, ended)
		}
	})
}
