package billing_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store/storetest"
)

// passes is time that passes, and the plan that the account has then.
type passes struct {
	time time.Duration
	want models.Plan
}

// pastDue lets time pass in which a subscription is not paid.
func (w *world) pastDue(node *billing.Service, sub string, steps ...passes) {
	w.t.Helper()
	for _, step := range steps {
		w.stripe.Advance(step.time)
		w.must(w.stripe.SetStatus(sub, "past_due"))
		_, err := node.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantPlan(step.want)
	}
}

// Where no event tells that a time of grace is over, the server sees it by itself; an account for which Stripe does not
// answer is looked at again, and keeps no other one waiting.
func TestGraceEndsByItself(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.stripe.SetDunning(sandbox.Dunning{Retries: []time.Duration{30 * day}, End: "past_due"}))
		var late []models.Account
		for range 2 {
			w.account = w.newAccount()
			sub := w.pro()
			w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
			w.must(w.stripe.Renew(sub))
			w.settle()
			w.wantPlan(models.PlanPro)
			late = append(late, w.account)
		}
		w.account = w.newAccount()
		w.pro()
		paying := w.account
		w.kill()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		w.stripe.Advance(7*day + time.Minute)
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodGet, Path: "/v1/subscriptions", Often: sandbox.Often{Times: 1}})
		node := w.service()
		node.LookForGrace(50 * time.Millisecond)
		ctx, stop := context.WithCancel(w.t.Context())
		w.stop, w.stopped = stop, make(chan struct{})
		go func() {
			defer close(w.stopped)
			node.Run(ctx)
		}()
		for _, w.account = range late {
			storetest.Until(w.t, "the end of the grace", func() bool { return w.plan() == models.PlanFree })
			w.wantMails(models.MailWelcomePro, models.MailPaymentFailed, models.MailProEnded)
			changes, err := w.store.AuditOf(w.t.Context(), w.account.ID, 1)
			if err != nil || len(changes) != 1 || changes[0].Actor != "system" || changes[0].Reason != "the grace period is over" {
				w.t.Errorf("%v %+v", err, changes)
			}
		}
		w.account = paying
		w.wantPlan(models.PlanPro)
	})
}

// Where Stripe shows neither an invoice nor a period, a grace begins when it is first seen that a subscription is past due,
// and ends a week later.
func TestGraceWithoutInvoices(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.kill()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.NewShape, Path: "/v1/subscriptions*"})
		node := w.via(rewritten("/v1/invoices", func(string) string { return `{"object":"list","data":[],"has_more":false}` }))
		w.pastDue(node, sub, passes{0, models.PlanPro}, passes{6 * day, models.PlanPro}, passes{day + time.Minute, models.PlanFree})
	})
}

// What another account pays is not what this one owes.
func TestGraceIsOfOnesOwnInvoices(t *testing.T) {
	each(t, func(w *world) {
		session := w.buy(sandbox.BankFails)
		w.must(w.stripe.Settle(session, false))
		w.settle()
		w.wantPlan(models.PlanFree)
		owes := w.account
		w.account = w.newAccount()
		w.pro()
		w.account = owes
		w.wantAfterSync(models.PlanFree)
	})
}
