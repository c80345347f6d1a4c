package billing_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store/storetest"
)

// passes is a step in time, and the plan that the account has afterwards.
type passes struct {
	time time.Duration
	want models.Plan
}

// pastDue lets time pass while a subscription is unpaid.
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

// If no event announces the end of a grace period, the server notices by itself. An account for which Stripe does not
// answer is tried again, and delays no other.
func TestGraceEndsByItself(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.SetDunning(sandbox.Dunning{Retries: []time.Duration{30 * day}, End: "past_due"})
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
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodGet, Path: "/v1/subscriptions", Times: 1})
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

// Many accounts for which Stripe never answers do not keep the grace of another from ending.
func TestGraceEndsBehindManyFailures(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(sub))
		w.settle()
		w.kill()
		var failing []string
		for n := range 60 {
			failing = append(failing, fmt.Sprintf(
				"INSERT INTO billing_accounts (account_id, customer_id, grace_ends_at) VALUES ('%s', 'cus_away_%d', '2020-01-01 00:00:00')", w.newAccount().ID, n))
		}
		storetest.Exec(w.t, w.address, failing...)
		w.stripe.Advance(7*day + time.Minute)
		node := w.via(roundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.String(), "cus_away_") {
				return nil, errors.New("no answer")
			}
			return http.DefaultTransport.RoundTrip(r)
		}))
		node.EndGrace(w.t.Context())
		w.wantPlan(models.PlanFree)
	})
}

// If Stripe shows neither an invoice nor a period, the grace period begins when the subscription is first seen past
// due, and ends a week later.
func TestGraceWithoutInvoices(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.kill()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.NewShape, Path: "/v1/subscriptions*"})
		node := w.via(rewritten("/v1/invoices", func(string) string { return `{"object":"list","data":[],"has_more":false}` }))
		w.pastDue(node, sub, passes{0, models.PlanPro}, passes{6 * day, models.PlanPro}, passes{day + time.Minute, models.PlanFree})
	})
}

// Another account's payments do not count.
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
