package store_test

import (
	"sync"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Connections that somebody ends (pg_terminate_backend) while PostgreSQL is well do not look like a backend that is
// away: nodes that admit from memory would together exceed a limit.
func TestQuotaOverBrokenConnections(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	db := storetest.SQL(t, url)
	take := store.QuotaOp{Kind: store.QuotaTake, Key: "acc_a", Period: day, Need: 1, Limit: 100}
	const connections = 5
	want := int64(0)
	for range 3 {
		release := lockedBy(t, url, "LOCK TABLE quota_counters")
		var asking sync.WaitGroup
		for range connections {
			asking.Go(func() { applyQuota(t, st, take) })
		}
		waiting := 0
		for waiting < connections && !t.Failed() {
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
		release()
		asking.Wait()
		if _, err := db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
			t.Fatal(err)
		}
		want += connections + 1
		if got := applyQuota(t, st, take)[0]; got.Granted != 1 || got.Used != want {
			t.Errorf("%+v, %d were asked for", got, want)
		}
	}
}
