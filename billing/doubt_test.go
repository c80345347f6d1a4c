package billing_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store"
)

// Stripe's responses may be incomplete, and the server may die while acting on them.

// dying returns a context that ends right after Stripe has done what a request asked for.
func dying(ctx context.Context, method, path string) (context.Context, http.RoundTripper) {
	ctx, die := context.WithCancel(ctx)
	return ctx, roundTrip(func(r *http.Request) (*http.Response, error) {
		res, err := http.DefaultTransport.RoundTrip(r)
		if r.Method == method && strings.HasPrefix(r.URL.Path, path) {
			die()
		}
		return res, err
	})
}

func TestDoublePaymentIsFlaggedThoughTheServerDies(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.stripe.Advance(time.Minute)
		_, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		ctx, way := dying(w.t.Context(), http.MethodDelete, "/v1/subscriptions/")
		if _, err := w.via(way).Sync(ctx, w.account.ID, cause()); err == nil {
			w.t.Error("it did not die")
		}
		_, err = w.billing.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanPro)
		w.wantFlags(models.FlagDoublePayment)
	})
}

// The same for what a closed account pays: the payer may want it back.
func TestClosedAccountIsFlaggedThoughTheServerDies(t *testing.T) {
	each(t, func(w *world) {
		w.paysClosed()
		ctx, way := dying(w.t.Context(), http.MethodDelete, "/v1/subscriptions/")
		_, _ = w.via(way).Sync(ctx, w.account.ID, cause())
		w.wantStates(map[string]string{w.onlySubscription(): "canceled"})
		_, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantFlags(models.FlagClosed)
	})
}

// The second subscription cannot be cancelled now: the event is retried until it is.
func TestDoublePaymentIsCancelledInTheEnd(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.stripe.Advance(time.Minute)
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodDelete, Times: 2})
		_, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
		w.must(err)
		w.settle()
		live := 0
		for _, sub := range w.stripe.Subscriptions(w.customer()) {
			if sub.Status == "active" {
				live++
			}
		}
		if live != 1 {
			w.t.Errorf("%d live subscriptions", live)
		}
		w.wantFlags(models.FlagDoublePayment)
		w.wantPlan(models.PlanPro)
	})
}

// A missing list is not an empty list.
func TestListThatIsNotThere(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.NotFound, Path: "/v1/subscriptions", Times: 1})
		if _, err := w.billing.Sync(w.t.Context(), w.account.ID, cause()); err == nil {
			w.t.Error("it was taken for an empty one")
		}
		w.wantPlan(models.PlanPro)
	})
}

// One month was never paid, later ones were: when a later one fails, its grace period is complete.
func TestGraceForgetsInvoicesBeforeTheLastPaid(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.SetDunning(sandbox.Dunning{Retries: []time.Duration{day}, End: "past_due"})
		w.pro()
		for _, c := range []struct {
			card sandbox.Card
			plan models.Plan
		}{{sandbox.CardDeclined, models.PlanPro}, {sandbox.CardOK, models.PlanPro}, {sandbox.CardDeclined, models.PlanPro}} {
			w.must(w.stripe.SetCard(w.customer(), c.card))
			sub := w.stripe.Subscriptions(w.customer())[0]
			w.stripe.Advance(sub.PeriodEnd.Sub(w.stripe.Now()) + 3*day)
			w.settle()
			_, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
			w.must(err)
			w.wantPlan(c.plan)
		}
		open := 0
		for _, inv := range w.stripe.Invoices(w.customer()) {
			if inv.Status == "open" {
				open++
			}
		}
		if open != 2 {
			w.t.Fatalf("%d open invoices: the story is another one", open)
		}
	})
}

// A second failed payment has its own grace period, even if no event told of the payment in between.
func TestGraceBeginsAnewAfterAPaymentThatWasNotSeen(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.SetDunning(sandbox.Dunning{Retries: []time.Duration{day}, End: "past_due"})
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardOK))
		w.must(w.stripe.RetryPayment(sub))
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.stripe.Advance(w.stripe.Subscriptions(w.customer())[0].PeriodEnd.Sub(w.stripe.Now()) + 3*day)
		_, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanPro)
	})
}

// Row 14 for somebody who had a subscription before: neither the session nor the list shows the new one yet.
func TestFault14ForAReturningCustomer(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.stripe.Cancel(w.pro()))
		w.settle()
		w.kill()
		var early atomic.Int64
		early.Store(2)
		node := w.via(roundTrip(func(r *http.Request) (*http.Response, error) {
			res, err := http.DefaultTransport.RoundTrip(r)
			if err == nil && r.Method == http.MethodGet && r.URL.Path == "/v1/subscriptions" && early.Add(-1) >= 0 {
				_ = res.Body.Close()
				const none = `{"object":"list","url":"/v1/subscriptions","has_more":false,"data":[]}`
				res.Body, res.ContentLength = io.NopCloser(strings.NewReader(none)), int64(len(none))
				res.Header.Del("Content-Length")
			}
			return res, err
		}))
		session, err := w.billing.Checkout(w.t.Context(), w.account.ID)
		w.must(err)
		for _, kind := range []string{"customer.subscription.*", "invoice.*"} {
			w.stripe.SkipEvents(kind)
		}
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.Withhold, Path: "/v1/checkout/sessions/*", Times: 1})
		hook := node.Webhook()
		w.handler.Store(&hook)
		_, _, err = w.stripe.Pay(session.ID, sandbox.CardOK)
		w.must(err)
		w.must(w.stripe.Quiesce(w.t.Context()))
		for range 4 {
			_, err = node.Work(w.t.Context())
			w.must(err)
			w.offset.Add(int64(time.Minute))
		}
		w.wantPlan(models.PlanPro)
		for _, e := range w.events() {
			if e.Type == "checkout.session.completed" && e.State != models.EventDone {
				w.t.Errorf("%+v", e)
			}
		}
		if early.Load() > 0 {
			w.t.Error("the list was not read as often as it was meant to be empty")
		}
	})
}

// The webhook sends Stripe nothing, so Stripe cannot slow it down. The worker asks once for many events of a customer.
func TestWebhookAsksStripeNothing(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.kill()
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		before := len(w.stripe.Calls())
		for i := range 30 {
			text := body("evt_quiet"+string(rune('A'+i)), "invoice.paid", `{"id":"in_1","object":"invoice","customer":"`+w.customer()+`"}`)
			if i >= 26 {
				text = body("evt_quiet"+string(rune('A'+i-26))+"2", "customer.subscription.updated", `{"id":"sub_1","object":"subscription","customer":"`+w.customer()+`"}`)
			}
			if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
				w.t.Fatalf("status %d", status)
			}
		}
		if n := len(w.stripe.Calls()) - before; n != 0 {
			w.t.Errorf("the webhook asked %d times", n)
		}
		_, err := w.billing.Work(w.t.Context())
		w.must(err)
		if n := len(w.stripe.Calls()) - before; n == 0 || n > 3 {
			w.t.Errorf("30 events of one customer took %d requests", n)
		}
		if list, err := w.store.Events(w.t.Context(), store.EventFilter{State: models.EventDone, AccountID: w.account.ID}); err != nil || len(list) < 30 {
			w.t.Errorf("%v: %d events are done", err, len(list))
		}
	})
}

// A Stripe that limits our rate is not asked again for each of many events.
func TestStripeIsNotAskedForEachEventWhileItIsAway(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.kill()
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		for i := range 20 {
			text := body("evt_away"+string(rune('A'+i)), "invoice.paid", `{"id":"in_1","object":"invoice","customer":"`+w.customer()+`"}`)
			if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
				w.t.Fatalf("status %d", status)
			}
		}
		for _, action := range []sandbox.Action{sandbox.RateLimit, ""} {
			w.stripe.ClearFaults()
			if action != "" {
				w.stripe.FaultAPI(sandbox.APIFault{Action: action})
			}
			before := len(w.stripe.Calls())
			_, err := w.billing.Work(w.t.Context())
			w.must(err)
			if n := len(w.stripe.Calls()) - before; n == 0 || n > 3 {
				w.t.Errorf("%q: %d requests", action, n)
			}
			q, err := w.store.InboxState(w.t.Context())
			w.must(err)
			if want := map[sandbox.Action]int64{sandbox.RateLimit: 20}[action]; q.Waiting != want {
				w.t.Errorf("%q: %d events wait, want %d", action, q.Waiting, want)
			}
			w.offset.Add(int64(time.Minute))
		}
		w.wantPlan(models.PlanPro)
	})
}
