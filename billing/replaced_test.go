package billing_test

import (
	"net/http"
	"net/url"
	"testing"

	"lottery/billing/sandbox"
	"lottery/models"
)

// The account's own customer was deleted at Stripe, and nobody has heard of it yet. Another customer that names the
// account pays: that one is the account's own from now on.
func TestCustomerReplacesADeletedOne(t *testing.T) {
	looks := map[string]func(w *world){
		"sync --all": func(w *world) {
			_, err := w.billing.SyncAll(w.t.Context(), nil)
			w.must(err)
		},
		"an event": func(w *world) {
			for _, e := range w.events() {
				if e.CustomerID != w.customer() && e.Type == "customer.subscription.created" {
					_, err := w.store.RetryEvent(w.t.Context(), e.ID)
					w.must(err)
				}
			}
			w.settle()
		},
	}
	for name, look := range looks {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.pro()
				other := w.foreignCustomer(map[string]string{"lottery_account": w.account.ID})
				sub, err := w.stripe.NewSubscription(other, w.price, "active", nil)
				w.must(err)
				w.settle()
				w.wantFlags(models.FlagSecondCustomer)
				w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
				w.must(w.stripe.DeleteCustomer(w.customer()))
				look(w)
				w.wantPlan(models.PlanPro)
				b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
				w.must(err)
				if b.CustomerID == nil || *b.CustomerID != other || b.SubscriptionID == nil || *b.SubscriptionID != sub {
					w.t.Errorf("the account's customer and subscription are %v and %v", b.CustomerID, b.SubscriptionID)
				}
				w.wantMails(models.MailWelcomePro)
			})
		})
	}
}

// The account's own customer was deleted at Stripe, and the database forgot the one that was made in its place. Closing
// the account ends what that one pays for.
func TestClosingEndsWhatTheCustomerAfterADeletedOnePays(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.must(w.stripe.DeleteCustomer(w.customer()))
		var made struct{ ID string }
		w.ask(http.MethodPost, "/v1/customers", url.Values{"email": {*w.account.Email}, "metadata[lottery_account]": {w.account.ID}}, &made)
		sub, err := w.stripe.NewSubscription(made.ID, w.price, "active", nil)
		w.must(err)
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || !ended.All || len(ended.Cancelled) != 1 || ended.Cancelled[0] != sub {
			w.t.Errorf("%v: %+v", err, ended)
		}
		w.wantStates(map[string]string{sub: "canceled"})
		w.wantFlags(models.FlagClosed)
		w.wantPlan(models.PlanFree)
	})
}
