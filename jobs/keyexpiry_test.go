package jobs_test

import (
	"testing"
	"time"

	"lottery/jobs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Whoever has a key that expires is told 7 days before.
func TestKeyExpiryIsToldAWeekBefore(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: func() time.Time { return now }, Skew: func() time.Duration { return time.Until(now) }})
	expires := now.Add(30 * 24 * time.Hour)
	if _, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "ada@example.com", Create: true, ExpiresAt: &expires}); err != nil {
		t.Fatal(err)
	}
	job, ok := jobs.Find(jobs.All(jobs.Deps{Store: st, Mail: true}), "key-expiry")
	if !ok {
		t.Fatal("there is no such job")
	}
	for _, c := range []struct {
		before time.Duration
		want   string
	}{{7*24*time.Hour + time.Hour, "0 mails written"}, {7*24*time.Hour - time.Hour, "1 mail written"}} {
		now = expires.Add(-c.before)
		if got, err := job.Run(t.Context()); err != nil || got != c.want {
			t.Errorf("%s before: %q %v, want %q", c.before, got, err, c.want)
		}
	}
}
