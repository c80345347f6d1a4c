package billing_test

import (
	"net/http"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

// Rows 30 to 32: Stripe is away, or its events are. Rows 25, 29, 31, 40 and 41 are shown with real servers in
// cmd/lotteryapi.

func TestFault30StripeIsAway(t *testing.T) {
	each(t, func(w *world) {
		for _, action := range []sandbox.Action{sandbox.RateLimit, sandbox.ServerError} {
			w.account = w.newAccount()
			session := w.checkout()
			w.stripe.FaultAPI(sandbox.APIFault{Action: action, Method: http.MethodGet, Times: 3})
			_, _, err := w.stripe.Pay(session, sandbox.CardOK)
			w.must(err)
			w.settle()
			w.wantPlan(models.PlanPro)
		}
		retried := false
		for _, e := range w.events() {
			retried = retried || e.Attempts > 1
		}
		if !retried {
			w.t.Error("no event was tried again")
		}
	})
}

// While Stripe hangs, the webhook still responds: it sends Stripe nothing.
func TestFault30WebhookWhileStripeHangs(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.Hang})
		began := time.Now()
		for i := range 20 {
			text := body("evt_hang"+string(rune('a'+i)), "invoice.paid", `{"id":"in_1","object":"invoice","customer":"`+w.customer()+`"}`)
			if status := w.post(text, time.Now(), w.secret); status != http.StatusOK {
				w.t.Errorf("status %d", status)
			}
		}
		if took := time.Since(began); took > 4*time.Second { // one hanging request alone would take 10 s
			w.t.Errorf("20 events took %s", took)
		}
		w.stripe.ClearFaults()
		w.api.CloseClientConnections()
		w.wantPlan(models.PlanPro)
	})
}

// An event that keeps failing ends as a dead letter, which an operator sees and can retry.
func TestDeadLetters(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.kill()
		hook := w.billing.Webhook()
		w.handler.Store(&hook)
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
		if status := w.post(body("evt_dead", "invoice.paid", `{"id":"in_1","object":"invoice","customer":"`+w.customer()+`"}`), time.Now(), w.secret); status != http.StatusOK {
			w.t.Fatalf("status %d", status)
		}
		for range billing.MostAttempts {
			w.offset.Add(int64(15 * time.Minute))
			_, err := w.billing.Work(w.t.Context())
			w.must(err)
		}
		if e := w.events()[0]; e.ID != "evt_dead" || e.State != models.EventFailed || e.Outcome == "" {
			w.t.Fatalf("%+v", e)
		}
		w.stripe.ClearFaults()
		_, err := w.store.RetryEvent(w.t.Context(), "evt_dead")
		w.must(err)
		_, err = w.billing.Work(w.t.Context())
		w.must(err)
		if e := w.events()[0]; e.State != models.EventDone {
			w.t.Errorf("%+v", e)
		}
	})
}

func TestFault31ThreeDaysWithoutWebhooks(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		paid := w.account
		w.buy(sandbox.CardOK)
		w.account = w.newAccount()
		w.buy(sandbox.CardOK)
		w.must(w.stripe.Cancel(w.onlySubscription()))
		w.stripe.Advance(3 * day)
		w.settle()
		done, err := w.billing.Reconcile(w.t.Context(), nil)
		if err != nil || done.Accounts != 2 || !done.Whole || len(done.Drifts) != 1 || done.Drifts[0] != (billing.Drift{AccountID: paid.ID, Was: "free", Became: "pro"}) {
			w.t.Errorf("%v %+v", err, done)
		}
		w.wantPlan(models.PlanFree)
		w.account = paid
		w.wantPlan(models.PlanPro)
		if changes, err := w.store.AuditOf(w.t.Context(), paid.ID, 10); err != nil || len(changes) != 1 || changes[0].Actor != "reconcile" {
			w.t.Errorf("%+v %v", changes, err)
		}
		if again, err := w.billing.Reconcile(w.t.Context(), nil); err != nil || len(again.Drifts) != 0 {
			w.t.Errorf("again: %v %+v", err, again)
		}
	})
}

func TestFault32EventNeverGenerated(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.SkipEvents("")
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanFree)
		_, err := w.billing.Reconcile(w.t.Context(), nil)
		w.must(err)
		w.wantPlan(models.PlanPro)
	})
}
