package jobs_test

import (
	"context"
	"testing"

	"lottery/jobs"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

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
