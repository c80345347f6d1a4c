package store_test

import (
	"context"
	"testing"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Two links to one new address are opened at once. The connection of the first is ended when it has all but made the
// account, so the second makes it; the first, repeated, signs in to that one.
func TestSignUpIsRepeatedAfterAnother(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	ask := func() [32]byte {
		return createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: "ann@example.com"})
	}
	links := map[string][32]byte{"first": ask(), "second": ask()}
	storetest.Exec(t, url, "UPDATE links SET spent_at = NULL")
	open := func(link string) <-chan store.SignedIn {
		in := store.SignIn{Link: links[link], Session: secret.Hash(link), NewID: store.NewAccountID(), FirstKey: true}
		done := make(chan store.SignedIn, 1)
		go func() {
			out, err := st.SignIn(ctx, models.DefaultPlans(), in)
			if err != nil {
				t.Errorf("%s: %v", link, err)
			}
			done <- out
		}()
		return done
	}
	release := storetest.Hold(t, url, "SELECT 1 FROM account_version FOR UPDATE")
	first := open("first")
	storetest.UntilBlocked(t, db, 1)
	second := open("second")
	storetest.UntilBlocked(t, db, 2)
	var ended bool
	if err := db.QueryRowContext(ctx, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' ORDER BY xact_start LIMIT 1").Scan(&ended); err != nil || !ended {
		t.Fatalf("%v, %v", ended, err)
	}
	storetest.UntilBlocked(t, db, 2)
	release()
	one, two := <-first, <-second
	if !two.New || two.Key == "" || one.New || one.Key != "" || one.Account.ID != two.Account.ID {
		t.Errorf("the first: new %v, key %q, account %s\nthe second: new %v, key %q, account %s", one.New, one.Key, one.Account.ID, two.New, two.Key, two.Account.ID)
	}
}
