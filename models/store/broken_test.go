package store_test

import (
	"context"
	"sync"
	"testing"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Connections that somebody ended while they were idle do not fail a change: it has not begun.
func TestChangeAfterConnectionsWereEnded(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	release := storetest.Lock(t, url, "sessions")
	var pages sync.WaitGroup
	for range store.MaxConnections {
		pages.Go(func() { _, _ = st.Visitor(ctx, secret.Hash("ann")) })
	}
	storetest.UntilBlocked(t, db, 10) // all that the API does not share
	release()
	pages.Wait()
	storetest.Until(t, "the ends of the connections", func() bool {
		var left int
		const query = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
		if err := db.QueryRowContext(t.Context(), query).Scan(&left); err != nil {
			t.Fatal(err)
		}
		return left == 0
	})
	if _, err := st.CreateAccount(ctx, store.NewAccount{Email: "ann@example.com"}); err != nil {
		t.Error(err)
	}
}

// A change that somebody ends while it waits stays ended: whoever is told to end the session that is in the way would
// have to do it again and again.
func TestChangeThatIsEnded(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	ann := storetest.Account(t, st, "ann@example.com")
	release := storetest.Hold(t, url, "SELECT 1 FROM accounts FOR UPDATE")
	ended := make(chan error, 1)
	go func() { _, err := st.SetAccountStatus(ctx, ann.ID, models.AccountSuspended); ended <- err }()
	storetest.UntilBlocked(t, db, 1)
	storetest.Exec(t, url, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	storetest.Soon(t, "the change that was ended", func() {
		if err := <-ended; models.ErrorCode(err) != models.CodeUnavailable {
			t.Errorf("the change that was ended: %v", err)
		}
	})
	release()
}
