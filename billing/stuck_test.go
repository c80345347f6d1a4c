package billing

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A database that neither answers nor refuses blocks neither the worker nor the end of the process, and once it answers
// again the work continues.
func TestDatabaseHangs(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{Patience: 2 * time.Second})
	s := New(Options{Store: st, Stripe: configs.Stripe{SecretKey: "sk_test_x", WebhookSecrets: []string{"whsec_a"}}})
	ctx := t.Context()
	if _, err := st.AddEvent(ctx, models.StripeEvent{ID: "evt_1", Type: "invoice.paid", State: models.EventPending}); err != nil {
		t.Fatal(err)
	}
	answer := storetest.Lock(t, url, "stripe_events")
	storetest.Soon(t, "to look into the inbox", func() {
		if n, err := s.Work(ctx); n != 0 || models.ErrorCode(err) != models.CodeUnavailable {
			t.Errorf("%d %v", n, err)
		}
	})
	stopped, stop := context.WithCancel(ctx)
	stop()
	storetest.Soon(t, "to settle an event when told to stop", func() {
		if s.settle(stopped, &models.StripeEvent{ID: "evt_1"}, "", stopped.Err()) {
			t.Error("it was stored")
		}
	})
	storetest.Soon(t, "to take an event", func() {
		const body = `{"id":"evt_2","object":"event","type":"invoice.paid","data":{"object":{}}}`
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, WebhookPath, strings.NewReader(body))
		r.Header.Set("Stripe-Signature", signed(body, time.Now(), "whsec_a"))
		w := httptest.NewRecorder()
		if s.Webhook().ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	})
	answer()
	storetest.Soon(t, "to work on the event", func() {
		if n, err := s.Work(ctx); n != 1 || err != nil {
			t.Errorf("%d %v", n, err)
		}
	})
	storetest.Soon(t, "to end the work on an account when told to stop", func() {
		working, stop := context.WithCancel(ctx)
		_ = s.locked(working, "acc", func(context.Context, store.Lease) error {
			answer = storetest.Lock(t, url, "leases")
			stop()
			return nil
		})
	})
	storetest.Soon(t, "to begin the work on an account", func() {
		err := s.locked(ctx, "acc", func(context.Context, store.Lease) error { return nil })
		if models.ErrorCode(err) != models.CodeUnavailable {
			t.Errorf("%v", err)
		}
	})
	answer()
}
