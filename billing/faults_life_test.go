package billing_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
)

// Rows 20, 33 to 36 and 39 to 43: what becomes of a subscription.

const (
	day   = 24 * time.Hour
	month = 31 * day
)

func cause() billing.Cause { return billing.Cause{Actor: "operator", Reason: "test"} }

func TestFault20CustomerDeleted(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		dead := w.customer()
		w.must(w.stripe.DeleteCustomer(dead))
		w.settle()
		w.wantPlan(models.PlanFree)
		w.wantMails(models.MailWelcomePro, models.MailProEnded)
		w.buy(sandbox.CardOK)
		w.settle()
		w.wantPlan(models.PlanPro)
		if w.customer() == dead {
			w.t.Error("the dead customer is used again")
		}
	})
}

func TestFault33RenewalFailsThenPaid(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.stripe.Advance(month)
		w.settle()
		if status := w.stripe.Subscriptions(w.customer())[0].Status; status != "past_due" {
			w.t.Fatalf("the subscription is %s", status)
		}
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardOK))
		w.must(w.stripe.RetryPayment(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.wantMails(models.MailWelcomePro, models.MailPaymentFailed)
		if changes, err := w.store.AuditOf(w.t.Context(), w.account.ID, 10); err != nil || len(changes) != 1 {
			w.t.Errorf("%v %+v", err, changes)
		}
	})
}

// A bank refuses a renewal days after its invoice: the grace period begins then, and is complete.
func TestFault33ABankRefusesARenewal(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.SetDunning(sandbox.Dunning{Retries: []time.Duration{30 * day}, End: "past_due"})
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.BankFails))
		w.must(w.stripe.Renew(sub))
		w.stripe.Advance(3*day - time.Minute)
		w.wantAfterSync(models.PlanPro) // the reconcile, which comes every hour
		w.stripe.Advance(time.Minute)
		w.settle()
		if status := w.stripe.Subscriptions(w.customer())[0].Status; status != "past_due" {
			w.t.Fatalf("the subscription is %s", status)
		}
		for range 2 { // the second time it is known to be past due
			w.stripe.Advance(3 * day)
			w.wantAfterSync(models.PlanPro)
		}
		w.wantMails(models.MailWelcomePro, models.MailPaymentFailed)
		w.stripe.Advance(day)
		w.wantAfterSync(models.PlanFree)
	})
}

// An invoice with payment terms is past due from its due date, however long ago it was made.
func TestFault33AnInvoiceOnTerms(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(sub))
		due := w.stripe.Now().Add(10 * day)
		terms := w.via(rewritten("/v1/invoices", func(text string) string {
			return strings.ReplaceAll(text, `"due_date": null`, `"due_date": `+strconv.FormatInt(due.Unix(), 10))
		}))
		w.kill()
		w.pastDue(terms, sub, passes{10 * day, models.PlanPro}, passes{6 * day, models.PlanPro}, passes{day + time.Hour, models.PlanFree})
	})
}

func TestFault34PastDueBeyondGrace(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
		w.must(w.stripe.Renew(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.stripe.Advance(6 * day)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop}) // no event tells of its end
		w.stripe.Advance(day + time.Hour)
		_, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanFree)
		w.wantMails(models.MailWelcomePro, models.MailPaymentFailed, models.MailProEnded)
	})
}

func TestFault34StatesThatGiveNothing(t *testing.T) {
	each(t, func(w *world) {
		for _, status := range []string{"unpaid", "canceled", "incomplete", "incomplete_expired", "paused"} {
			w.account = w.newAccount()
			sub := w.pro()
			w.must(w.stripe.SetStatus(sub, status))
			w.settle()
			if got := w.plan(); got != models.PlanFree {
				w.t.Errorf("%s gives %s", status, got)
			}
		}
		for _, status := range []string{"trialing", "active"} {
			w.account = w.newAccount()
			w.checkout()
			_, err := w.stripe.NewSubscription(w.customer(), w.price, status, nil)
			w.must(err)
			w.settle()
			if got := w.plan(); got != models.PlanPro {
				w.t.Errorf("%s gives %s", status, got)
			}
		}
	})
}

func TestFault35CancelAtPeriodEndThenUndone(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.must(w.stripe.CancelAtPeriodEnd(sub, true))
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.CancelAtPeriodEnd(sub, false))
		w.stripe.Advance(month)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.CancelAtPeriodEnd(sub, true))
		w.stripe.Advance(month)
		w.settle()
		w.wantPlan(models.PlanFree)
		w.wantMails(models.MailWelcomePro, models.MailProEnded)
	})
}

func TestFault36EmailChangedInThePortal(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		other := w.newAccount()
		w.must(w.stripe.SetEmail(w.customer(), *other.Email))
		w.settle()
		_, err := w.billing.Sync(w.t.Context(), other.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanPro)
		w.account = other
		w.wantPlan(models.PlanFree)
	})
}

// moved makes a subscription that the operator then moves to another price, of that product or of a new one.
func (w *world) moved(product string) (sub string) {
	w.t.Helper()
	sub = w.pro()
	w.must(w.stripe.SetPrice(sub, w.otherPrice(product)))
	w.settle()
	w.wantPlan(models.PlanFree)
	w.wantFlags(models.FlagUnknownPrice)
	if _, err := w.billing.Checkout(w.t.Context(), w.account.ID); models.ErrorCode(err) != models.CodeConflict {
		w.t.Errorf("a checkout beside it: %v", err)
	}
	return sub
}

func TestFault39PriceChangedInTheDashboard(t *testing.T) {
	each(t, func(w *world) {
		sub := w.moved("lottery_pro")
		w.must(w.stripe.SetPrice(sub, w.price))
		w.settle()
		w.wantPlan(models.PlanPro)
	})
}

// What we sold and the operator moved to another product still charges the account: nothing is sold beside it, and it
// ends with the account.
func TestFault39ProductChangedInTheDashboard(t *testing.T) {
	each(t, func(w *world) {
		sub := w.moved("")
		_, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantStates(map[string]string{sub: "canceled"})
	})
}

// A subscription that continues at a price that gives no plan is reported as it is, even unpaid: it may charge again.
func TestFault39APriceThatGivesNothingIsNotPaid(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		w.must(w.stripe.SetPrice(sub, w.otherPrice("lottery_pro")))
		for _, status := range []string{"past_due", "unpaid", "paused", "incomplete"} {
			w.must(w.stripe.SetStatus(sub, status))
			w.settle()
			w.wantPlan(models.PlanFree)
			b, err := w.store.BillingAccount(w.t.Context(), w.account.ID)
			w.must(err)
			if b.Status == nil || *b.Status != status || !b.GoesOn() {
				w.t.Errorf("%s at Stripe: %+v", status, b)
			}
		}
		_, err := w.store.SetAccountStatus(w.t.Context(), w.account.ID, models.AccountSuspended)
		w.must(err)
		if charging, err := billing.FlagSuspended(w.t.Context(), w.store, w.account.ID); err != nil || !charging {
			w.t.Errorf("%v: suspended, and nobody is told that it may charge", err)
		}
	})
}

func TestFault42MoreSubscriptionsThanAPage(t *testing.T) {
	each(t, func(w *world) {
		live := w.pro()
		for range 120 { // newer ones come first; a page has 100
			_, err := w.stripe.NewSubscription(w.customer(), w.price, "canceled", nil)
			w.must(err)
		}
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.Cancel(live))
		_, err := w.billing.Sync(w.t.Context(), w.account.ID, cause())
		w.must(err)
		w.wantPlan(models.PlanFree)
	})
}

// A list that fails after its first page, which has an unfinished subscription but not the paid one, decides nothing.
func TestFault42TheSecondPageFails(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		for range 120 {
			_, err := w.stripe.NewSubscription(w.customer(), w.price, "canceled", nil)
			w.must(err)
		}
		_, err := w.stripe.NewSubscription(w.customer(), w.price, "incomplete", nil)
		w.must(err)
		pages := 0
		node := w.via(roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/v1/subscriptions" {
				if pages++; r.URL.Query().Has("starting_after") {
					return nil, errors.New("the connection is gone")
				}
			}
			return http.DefaultTransport.RoundTrip(r)
		}))
		_, err = node.Sync(w.t.Context(), w.account.ID, cause())
		if models.ErrorCode(err) != models.CodeUnavailable || pages < 2 {
			w.t.Errorf("after %d pages: %v", pages, err)
		}
		w.wantPlan(models.PlanPro)
	})
}

// Every failed payment is announced, also the second one of the same subscription.
func TestPaymentFailsASecondTime(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		want := []models.MailKind{models.MailWelcomePro}
		for range 2 {
			w.must(w.stripe.SetCard(w.customer(), sandbox.CardDeclined))
			w.must(w.stripe.Renew(sub))
			w.settle()
			want = append(want, models.MailPaymentFailed)
			w.wantMails(want...)
			w.must(w.stripe.SetCard(w.customer(), sandbox.CardOK))
			w.must(w.stripe.RetryPayment(sub))
			w.settle()
			w.wantPlan(models.PlanPro)
			w.stripe.Advance(day)
		}
		w.wantMails(want...)
	})
}

func TestFault43OperatorsGrant(t *testing.T) {
	each(t, func(w *world) {
		pro := models.PlanPro
		sub := w.pro()
		_, err := w.store.GrantPlan(w.t.Context(), w.account.ID, &pro)
		w.must(err)
		w.must(w.stripe.Cancel(sub))
		w.settle()
		w.wantPlan(models.PlanPro)
		_, err = w.store.GrantPlan(w.t.Context(), w.account.ID, nil)
		w.must(err)
		w.wantPlan(models.PlanFree)
	})
}

// A grant of either plan stands whatever is paid, so nothing is sold beside it.
func TestNothingIsSoldBesideAGrant(t *testing.T) {
	each(t, func(w *world) {
		for _, plan := range []models.Plan{models.PlanFree, models.PlanPro} {
			_, err := w.store.GrantPlan(w.t.Context(), w.account.ID, &plan)
			w.must(err)
			_, err = w.billing.Checkout(w.t.Context(), w.account.ID)
			if w.refused(err); err != nil && !strings.Contains(err.Error(), "the operator has set the plan of account "+w.account.ID+" to "+string(plan)) {
				w.t.Errorf("%s: %v", plan, err)
			}
		}
		if n := len(w.stripe.Sessions("")); n != 0 {
			w.t.Errorf("%d checkouts were opened", n)
		}
		_, err := w.store.GrantPlan(w.t.Context(), w.account.ID, nil)
		w.must(err)
		w.pro()
	})
}
