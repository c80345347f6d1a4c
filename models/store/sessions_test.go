package store_test

import (
	"errors"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// createLink records a link to an address and returns the hash of its token.
func createLink(t *testing.T, st *store.Store, in store.NewLink) [32]byte {
	t.Helper()
	in.Hash, in.PerHour = secret.Hash(secret.NewID("lnk_")), 9
	if err := st.CreateLink(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return in.Hash
}

// signIn opens a session of that name in a browser whose previous session was before; "" = none.
func signIn(t *testing.T, st *store.Store, email, session, before string) models.Account {
	t.Helper()
	in := store.SignIn{
		Link: createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: email}), Session: secret.Hash(session), NewID: store.NewAccountID(),
	}
	if before != "" {
		in.Old = secret.Hash(before)
	}
	done, err := st.SignIn(t.Context(), models.DefaultPlans(), in)
	if err != nil {
		t.Fatal(err)
	}
	return done.Account
}

// lives reports whether a session signs somebody in.
func lives(t *testing.T, st *store.Store, session string) bool {
	t.Helper()
	_, err := st.Visitor(t.Context(), secret.Hash(session))
	if err != nil && models.ErrorCode(err) != models.CodeNotFound {
		t.Fatal(err)
	}
	return err == nil
}

// A node whose clock is far ahead deletes neither sessions nor links that the others still accept.
func TestSessionsAndLinksBesideANodeThatIsAhead(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.OpenURL(t, url, store.Options{})
		ahead := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return time.Now().Add(2 * models.SessionIdle) }})
		signIn(t, st, "ann@example.com", "ann", "")
		link := createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: "bob@example.com"})
		createLink(t, ahead, store.NewLink{Purpose: models.LinkSignIn, Email: "eve@example.com"})
		if !lives(t, st, "ann") {
			t.Error("a session is gone")
		}
		if _, err := st.Link(t.Context(), link, models.LinkSignIn); err != nil {
			t.Errorf("a link that was just sent: %v", err)
		}
	})
}

// A link signs somebody in as long as it lives, even if it was looked at before; one that confirms a new
// address signs nobody in.
func TestLinksThatSignNobodyIn(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ann := signIn(t, st, "ann@example.com", "ann", "")
		old := createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: "bob@example.com"})
		if _, err := st.Link(t.Context(), old, models.LinkSignIn); err != nil {
			t.Fatal(err)
		}
		move(models.LinkLives)
		change := createLink(t, st, store.NewLink{Purpose: models.LinkChangeEmail, Email: "eve@example.com", AccountID: ann.ID})
		for name, link := range map[string][32]byte{"an expired link": old, "one to a new address": change} {
			in := store.SignIn{Link: link, Session: secret.Hash("nobody"), NewID: store.NewAccountID()}
			if _, err := st.SignIn(t.Context(), models.DefaultPlans(), in); models.ErrorCode(err) != models.CodeNotFound {
				t.Errorf("%s: %v", name, err)
			}
			if lives(t, st, "nobody") {
				t.Errorf("%s signs somebody in", name)
			}
		}
		if list, err := st.Accounts(t.Context(), store.AccountFilter{}); err != nil || len(list) != 1 {
			t.Errorf("%v %+v", err, list)
		}
	})
}

// Signing in ends the session that the browser had, and no other.
func TestSignInEndsTheSessionBefore(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, _ func(time.Duration)) {
		signIn(t, st, "ann@example.com", "at home", "")
		signIn(t, st, "ann@example.com", "at work", "")
		signIn(t, st, "bob@example.com", "bob's", "at home")
		if lives(t, st, "at home") || !lives(t, st, "at work") || !lives(t, st, "bob's") {
			t.Error("the session of the browser goes on, or another one ended")
		}
	})
}

// Sessions are listed while they live, most recently used first; nobody can end another account's.
func TestSessionsOfAnAccount(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		ann := signIn(t, st, "ann@example.com", "idle", "")
		move(models.SessionIdle / 2)
		signIn(t, st, "ann@example.com", "first", "")
		move(time.Minute)
		signIn(t, st, "ann@example.com", "last", "")
		bob := signIn(t, st, "bob@example.com", "bob's", "")
		move(models.SessionIdle / 2)
		list, err := st.Sessions(ctx, ann.ID, 9)
		if err != nil || len(list) != 2 || !list[0].LastSeenAt.After(list[1].LastSeenAt) {
			t.Fatalf("%v %+v", err, list)
		}
		if lives(t, st, "idle") {
			t.Error("one that was not used for so long goes on")
		}
		if err := st.EndSession(ctx, bob.ID, list[0].ID); err != nil {
			t.Fatal(err)
		}
		if !lives(t, st, "last") {
			t.Error("another account's session was ended")
		}
		if err := st.EndSession(ctx, ann.ID, list[0].ID); err != nil {
			t.Fatal(err)
		}
		if lives(t, st, "last") || !lives(t, st, "first") {
			t.Error("the session goes on, or another one ended")
		}
	})
}

// Signing out everywhere voids the links that would sign in to the account, and nobody else's. A new one works.
func TestSignInLinksAreVoid(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		a := storetest.Account(t, st, "Ann@example.com")
		ask := func(email string) [32]byte {
			return createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: email})
		}
		use := func(link [32]byte) error {
			_, err := st.SignIn(t.Context(), models.DefaultPlans(), store.SignIn{Link: link, Session: secret.Hash("of " + string(link[:])), NewID: store.NewAccountID()})
			return err
		}
		before, others := ask("ANN@example.com"), ask("bea@example.com")
		if err := st.EndSessions(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
		if err := use(before); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("asked for before: %v", err)
		}
		if err := errors.Join(use(others), use(ask("ann@example.com"))); err != nil {
			t.Error(err)
		}
	})
}
