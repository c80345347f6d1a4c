package billing_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/models"
	"lottery/models/store/storetest"
)

// several makes accounts that paid, without any event arriving.
func (w *world) several(n int) (ids []string) {
	w.t.Helper()
	w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
	for range n {
		w.account = w.newAccount()
		w.buy(sandbox.CardOK)
		ids = append(ids, w.account.ID)
	}
	return ids
}

func TestReconcileGoesOnWhereItWas(t *testing.T) {
	each(t, func(w *world) {
		w.several(5)
		seen := map[string]int{}
		ctx, cut := context.WithCancel(w.t.Context())
		first, err := w.billing.Reconcile(ctx, func(_ string, now billing.Standing, _ error) {
			if seen[now.Account.ID]++; len(seen) == 2 {
				cut()
			}
		})
		if err == nil || first.Whole || first.Accounts != 2 {
			w.t.Errorf("%v %+v", err, first)
		}
		w.start() // another process
		rest, err := w.billing.Reconcile(w.t.Context(), func(_ string, now billing.Standing, _ error) { seen[now.Account.ID]++ })
		if err != nil || !rest.Whole || rest.Accounts > 4 { // the account at which it was cut short may come again
			w.t.Errorf("%v %+v", err, rest)
		}
		if len(seen) != 5 || len(first.Drifts)+len(rest.Drifts) != 5 {
			w.t.Errorf("%v %+v %+v", seen, first, rest)
		}
		again, err := w.billing.Reconcile(w.t.Context(), nil)
		if err != nil || !again.Whole || again.Accounts != 5 || len(again.Drifts) != 0 {
			w.t.Errorf("again: %v %+v", err, again)
		}
	})
}

// The operator's SyncAll covers everybody, even if the job has begun its own run; neither changes the other's position.
func TestSyncAllBesideAReconcile(t *testing.T) {
	each(t, func(w *world) {
		w.several(5)
		seen, all := 0, 0
		done, err := w.billing.Reconcile(w.t.Context(), func(string, billing.Standing, error) {
			if seen++; seen != 3 {
				return
			}
			round, err := w.billing.SyncAll(w.t.Context(), func(string, billing.Standing, error) { all++ })
			if err != nil || !round.Whole || round.Accounts != 5 || all != 5 {
				w.t.Errorf("the operator's: %v %+v", err, round)
			}
		})
		if err != nil || !done.Whole || done.Accounts != 5 || seen != 5 {
			w.t.Errorf("the job's: %v %+v", err, done)
		}
		ctx, cut := context.WithCancel(w.t.Context())
		if cutShort, err := w.billing.SyncAll(ctx, func(string, billing.Standing, error) { cut() }); err == nil || cutShort.Whole {
			w.t.Errorf("%v %+v", err, cutShort)
		}
		if again, err := w.billing.Reconcile(w.t.Context(), nil); err != nil || again.Accounts != 5 {
			w.t.Errorf("the job's after the operator's was cut short: %v %+v", err, again)
		}
	})
}

// However long ago a SyncAll was cut short, the next one covers everybody, wherever it begins, and however often it is
// cut short itself.
func TestSyncAllAfterOneThatWasCutShort(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.t.Context()
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		sessions := map[string]string{}
		for range 5 {
			w.account = w.newAccount()
			sessions[w.account.ID] = w.checkout()
		}
		round := func(most int) (done billing.Reconciled, seen []string) {
			ctx, cut := context.WithCancel(ctx)
			defer cut()
			done, err := w.billing.SyncAll(ctx, func(id string, _ billing.Standing, _ error) {
				if seen = append(seen, id); len(seen) == most {
					cut()
				}
			})
			if done.Whole != (err == nil) || done.Whole != (len(seen) < most) {
				w.t.Errorf("%v %+v", err, done)
			}
			return done, seen
		}
		_, first := round(4)
		for id, session := range sessions { // long after that
			_, _, err := w.stripe.Pay(session, sandbox.CardOK)
			w.must(err)
			w.account.ID = id
			w.wantPlan(models.PlanFree)
		}
		again, seen := round(3) // two at the end, and one from the start
		if again.After == "" || len(seen) != 3 || seen[2] != first[0] {
			w.t.Fatalf("%+v: %v after %v", again, seen, first)
		}
		done, _ := round(100)
		if !done.Whole || done.After == "" {
			w.t.Errorf("%+v", done)
		}
		for w.account.ID = range sessions {
			w.wantPlan(models.PlanPro)
		}
		if done, seen := round(100); done.After != "" || len(seen) != 5 || done.Accounts != 5 {
			w.t.Errorf("%+v", done)
		}
	})
}

// An account that cannot be read does not keep the others from being synced, and keeps its plan.
func TestReconcileWithAnAccountThatCannotBeRead(t *testing.T) {
	each(t, func(w *world) {
		broken := w.newAccount()
		w.account = broken
		w.pro()
		w.several(2)
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/subscriptions", Times: 1})
		var failed []string
		done, err := w.billing.Reconcile(w.t.Context(), func(id string, _ billing.Standing, err error) {
			if err != nil {
				failed = append(failed, id)
			}
		})
		if err != nil || !done.Whole || done.Accounts != 3 || len(failed) != 1 || !slices.Equal(done.Failed, failed) || len(done.Drifts) < 1 {
			w.t.Errorf("%v %+v %v", err, done, failed)
		}
		w.account = broken
		w.wantPlan(models.PlanPro)
	})
}

// If Stripe does not answer at all, it is not asked a hundred thousand times.
func TestReconcileStopsWhereNothingCanBeRead(t *testing.T) {
	each(t, func(w *world) {
		for range 23 {
			w.account = w.newAccount()
			w.checkout()
		}
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
		done, err := w.billing.Reconcile(w.t.Context(), nil)
		if models.ErrorCode(err) != models.CodeUnavailable || done.Whole || done.Accounts != 21 {
			w.t.Errorf("%v %+v", err, done)
		}
		w.stripe.ClearFaults()
		for range 2 {
			done, err = w.billing.Reconcile(w.t.Context(), nil)
		}
		if err != nil || !done.Whole || done.Accounts != 23 {
			w.t.Errorf("%v %+v", err, done)
		}
	})
}

// Many accounts that cannot be read are no reason to stop if any could be.
func TestReconcileGoesOnWhereSomeCanBeRead(t *testing.T) {
	each(t, func(w *world) {
		w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
		var ids []string
		for range 25 {
			w.account = w.newAccount()
			w.checkout()
			ids = append(ids, w.account.ID)
		}
		slices.Sort(ids)
		for _, w.account.ID = range []string{ids[0], ids[24]} {
			_, err := w.stripe.NewSubscription(w.customer(), w.price, "active", nil)
			w.must(err)
		}
		w.account.ID = ids[0]
		first := w.customer()
		w.account.ID = ids[24]
		last := w.customer()
		done, err := w.via(answering(func(r *http.Request) (int, string) {
			if asked := r.URL.Query().Get("customer"); r.URL.Path == "/v1/subscriptions" && asked != first && asked != last {
				return http.StatusInternalServerError, `{"error":{"type":"api_error","message":"away"}}`
			}
			return 0, ""
		})).Reconcile(w.t.Context(), nil)
		if err != nil || !done.Whole || done.Accounts != 25 || len(done.Failed) != 23 || len(done.Drifts) != 2 {
			w.t.Errorf("%v %+v", err, done)
		}
		w.wantPlan(models.PlanPro)
	})
}

// With more accounts than are read at once, the last one is still synced.
func TestReconcileComesToTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.URL(t)) // creating so many accounts is slow on the others, and would show the same
	ctx := w.t.Context()
	w.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop})
	const many = 201 // a page has 200
	var last, customer string
	for range many {
		id := w.newAccount().ID
		cus := w.foreignCustomer(map[string]string{"lottery_account": id})
		l, ok, err := w.store.TryLease(ctx, "billing:"+id, time.Minute)
		if err != nil || !ok {
			w.t.Fatal(ok, err)
		}
		w.must(w.store.SaveBilling(ctx, l, models.BillingAccount{AccountID: id, CustomerID: &cus}))
		w.must(w.store.EndLease(ctx, l))
		if id > last {
			last, customer = id, cus
		}
	}
	_, err := w.stripe.NewSubscription(customer, w.price, "active", nil)
	w.must(err)
	done, err := w.billing.Reconcile(ctx, nil)
	if err != nil || !done.Whole || done.Accounts != many || len(done.Drifts) != 1 || done.Drifts[0].AccountID != last {
		w.t.Errorf("%v %+v, want the drift of %s", err, done, last)
	}
}

// If Stripe's customers cannot be listed, the operator is not told that everybody was covered.
func TestSyncAllWithoutStripesCustomers(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Method: http.MethodGet, Path: "/v1/customers"})
		if done, err := w.billing.SyncAll(w.t.Context(), nil); models.ErrorCode(err) != models.CodeUnavailable || done.Whole {
			w.t.Errorf("%v %+v", err, done)
		}
	})
}

// A key of another Stripe account knows none of our customers: nobody loses a plan.
func TestReconcileWithAnotherAccountsKey(t *testing.T) {
	each(t, func(w *world) {
		w.pro()
		w.stripe.FaultAPI(sandbox.APIFault{Action: sandbox.NotFound, Method: http.MethodGet})
		done, err := w.billing.Reconcile(w.t.Context(), nil)
		if err != nil || !slices.Equal(done.Failed, []string{w.account.ID}) || len(done.Drifts) != 0 {
			w.t.Errorf("%v %+v", err, done)
		}
		w.wantPlan(models.PlanPro)
	})
}
