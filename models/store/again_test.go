package store_test

import (
	"context"
	"testing"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Somebody's sign-up is ended for a deadlock when it has all but made the account, which another transaction makes then:
// the repetition signs in to that one, and says so.
func TestSignUpIsRepeatedAfterAnother(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	link := createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: "ann@example.com"})
	other, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(statement string) {
		t.Helper()
		if _, err := other.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	run("SET LOCAL deadlock_timeout = '1min'") // so that it is not this one that is ended
	run("SELECT 1 FROM account_version FOR UPDATE")
	type result struct {
		store.SignedIn
		err error
	}
	done := make(chan result, 1)
	go func() {
		in := store.SignIn{Link: link, Session: secret.Hash("ann"), NewID: store.NewAccountID(), FirstKey: true}
		out, err := st.SignIn(ctx, models.DefaultPlans(), in)
		done <- result{out, err}
	}()
	storetest.UntilBlocked(t, db, 1)
	run("INSERT INTO accounts (id, email, email_key, status, created_at) VALUES ('acc_ann', 'ann@example.com', 'ann@example.com', 'active', now())")
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.New || got.Key != "" || got.Account.ID != "acc_ann" {
		t.Errorf("new %v, key %q, account %s, %v", got.New, got.Key, got.Account.ID, got.err)
	}
}
