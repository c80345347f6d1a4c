package billing_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store"
)

// Events processed in one batch: each has its own effect, and what cannot be done now is done later.

// A refund is flagged even if another event of the customer was processed just before.
func TestRefundBesideOtherEvents(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.kill()
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		w.pending("evt_before", w.customer())
		err := w.stripe.Refund(sub, 100)
		w.must(err)
		w.must(w.stripe.Quiesce(w.t.Context()))
		w.pending("evt_later", w.customer())
		_, err = w.billing.Work(w.t.Context())
		w.must(err)
		w.wantFlags(models.FlagRefund)
		for _, e := range w.events() {
			if e.State == models.EventPending || e.State == models.EventDone && e.AccountID != w.account.ID {
				w.t.Errorf("%+v", e)
			}
		}
	})
}

// An event that names no customer is not attributed to the customer of the one before it.
func TestEventOfNobodyBesideADispute(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.kill()
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		_, err := w.stripe.Dispute(sub, true) // its events name only the charge
		w.must(err)
		w.must(w.stripe.Quiesce(w.t.Context()))
		w.pending("evt_nobody", "")
		_, err = w.billing.Work(w.t.Context())
		w.must(err)
		w.wantFlags(models.FlagDispute)
		for _, e := range w.events() {
			if nobody := e.ID == "evt_nobody"; nobody && (e.AccountID != "" || e.State != models.EventDone || e.Outcome != "the event names no customer") {
				w.t.Errorf("%+v", e)
			}
		}
	})
}

// Row 14 with another event before it: that one saw no subscription either, but the checkout must still be retried.
func TestFault14BesideOtherEvents(t *testing.T) {
	each(t, func(w *world) {
		session := w.checkout()
		w.kill()
		var empty atomic.Bool
		empty.Store(true)
		node := w.via(rewritten("/v1/subscriptions", func(text string) string {
			if empty.Load() {
				return `{"object":"list","url":"/v1/subscriptions","has_more":false,"data":[]}`
			}
			return text
		}))
		hook := node.Webhook()
		w.handler.Store(&hook)
		for _, kind := range []string{"customer.subscription.*", "invoice.*"} {
			w.stripe.SkipEvents(kind)
		}
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.Withhold, Path: "/v1/checkout/sessions/*", Times: 1})
		w.pending("evt_before", w.customer())
		_, _, err := w.stripe.Pay(session, sandbox.CardOK)
		w.must(err)
		w.must(w.stripe.Quiesce(w.t.Context()))
		_, err = node.Work(w.t.Context())
		w.must(err)
		w.wantPlan(models.PlanFree)
		waiting, err := w.store.Events(w.t.Context(), store.EventFilter{State: models.EventPending})
		if err != nil || len(waiting) != 1 || waiting[0].Type != "checkout.session.completed" {
			w.t.Errorf("%v %+v", err, waiting)
		}
		empty.Store(false)
		w.offset.Add(int64(time.Minute))
		_, err = node.Work(w.t.Context())
		w.must(err)
		w.wantPlan(models.PlanPro)
	})
}

// A server that is told to stop hands its events to the other nodes, which need not wait: nothing failed.
func TestAServerThatStopsHandsItsEventsOver(t *testing.T) {
	each(t, func(w *world) {
		w.checkout()
		w.kill()
		w.pending("evt_1", w.customer())
		ctx, way := dying(w.t.Context(), http.MethodGet, "/v1/subscriptions")
		if n, err := w.via(way).Work(ctx); n != 1 || err != nil {
			w.t.Errorf("%d %v", n, err)
		}
		if n, err := w.billing.Work(w.t.Context()); n != 1 || err != nil {
			w.t.Errorf("the next server: %d %v", n, err)
		}
		if i := slices.IndexFunc(w.events(), func(e models.StripeEvent) bool { return e.ID == "evt_1" }); i < 0 || w.events()[i].State != models.EventDone {
			w.t.Errorf("%+v", w.events())
		}
	})
}
