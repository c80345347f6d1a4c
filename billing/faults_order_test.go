package billing_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
)

// The rows of the table of billing faults, by number: events in any order and number.

func TestFault01SameEventTwice(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		before := len(w.events())
		endpoint := w.endpoint()
		for _, kind := range []string{"customer.subscription.created", "checkout.session.completed", "invoice.paid"} {
			w.must(w.stripe.Resend(w.event(kind), endpoint))
		}
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
		if after := len(w.events()); after != before {
			w.t.Errorf("%d inbox rows became %d", before, after)
		}
		if changes, err := w.store.AuditOf(w.t.Context(), w.account.ID, 10); err != nil || len(changes) != 1 {
			w.t.Errorf("%v %+v", err, changes)
		}
	})
}

// endpoint returns the id of our webhook endpoint at Stripe.
func (w *world) endpoint() string {
	w.t.Helper()
	done, err := w.billing.Setup(w.t.Context())
	w.must(err)
	return done.Steps[3].ID
}

func TestFault02SameEventManyTimesAtOnce(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		text := body("evt_many", "customer.subscription.updated", `{"id":"sub_x","object":"subscription","customer":"`+w.customer()+`"}`)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
					w.t.Errorf("status %d", status)
				}
			})
		}
		wg.Wait()
		n := 0
		for _, e := range w.events() {
			if e.ID == "evt_many" {
				n++
			}
		}
		if n != 1 {
			w.t.Errorf("%d inbox rows", n)
		}
	})
}

// reordered runs a story while its webhooks are held, and then sends them in the given order.
func (w *world) reordered(order string, story func()) {
	w.t.Helper()
	w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Hold})
	story()
	w.stripe.ClearFaults()
	_, err := w.stripe.Release(w.t.Context(), order)
	w.must(err)
	w.settle()
}

func TestFault03UpdatedBeforeCreated(t *testing.T) {
	each(t, func(w *world) {
		w.reordered(sandbox.OrderReversed, func() { w.buy(sandbox.CardOK) })
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault04CreatedAndUpdatedAtOnce(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Duplicate, Copies: 5, AtOnce: true})
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.DelayReply, Path: "/v1/subscriptions*", Delay: 20 * time.Millisecond})
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro)
	})
}

func TestFault05DeletedThenStaleUpdate(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		stale := w.event("customer.subscription.created")
		w.must(w.stripe.Cancel(sub))
		w.settle()
		w.wantPlan(models.PlanFree)
		_, err := w.store.RetryEvent(w.t.Context(), stale)
		w.must(err)
		text := body("evt_stale", "customer.subscription.updated",
			`{"id":"`+sub+`","object":"subscription","status":"active","customer":"`+w.customer()+`"}`)
		if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
			w.t.Errorf("status %d", status)
		}
		w.settle()
		w.wantPlan(models.PlanFree)
	})
}

func TestFault06DeletedThenLateCheckoutCompleted(t *testing.T) {
	each(t, func(w *world) {
		w.reordered(sandbox.OrderReversed, func() {
			w.buy(sandbox.CardOK)
			w.must(w.stripe.Cancel(w.onlySubscription()))
		})
		w.wantPlan(models.PlanFree)
		for _, e := range w.events() {
			if e.State != models.EventDone && e.State != models.EventIgnored {
				w.t.Errorf("%+v", e)
			}
		}
	})
}
