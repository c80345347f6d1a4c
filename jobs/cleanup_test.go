package jobs_test

import (
	"context"
	"testing"
	"time"

	"lottery/jobs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A clean-up tells what it deleted.
func TestCleanupTellsWhatItDeleted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		job, _ := jobs.Find(jobs.All(jobs.Deps{Store: st}), "cleanup")
		for days := range 11 { // the newest nine days stay
			op := store.QuotaOp{Kind: store.QuotaAdd, Key: "a", Period: 24 * time.Hour, Start: (models.DateOf(time.Now()) - models.Date(20+days)).Time().Unix(), N: 1}
			if _, _, err := st.ApplyQuota(t.Context(), []store.QuotaOp{op}); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []string{"2 counters taken away", "nothing was old enough"} {
			if outcome, err := job.Run(t.Context()); err != nil || outcome != want {
				t.Errorf("%q, %v; want %q", outcome, err, want)
			}
		}
	})
}

// A clean-up that failed before it looked does not claim that there was nothing to delete.
func TestCleanupThatFails(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		job, ok := jobs.Find(jobs.All(jobs.Deps{Store: st}), "cleanup")
		if !ok {
			t.Fatal("there is no such job")
		}
		if outcome, err := job.Run(t.Context()); err != nil || outcome != "nothing was old enough" {
			t.Errorf("%q, %v", outcome, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if outcome, err := job.Run(ctx); err == nil || outcome != "" {
			t.Errorf("%q, %v", outcome, err)
		}
	})
}
