package store_test

import (
	"context"
	"database/sql"
	"testing"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// rival begins a transaction that holds what the statement locks, and that is not the one which PostgreSQL ends if it and
// another wait for each other.
func rival(t *testing.T, db *sql.DB, statement string) (other *sql.Tx, run func(statement string)) {
	t.Helper()
	other, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	run = func(statement string) {
		t.Helper()
		if _, err := other.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("SET LOCAL deadlock_timeout = '1min'")
	run(statement)
	return other, run
}

// A transaction that PostgreSQL ends because it and another wait for each other is repeated.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	k := storetest.Key(t, st, "ann@example.com")
	other, run := rival(t, db, "SELECT 1 FROM api_keys FOR UPDATE")
	deleted := make(chan error, 1)
	go func() { _, err := st.DeleteAccount(ctx, k.AccountID); deleted <- err }()
	storetest.UntilBlocked(t, db, 1)
	run("SELECT 1 FROM accounts FOR UPDATE")
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-deleted; err != nil {
		t.Error(err)
	}
}

// Somebody's sign-up is ended for a deadlock when it has all but made the account, which another transaction makes then:
// the repetition signs in to that one, and says so.
func TestSignUpIsRepeatedAfterAnother(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	in := store.SignIn{
		Link: createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: "ann@example.com"}), Session: secret.Hash("ann"),
		NewID: store.NewAccountID(), FirstKey: true,
	}
	other, run := rival(t, db, "SELECT 1 FROM account_version FOR UPDATE")
	var got store.SignedIn
	signedIn := make(chan error, 1)
	go func() {
		var err error
		got, err = st.SignIn(ctx, models.DefaultPlans(), in)
		signedIn <- err
	}()
	storetest.UntilBlocked(t, db, 1)
	run("INSERT INTO accounts (id, email, email_key, status, created_at) VALUES ('acc_ann', 'ann@example.com', 'ann@example.com', 'active', now())")
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-signedIn; err != nil || got.New || got.Key != "" || got.Account.ID != "acc_ann" {
		t.Errorf("new %v, key %q, account %s, %v", got.New, got.Key, got.Account.ID, err)
	}
}

// Connections that somebody ended while they were idle do not fail a change: it has not begun.
func TestChangeAfterConnectionsWereEnded(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	hangPages(t, st, url)()
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
