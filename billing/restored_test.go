package billing_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store/storetest"
)

// The database was restored from a backup: Stripe knows of customers, and of what they pay, and we do not.

// setBack restores the database to before anybody went to checkout. No server runs meanwhile.
func (w *world) setBack() {
	w.t.Helper()
	w.kill()
	db := storetest.SQL(w.t, w.address)
	defer db.Close()
	for _, statement := range []string{
		"DELETE FROM billing_accounts", "DELETE FROM stripe_events", "DELETE FROM audit_entries", "DELETE FROM mails",
		"UPDATE accounts SET billed_plan = NULL",
	} {
		_, err := db.ExecContext(w.t.Context(), statement)
		w.must(err)
	}
	w.billing = w.service()
	w.wantPlan(models.PlanFree)
}

// Row 10 for somebody who is not known here to have paid; a day later Stripe has also forgotten the keys.
func TestRestoredAndPaysAgain(t *testing.T) {
	for name, later := range map[string]time.Duration{"at once": 0, "a day later": 25 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.pro()
				w.setBack()
				w.stripe.Advance(later)
				_, err := w.billing.Checkout(w.t.Context(), w.account.ID)
				w.refused(err)
				w.wantPlan(models.PlanPro) // the attempt has synced the account
				if w.onlySubscription(); len(w.openSessions()) != 0 {
					w.t.Errorf("%+v", w.openSessions())
				}
			})
		})
	}
}

// A customer whose address at Stripe was changed is found by the idempotency key, as long as Stripe remembers it.
func TestRestoredWithAnotherAddressPaysAgain(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.must(w.stripe.SetEmail(w.customer(), "bills@example.com"))
		w.setBack()
		_, err := w.billing.Checkout(w.t.Context(), w.account.ID)
		w.refused(err)
		w.wantPlan(models.PlanPro)
	})
}

// An open checkout is offered again; one that was paid, and whose subscription has ended, is not.
func TestRestoredAndBuysAnew(t *testing.T) {
	each(t, func(w *world) {
		open := w.checkout()
		w.setBack()
		old := w.checkout()
		if old != open {
			w.t.Errorf("%s is open, and %s is given", open, old)
		}
		w.start()
		_, _, err := w.stripe.Pay(old, sandbox.CardOK)
		w.must(err)
		w.settle()
		w.wantPlan(models.PlanPro)
		w.must(w.stripe.Cancel(w.onlySubscription()))
		w.settle()
		w.setBack()
		if again := w.checkout(); again == old {
			w.t.Errorf("%s was paid already, and is given again", old)
		} else if _, paid, err := w.stripe.Pay(again, sandbox.CardOK); err != nil || !paid {
			w.t.Errorf("%v: it cannot be paid", err)
		}
		if n := len(w.stripe.Customers()); n != 1 {
			w.t.Errorf("%d customers", n)
		}
	})
}

// SyncAll finds our customers that only Stripe knows, whatever their addresses are now.
func TestRestoredAndSyncAll(t *testing.T) {
	each(t, func(w *world) {
		ids := w.several(3)
		w.must(w.stripe.SetEmail(w.customer(), "bills@example.com"))
		w.setBack()
		var none struct{ ID string }
		w.ask(http.MethodPost, "/v1/customers", nil, &none)
		w.foreignCustomer(map[string]string{"lottery_account": "acc_none"})
		w.foreignCustomer(map[string]string{"lottery_account": ids[0]})
		w.account.ID = ids[0]
		done, err := w.billing.SyncAll(w.t.Context(), nil)
		if err != nil || !done.Whole || done.Accounts != 3 || len(done.Failed) != 0 {
			w.t.Fatalf("%v %+v", err, done)
		}
		w.wantFlags(models.FlagSecondCustomer)
		for _, w.account.ID = range ids {
			w.wantPlan(models.PlanPro)
		}
	})
}

// Whoever closes an account pays no more, even if it is not known here that it pays.
func TestRestoredAndClosed(t *testing.T) {
	each(t, func(w *world) {
		sub := w.pro()
		customer := w.customer()
		w.setBack()
		ended, err := w.billing.End(w.t.Context(), w.account.ID, cause())
		if err != nil || !slices.Equal(ended.Cancelled, []string{sub}) {
			w.t.Errorf("%v %+v", err, ended)
		}
		if w.customer() != customer { // payments and refunds may still come
			w.t.Errorf("the customer is %s, want %s", w.customer(), customer)
		}
	})
}

// Stripe is away at that moment: the account is still closed, and its next event ends its subscription.
func TestRestoredAndClosedWhileStripeIsAway(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		sub := w.pro()
		customer := w.customer()
		w.setBack()
		w.start()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
		_, err := w.billing.End(ctx, w.account.ID, cause())
		w.must(err)
		_, err = w.store.DeleteAccount(ctx, w.account.ID)
		w.must(err)
		w.stripe.ClearFaults()
		w.must(w.stripe.Renew(sub))
		w.settle()
		if w.customer() != customer {
			w.t.Errorf("the customer is %s, want %s", w.customer(), customer)
		}
		w.wantStates(map[string]string{sub: "canceled"})
		w.wantFlags(models.FlagClosed)
	})
}

// If End is interrupted while it looks for the customer, it does not report that nothing more is charged.
func TestRestoredAndClosingIsInterrupted(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.setBack()
		ctx, interrupt := context.WithCancel(w.t.Context())
		node := w.via(roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/v1/customers" {
				interrupt()
				return nil, ctx.Err()
			}
			return http.DefaultTransport.RoundTrip(r)
		}))
		if ended, err := node.End(ctx, w.account.ID, cause()); err == nil || ended.All {
			w.t.Errorf("%v %+v", err, ended)
		}
	})
}

// Two servers hear of a customer that only Stripe knows: it becomes the account's own, and is not flagged as a second
// one.
func TestRestoredAndTwoServersHearOfIt(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.pro()
		customer := w.customer()
		w.setBack()
		other := w.service()
		first := w.via(after(http.MethodGet, "/v1/customers/"+customer, func() {
			w.pending("evt_2", customer)
			if n, err := other.Work(ctx); n != 1 || err != nil {
				w.t.Errorf("the other server: %d %v", n, err)
			}
		}))
		w.pending("evt_1", customer)
		if n, err := first.Work(ctx); n != 1 || err != nil {
			w.t.Errorf("%d %v", n, err)
		}
		if w.customer() != customer {
			w.t.Errorf("the customer is %s, want %s", w.customer(), customer)
		}
		w.wantPlan(models.PlanPro)
		w.wantFlags()
	})
}

// A checkout creates the account's customer just as an event tells of another one that names the account: that is a
// second one.
func TestRestoredAndASecondCustomerInTheSameMoment(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.kill()
		second, own := w.foreignCustomer(map[string]string{"lottery_account": w.account.ID}), w.foreignCustomer(nil)
		l, ok, err := w.store.TryLease(ctx, "billing:"+w.account.ID, time.Minute) // the checkout is under way
		if err != nil || !ok {
			w.t.Fatal(ok, err)
		}
		w.pending("evt_1", second)
		before := len(w.stripe.Calls())
		worked := make(chan error)
		go func() {
			_, err := w.service().Work(ctx)
			worked <- err
		}()
		storetest.Until(w.t, "the second customer to be heard of", func() bool { return len(w.stripe.Calls()) > before })
		time.Sleep(200 * time.Millisecond) // until it waits for the account; if it does not yet, the result is the same
		w.must(w.store.SaveBilling(ctx, l, models.BillingAccount{AccountID: w.account.ID, CustomerID: &own}))
		w.must(w.store.EndLease(ctx, l))
		w.must(<-worked)
		w.wantFlags(models.FlagSecondCustomer)
		if w.customer() != own {
			w.t.Errorf("the customer is %s, want %s", w.customer(), own)
		}
	})
}
