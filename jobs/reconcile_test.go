package jobs_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
	"lottery/configs"
	"lottery/jobs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A customer who paid without any webhook is on Pro after the hourly reconcile, which one of three nodes runs; the log
// says whose plan it was, and the outcome what could not be compared.
func TestReconcileOnceAnHour(t *testing.T) {
	t.Parallel()
	var offset atomic.Int64
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }})
	stripe, url := sandboxtest.Start(t)
	service := billing.New(billing.Options{
		Store: st, Stripe: configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: url, Grace: time.Hour}, PublicURL: "http://lottery.test", StripeNow: stripe.Now,
	})
	if _, err := service.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	account := storetest.Account(t, st, "a@example.com")
	session, err := service.Checkout(t.Context(), account.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, paid, err := stripe.Pay(session.ID, sandbox.CardOK); err != nil || !paid {
		t.Fatal(paid, err)
	}
	now := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	var log bytes.Buffer
	reconcile, ok := jobs.Find(jobs.All(jobs.Deps{Store: st, Billing: service, Log: slog.New(slog.NewTextHandler(&log, nil))}), "reconcile")
	if !ok {
		t.Fatal("there is no reconcile")
	}
	hour := func() (ran int64) {
		var n atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				node := jobs.Runner{Store: st, Node: "test", Now: now, Log: slog.New(slog.DiscardHandler)}
				did, err := node.RunDue(t.Context(), &reconcile)
				if err != nil {
					t.Error(err)
				}
				if did {
					n.Add(1)
				}
			})
		}
		wg.Wait()
		return n.Load()
	}
	if ran := hour(); ran != 1 {
		t.Errorf("%d nodes ran it", ran)
	}
	if a, err := st.Account(t.Context(), account.ID); err != nil || a.BilledPlan == nil || *a.BilledPlan != models.PlanPro {
		t.Errorf("%v %+v", err, a)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "a plan was not what Stripe says; it is repaired") || !strings.Contains(text, "account="+account.ID+" was=free became=pro") {
		t.Errorf("the log: %s", text)
	}
	if ran := hour(); ran != 0 {
		t.Errorf("in the same hour %d nodes ran it", ran)
	}
	offset.Store(int64(61 * time.Minute))
	if ran := hour(); ran != 1 {
		t.Errorf("in the next hour %d nodes ran it", ran)
	}
	if outcome, err := reconcile.Run(t.Context()); err != nil || outcome != "1 account compared, 0 repaired" {
		t.Errorf("%q %v", outcome, err)
	}
	stripe.FaultAPI(sandbox.APIFault{Action: sandbox.NotFound, Method: http.MethodGet})
	outcome, err := reconcile.Run(t.Context())
	if outcome != "1 account compared, 0 repaired, 1 could not be looked at" || models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "not compared: "+account.ID+";") {
		t.Errorf("%q %v", outcome, err)
	}
}
