package billing_test

import (
	"log/slog"
	"testing"
	"time"

	"lottery/billing"
	"lottery/models"
	"lottery/models/store/storetest"
)

// A grace period ends by Stripe's clock, even on a node whose own is days off.
func TestGraceOnANodeWhoseClockIsWrong(t *testing.T) {
	each(t, func(w *world) {
		node := func(ahead, grace time.Duration) *billing.Service {
			cfg := w.cfg
			cfg.Grace = grace
			return billing.New(billing.Options{
				Store: w.store, Stripe: cfg, PublicURL: w.hook.URL, Pace: time.Nanosecond, Log: slog.New(slog.DiscardHandler),
				Now: func() time.Time { return time.Now().Add(ahead) },
			})
		}
		sub := w.pro()
		w.kill()
		plan := func(ahead, grace time.Duration) models.Plan {
			w.t.Helper()
			now, err := node(ahead, grace).Sync(w.t.Context(), w.account.ID, cause())
			w.must(err)
			plan, _ := now.Account.Plan()
			return plan
		}
		w.must(w.stripe.SetStatus(sub, "past_due"))
		for _, ahead := range []time.Duration{0, 8 * day, -8 * day, 8 * day} {
			if got := plan(ahead, 7*day); got != models.PlanPro {
				w.t.Errorf("within the grace period, on a node that is %s ahead: %s", ahead, got)
			}
		}
		for _, ahead := range []time.Duration{0, -8 * day} {
			storetest.Until(w.t, "a short grace period to end", func() bool { return plan(ahead, time.Second) == models.PlanFree })
			if got := plan(0, 7*day); got != models.PlanPro {
				w.t.Errorf("within a longer one: %s", got)
			}
		}
	})
}
