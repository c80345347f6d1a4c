package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Nobody takes a lease that has run out while work done under it is being stored.
func TestLeaseIsNotTakenWhileStoring(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	a := storetest.Account(t, st, "ann@example.com")
	name := "billing:" + a.ID
	l, _, err := st.TryLease(ctx, name, past)
	if err != nil {
		t.Fatal(err)
	}
	release := storetest.Hold(t, url, "SELECT 1 FROM accounts WHERE id = '"+a.ID+"' FOR UPDATE")
	stored, taken := make(chan error, 1), make(chan error, 1)
	go func() { stored <- st.SaveBilling(ctx, l, models.BillingAccount{AccountID: a.ID, Attempt: 1}) }()
	storetest.UntilBlocked(t, db, 1)
	go func() { _, _, err := st.TryLease(ctx, name, time.Minute); taken <- err }()
	storetest.Until(t, "whoever takes the lease", func() bool { return storetest.Blocked(t, db) == 2 || len(taken) > 0 })
	if len(taken) > 0 {
		t.Error("the lease was taken before the work was stored")
	}
	release()
	if err := errors.Join(<-stored, <-taken); err != nil {
		t.Error(err)
	}
}

// A session that asks for a link to a new address while it is being ended gets none.
func TestLinkOfASessionThatIsBeingEnded(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	a := signIn(t, st, "ann@example.com", "ann", "")
	sessions, err := st.Sessions(ctx, a.ID, 9)
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	in := store.NewLink{Hash: secret.Hash("first"), Purpose: models.LinkChangeEmail, Email: "new@example.com", AccountID: a.ID, SessionID: sessions[0].ID, PerHour: 9}
	if err := st.CreateLink(ctx, in); err != nil {
		t.Fatal(err)
	}
	release := storetest.Hold(t, url, "SELECT 1 FROM links WHERE account_id = '"+a.ID+"' FOR UPDATE")
	ended, asked := make(chan error, 1), make(chan error, 1)
	go func() { ended <- st.EndSessions(ctx, a.ID) }() // has ended the session, and waits for its link
	storetest.UntilBlocked(t, db, 1)
	in.Hash = secret.Hash("second")
	go func() { err := st.CreateLink(ctx, in); asked <- err }()
	storetest.UntilBlocked(t, db, 2)
	release()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := <-asked; !errors.Is(err, store.ErrSignedOut) {
		t.Errorf("%v", err)
	}
}

// Of two operators who revoke a key at once, one is recorded as having revoked it.
func TestKeyRevokedByTwo(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	k := storetest.Key(t, st, "ann@example.com")
	release := storetest.Hold(t, url, "SELECT 1 FROM api_keys WHERE id = '"+k.ID+"' FOR UPDATE")
	type result struct {
		key models.APIKey
		err error
	}
	results := make(chan result, 2)
	for _, who := range []string{"grace", "bob"} {
		operator := store.WithOperator(ctx, &store.Operator{Who: who, Origin: "here", Command: "keys revoke"})
		go func() {
			key, err := st.RevokeKey(operator, k.ID)
			results <- result{key, err}
		}()
	}
	storetest.UntilBlocked(t, db, 2)
	release()
	one, other := <-results, <-results
	if err := errors.Join(one.err, other.err); err != nil {
		t.Fatal(err)
	}
	if !one.key.RevokedAt.Equal(*other.key.RevokedAt) {
		t.Errorf("revoked at %v and at %v", one.key.RevokedAt, other.key.RevokedAt)
	}
	was := map[string]int{}
	entries, err := st.Audit(ctx, store.AuditFilter{AccountID: k.AccountID})
	for _, e := range entries {
		was[e.Was]++
	}
	if err != nil || was["active"] != 1 || was["revoked"] != 1 {
		t.Errorf("%v, %v", was, err)
	}
}

// Somebody who signs in while the account is being deleted is told that the link is gone.
func TestSignInWhileDeleting(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	a := signIn(t, st, "ann@example.com", "before", "")
	in := store.SignIn{
		Link: createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: *a.Email}), Session: secret.Hash("after"), NewID: store.NewAccountID(),
	}
	release := storetest.Hold(t, url, "SELECT 1 FROM accounts WHERE id = '"+a.ID+"' FOR UPDATE")
	deleted, signedIn := make(chan error, 1), make(chan error, 1)
	go func() { _, err := st.DeleteAccount(ctx, a.ID); deleted <- err }()
	storetest.UntilBlocked(t, db, 1)
	go func() { _, err := st.SignIn(ctx, models.DefaultPlans(), in); signedIn <- err }()
	storetest.UntilBlocked(t, db, 2)
	release()
	if err := <-deleted; err != nil {
		t.Errorf("deleting: %v", err)
	}
	if err := <-signedIn; models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("signing in: %v", err)
	}
}

// Somebody signs up in a browser whose previous account is being deleted.
func TestSignUpWhileDeletingAnother(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	a := signIn(t, st, "ann@example.com", "ann", "")
	k := storetest.Key(t, st, *a.Email)
	in := store.SignIn{
		Link: createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: "bob@example.com"}), Session: secret.Hash("bob"),
		Old: secret.Hash("ann"), NewID: store.NewAccountID(), FirstKey: true,
	}
	release := storetest.Hold(t, url, "SELECT 1 FROM api_keys WHERE id = '"+k.ID+"' FOR UPDATE")
	deleted, signedUp := make(chan error, 1), make(chan error, 1)
	go func() { _, err := st.DeleteAccount(ctx, a.ID); deleted <- err }() // has deleted the session
	storetest.UntilBlocked(t, db, 1)
	go func() { _, err := st.SignIn(ctx, models.DefaultPlans(), in); signedUp <- err }()
	storetest.UntilBlocked(t, db, 2)
	release()
	if err := errors.Join(<-deleted, <-signedUp); err != nil {
		t.Error(err)
	}
}

// An account takes over the address of another that is being deleted. The deletion waits for the link, which was sent to
// its address, and must not let the change wait for the address meanwhile.
func TestAddressOfAnAccountThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	ann, bob := storetest.Account(t, st, "ann@example.com"), storetest.Account(t, st, "bob@example.com")
	ask := func(email, token string) [32]byte {
		hash := secret.Hash(token)
		if err := st.CreateLink(ctx, store.NewLink{Hash: hash, Purpose: models.LinkChangeEmail, Email: email, AccountID: ann.ID, PerHour: 9}); err != nil {
			t.Fatal(err)
		}
		return hash
	}
	ask("eve@example.com", "first")
	link := ask(*bob.Email, "second")
	if _, err := db.ExecContext(ctx, "UPDATE links SET spent_at = NULL"); err != nil { // the first has something to be voided, too
		t.Fatal(err)
	}
	release := storetest.Hold(t, url, "SELECT 1 FROM links WHERE email_key = 'eve@example.com' FOR UPDATE")
	changed, deleted := make(chan error, 1), make(chan error, 1)
	go func() {
		_, _, err := st.ChangeEmail(ctx, store.EmailChange{Link: link, Claim: time.Minute})
		changed <- err
	}() // has spent the link
	storetest.UntilBlocked(t, db, 1)
	go func() { _, err := st.DeleteAccount(ctx, bob.ID); deleted <- err }()
	storetest.UntilBlocked(t, db, 2)
	release()
	if err := <-deleted; err != nil {
		t.Errorf("deleting: %v", err)
	}
	if err := <-changed; models.ErrorCode(err) != models.CodeNotFound && models.ErrorCode(err) != models.CodeConflict {
		t.Errorf("changing the address: %v", err)
	}
}

// hangPages lets more pages than there are connections for wait for a locked table, until release is called.
func hangPages(t *testing.T, st *store.Store, url string) (release func()) {
	t.Helper()
	unlock := storetest.Lock(t, url, "sessions")
	var pages sync.WaitGroup
	for range 2 * store.MaxConnections {
		pages.Go(func() { _, _ = st.Visitor(context.WithoutCancel(t.Context()), secret.Hash("ann")) })
	}
	storetest.UntilBlocked(t, storetest.SQL(t, url), 10) // all that the API does not share
	return func() {
		unlock()
		pages.Wait()
	}
}

// While pages hang, such as on a table that somebody has locked, the API goes on counting, sees revocations and new draws,
// and finds new keys.
func TestPagesThatHang(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, ctx := storetest.OpenURL(t, url, store.Options{}), context.WithoutCancel(t.Context())
	key := secret.Hash(storetest.Key(t, st, "bob@example.com").Secret)
	release := hangPages(t, st, url)
	for what, do := range map[string]func() error{
		"count": func() error {
			_, _, err := st.ApplyQuota(ctx, []store.QuotaOp{{Kind: store.QuotaTake, Key: "acc_1", Period: aDay, Need: 1, Limit: 100}})
			return err
		},
		"add usage": func() error {
			return st.AddUsage(ctx, []models.UsageDay{{AccountID: "acc_1", Day: march, Endpoint: "/v1/games", Class: 2, Requests: 1}})
		},
		"look for changes of keys": func() error {
			newest, err := st.NewestAccountChange(ctx)
			if err == nil {
				_, _, _, err = st.AccountChanges(ctx, newest)
			}
			return err
		},
		"find a key": func() error {
			_, err := st.KeyByHash(ctx, key)
			if err == nil {
				_, err = st.KeysByHash(ctx, [][32]byte{key})
			}
			return err
		},
		"look for old statistics": func() error { _, err := st.PruneUsage(ctx); return err },
		"look for new draws":      func() error { _, err := st.DataVersion(ctx); return err },
		"load the draws": func() error {
			return st.LoadDraws(ctx, func(models.DataVersion) {}, func(models.Game) store.DrawFunc { return nil })
		},
	} {
		storetest.Soon(t, what, func() {
			if err := do(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	release()
}

// Somebody signs in while an operator creates the account.
func TestSignInWhileTheAccountIsCreated(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	in := store.SignIn{
		Link: createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: "ann@example.com"}), Session: secret.Hash("ann"), NewID: store.NewAccountID(),
	}
	other, err := db.BeginTx(ctx, nil)
	if err == nil {
		_, err = other.ExecContext(ctx, "INSERT INTO accounts (id, email, email_key, status, created_at) VALUES ('acc_ann', 'ann@example.com', 'ann@example.com', 'active', now())")
	}
	if err != nil {
		t.Fatal(err)
	}
	signedIn := make(chan error, 1)
	go func() { _, err := st.SignIn(ctx, models.DefaultPlans(), in); signedIn <- err }()
	storetest.UntilBlocked(t, db, 1)
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-signedIn; !errors.Is(err, store.ErrAccountChanged) {
		t.Errorf("meanwhile: %v", err)
	}
	if done, err := st.SignIn(ctx, models.DefaultPlans(), in); err != nil || done.New || done.Account.ID != "acc_ann" {
		t.Errorf("then: %+v, %v", done, err)
	}
}

// However many wait, a Store opens no more connections than it says, since several nodes share what PostgreSQL allows.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, db, ctx := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url), context.WithoutCancel(t.Context())
	release := storetest.Lock(t, url, "sessions, api_keys")
	var waiting sync.WaitGroup
	for range 2 * store.MaxConnections {
		waiting.Go(func() { _, _ = st.Visitor(ctx, secret.Hash("ann")) })
		waiting.Go(func() { _, _ = st.KeyByHash(ctx, secret.Hash("key")) })
	}
	storetest.UntilBlocked(t, db, store.MaxConnections)
	most := 0
	for range 50 {
		most = max(most, storetest.Blocked(t, db))
	}
	if most != store.MaxConnections {
		t.Errorf("%d connections wait", most)
	}
	release()
	waiting.Wait()
}
