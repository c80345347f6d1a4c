package billing_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
)

// subscribed makes a subscription to Pro by hand, as the dashboard does, which the customer's card or bank pays.
func (w *world) subscribed(customer string, card sandbox.Card) (sub string) {
	w.t.Helper()
	w.must(w.stripe.SetCard(customer, card))
	var made struct{ ID string }
	w.ask(http.MethodPost, "/v1/subscriptions", url.Values{"customer": {customer}, "items[0][price]": {w.price}}, &made)
	return made.ID
}

// lastOutcome returns what became of the newest event of a type.
func (w *world) lastOutcome(kind string) string {
	w.t.Helper()
	list := w.events()
	i := slices.IndexFunc(list, func(e models.StripeEvent) bool { return e.Type == kind })
	if i < 0 {
		w.t.Fatalf("no event %s arrived", kind)
	}
	return list[i].Outcome
}

// A second customer's debit goes through after its subscription was cancelled and its flag was cleared, or after the
// customer was deleted: the money is not overlooked.
func TestMoneyOfAnotherCustomerThatComesAfterTheEnd(t *testing.T) {
	each(t, func(w *world) {
		for name, c := range map[string]struct {
			paid   bool
			delete bool
			closed bool
		}{
			"paid": {paid: true}, "refused": {}, "deleted": {paid: true, delete: true}, "closed": {paid: true, closed: true},
		} {
			w.account = w.newAccount()
			w.pro()
			second := w.foreignCustomer(map[string]string{"lottery_account": w.account.ID})
			sub := w.subscribed(second, sandbox.BankPays)
			w.settle()
			w.wantFlags(models.FlagSecondCustomer)
			if c.closed {
				_, err := w.billing.End(w.t.Context(), w.account.ID, cause())
				w.must(err)
				_, err = w.store.DeleteAccount(w.t.Context(), w.account.ID)
				w.must(err)
			} else {
				w.must(w.stripe.Cancel(sub))
			}
			if c.delete {
				w.must(w.stripe.DeleteCustomer(second))
			}
			w.settle()
			_, err := w.store.ClearFlags(w.t.Context(), w.account.ID)
			w.must(err)
			w.stripe.Advance(time.Hour)
			w.must(w.stripe.Settle(sub, c.paid))
			w.settle()
			list, err := w.store.Flags(w.t.Context(), w.account.ID)
			w.must(err)
			if !c.paid && len(list) > 0 || c.paid && (len(list) != 1 || list[0].Kind != models.FlagPaidLate || !strings.Contains(list[0].Detail, sub)) {
				w.t.Errorf("%s: %+v", name, list)
			}
		}
	})
}

// The account's own customer was deleted while a bank was deciding, and no event told of it, or only together with the
// debit's own. The money is not overlooked.
func TestMoneyOfADeletedCustomerThatIsNotKnownToBeDeleted(t *testing.T) {
	each(t, func(w *world) {
		for _, c := range []struct{ lost, paid bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
			w.account = w.newAccount()
			w.buy(sandbox.BankPays)
			w.settle()
			sub, customer := w.onlySubscription(), w.customer()
			w.kill()
			hook := w.billing.Webhook()
			w.handler.Store(&hook)
			if c.lost {
				w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
			}
			w.must(w.stripe.DeleteCustomer(customer))
			w.stripe.ClearFaults()
			w.stripe.Advance(time.Hour)
			w.must(w.stripe.Settle(sub, c.paid))
			w.must(w.stripe.Quiesce(w.t.Context()))
			_, err := w.billing.Work(w.t.Context()) // all of its events in one batch
			w.must(err)
			w.start()
			w.settle()
			w.wantPlan(models.PlanFree)
			list, err := w.store.Flags(w.t.Context(), w.account.ID)
			w.must(err)
			if !c.paid && len(list) > 0 || c.paid && (len(list) != 1 || list[0].Kind != models.FlagPaidLate || !strings.Contains(list[0].Detail, sub)) {
				w.t.Errorf("%+v: %+v", c, list)
			}
		}
	})
}

// Somebody pays for Pro as a customer that names no account, as by a payment link. Nobody gets anything for it until
// the operator has said whose payment it is, and the inbox says how.
func TestAStrangerPaysForPro(t *testing.T) {
	each(t, func(w *world) {
		stranger := w.foreignCustomer(nil)
		w.kill()
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		w.pending("evt_before", stranger)
		w.subscribed(stranger, sandbox.CardOK)
		w.must(w.stripe.Quiesce(w.t.Context()))
		_, err := w.billing.Work(w.t.Context()) // all of its events in one batch
		w.must(err)
		w.start()
		told, event := w.lastOutcome("invoice.paid"), w.event("invoice.paid")
		for _, want := range []string{stranger, "9.99 USD", "lottery_account", "billing events retry " + event} {
			if !strings.Contains(told, want) {
				w.t.Errorf("%q does not say %q", told, want)
			}
		}
		if strings.Contains(told, "@") {
			w.t.Errorf("%q holds an address", told)
		}
		w.wantPlan(models.PlanFree)
		w.ask(http.MethodPost, "/v1/customers/"+stranger, url.Values{"metadata[lottery_account]": {w.account.ID}}, new(struct{}))
		_, err = w.store.RetryEvent(w.t.Context(), event)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)

		// For something else, there is nothing to tell.
		socks := w.foreignCustomer(nil)
		_, err = w.stripe.NewSubscription(socks, w.otherPrice(""), "active", nil)
		w.must(err)
		w.settle()
		if told := w.lastOutcome("invoice.paid"); told != "not the customer of any account here" {
			w.t.Errorf("of socks: %q", told)
		}
	})
}

// The account went to checkout once, and then paid elsewhere: its own customer, which pays nothing, is in the way, and
// is deleted at Stripe.
func TestAStrangersAccountHasACustomer(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		own, other := w.customer(), w.foreignCustomer(map[string]string{"lottery_account": w.account.ID})
		w.subscribed(other, sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanFree)
		w.wantFlags(models.FlagSecondCustomer)
		w.must(w.stripe.DeleteCustomer(own))
		w.settle()
		_, err := w.store.RetryEvent(w.t.Context(), w.event("invoice.paid"))
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		if now := w.customer(); now != other {
			w.t.Errorf("the account's customer is %s, want %s", now, other)
		}
	})
}
