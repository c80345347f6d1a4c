package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// However many requests come at once, an address is sent only as many links as allowed.
func TestLinksAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var all sync.WaitGroup
		var made atomic.Int32
		for i := range 30 {
			all.Go(func() {
				err := st.CreateLink(t.Context(), store.NewLink{
					Hash: secret.Hash(fmt.Sprint(i)), Purpose: models.LinkSignIn, Email: "ann@example.com", PerHour: 5,
				})
				switch {
				case err == nil:
					made.Add(1)
				case models.ErrorCode(err) != models.CodeConflict:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made.Load() != 5 {
			t.Errorf("%d links", made.Load())
		}
	})
}

// Asking for many links does not keep anybody from one: beyond the hourly number an address is sent another if none of
// its links works, but only one, even if many requests come at once.
func TestLinkWhereNoneWorks(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx, now := t.Context(), time.Now()
		st := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return now }, Skew: func() time.Duration { return time.Until(now) }})
		a := storetest.Account(t, st, "stranger@example.com")
		ask := func(purpose models.LinkPurpose, email string) (link store.NewLink, err error) {
			link = store.NewLink{Hash: secret.Hash(secret.NewID("lnk_")), Purpose: purpose, Email: email, PerHour: 5}
			if purpose == models.LinkChangeEmail {
				link.AccountID = a.ID
			}
			err = st.CreateLink(ctx, link)
			return link, err
		}
		asked := func(purpose models.LinkPurpose, want int32, when string) {
			t.Helper()
			var all sync.WaitGroup
			var made atomic.Int32
			for range 12 {
				all.Go(func() {
					switch _, err := ask(purpose, "ann@example.com"); {
					case err == nil:
						made.Add(1)
					case !errors.Is(err, store.ErrTooManyLinks):
						t.Error(err)
					}
				})
			}
			all.Wait()
			if made.Load() != want {
				t.Errorf("%s: %d links (%s), want %d", when, made.Load(), purpose, want)
			}
		}
		asked(models.LinkChangeEmail, 5, "at first")
		asked(models.LinkSignIn, 1, "where all that was sent is of a stranger who would have the address")
		if _, err := ask(models.LinkChangeEmail, "elsewhere@example.com"); err != nil { // this voids the earlier ones
			t.Fatal(err)
		}
		asked(models.LinkChangeEmail, 0, "where the stranger made his own void")
		now = now.Add(14 * time.Minute) // a link works for 15, as its mail says; PostgreSQL's clock does not stand still
		asked(models.LinkSignIn, 0, "while one works")
		now = now.Add(2 * time.Minute)
		asked(models.LinkSignIn, 1, "when none works")
		asked(models.LinkChangeEmail, 1, "when none works")
		now = now.Add(16 * time.Minute)
		link, err := ask(models.LinkSignIn, "ann@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.SignIn(ctx, models.DefaultPlans(), store.SignIn{Link: link.Hash, Session: secret.Hash("s"), NewID: store.NewAccountID()}); err != nil {
			t.Fatal(err)
		}
		asked(models.LinkSignIn, 1, "when the last was used")
	})
}

// Links sent to an address count for an hour, however soon they become invalid.
func TestLinksCountForAnHour(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		asked := func(want int, when string) {
			t.Helper()
			made := 0
			for range 7 {
				link := store.NewLink{Hash: secret.Hash(secret.NewID("lnk_")), Purpose: models.LinkSignIn, Email: "ann@example.com", PerHour: 5}
				switch err := st.CreateLink(t.Context(), link); {
				case err == nil:
					made++
				case !errors.Is(err, store.ErrTooManyLinks):
					t.Fatal(err)
				}
			}
			if made != want {
				t.Errorf("%s: %d links, want %d", when, made, want)
			}
		}
		asked(5, "at first")
		move(59 * time.Minute)
		asked(1, "where none works any more")
		move(2 * time.Minute)
		asked(4, "when the first are of more than an hour ago")
	})
}

// If several links to a new address are used at once, one makes the account, and all sign in to it.
func TestSignUpAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const links = 6
		for i := range links {
			if err := st.CreateLink(t.Context(), store.NewLink{Hash: secret.Hash(fmt.Sprint(i)), Purpose: models.LinkSignIn, Email: "ann@example.com", PerHour: 9}); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		var made atomic.Int32
		for i := range links {
			all.Go(func() {
				in, err := st.SignIn(t.Context(), models.DefaultPlans(), store.SignIn{
					Link: secret.Hash(fmt.Sprint(i)), Session: secret.Hash(fmt.Sprint("s", i)), NewID: store.NewAccountID(), FirstKey: true,
				})
				if err != nil {
					t.Error(err)
				}
				if in.New {
					made.Add(1)
				}
			})
		}
		all.Wait()
		accounts, err := st.Accounts(t.Context(), store.AccountFilter{})
		if err != nil || len(accounts) != 1 || made.Load() != 1 {
			t.Errorf("%d accounts, %d made, %v", len(accounts), made.Load(), err)
		}
	})
}

// changing returns an account, and a function that asks for links to new addresses for it.
func changing(t *testing.T, st *store.Store) (a models.Account, ask func(email string) ([32]byte, error)) {
	t.Helper()
	a = storetest.Account(t, st, "ann@example.com")
	return a, func(email string) ([32]byte, error) {
		hash := secret.Hash(secret.NewID("lnk_"))
		err := st.CreateLink(t.Context(), store.NewLink{Hash: hash, Purpose: models.LinkChangeEmail, Email: email, AccountID: a.ID, PerHour: 9})
		return hash, err
	}
}

// deadLink fails the test if a link to a new address still works.
func deadLink(t *testing.T, st *store.Store, hash [32]byte, after string) {
	t.Helper()
	if _, err := st.Link(t.Context(), hash, models.LinkChangeEmail); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("after %s the link is shown: %v", after, err)
	}
	if _, a, err := st.ChangeEmail(t.Context(), store.EmailChange{Link: hash, Claim: time.Minute}); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("after %s the link works: %+v %v", after, a, err)
	}
}

// A session that was signed out cannot get a link to a new address, even if the request was already under way.
func TestSignedOutAsksForNoLink(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		link := secret.Hash("link")
		if err := st.CreateLink(ctx, store.NewLink{Hash: link, Purpose: models.LinkSignIn, Email: "ann@example.com", PerHour: 9}); err != nil {
			t.Fatal(err)
		}
		in, err := st.SignIn(ctx, models.DefaultPlans(), store.SignIn{Link: link, Session: secret.Hash("session"), NewID: store.NewAccountID()})
		if err != nil {
			t.Fatal(err)
		}
		sessions, err := st.Sessions(ctx, in.Account.ID, 9)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(hash string) error {
			err := st.CreateLink(ctx, store.NewLink{
				Hash: secret.Hash(hash), Purpose: models.LinkChangeEmail, Email: "new@example.com", AccountID: in.Account.ID, SessionID: sessions[0].ID, PerHour: 9,
			})
			return err
		}
		if err := ask("before"); err != nil {
			t.Errorf("signed in: %v", err)
		}
		if err := st.EndSessions(ctx, in.Account.ID); err != nil {
			t.Fatal(err)
		}
		if err := ask("after"); !errors.Is(err, store.ErrSignedOut) {
			t.Errorf("signed out: %v", err)
		}
	})
}

// A suspended account cannot change its address, which would free the old one. Links from before no longer work.
func TestSuspendedKeepsAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		a, ask := changing(t, st)
		before, err := ask("new@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.SetAccountStatus(t.Context(), a.ID, models.AccountSuspended); err != nil {
			t.Fatal(err)
		}
		deadLink(t, st, before, "the suspension")
		if _, err := ask("new@example.com"); models.ErrorCode(err) != models.CodeConflict {
			t.Errorf("asked while suspended: %v", err)
		}
		if _, err := st.SetAccountStatus(t.Context(), a.ID, models.AccountActive); err != nil {
			t.Fatal(err)
		}
		deadLink(t, st, before, "the suspension's end")
		link, err := ask("new@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if _, after, err := st.ChangeEmail(t.Context(), store.EmailChange{Link: link, Claim: time.Minute}); err != nil || *after.Email != "new@example.com" {
			t.Errorf("active again: %v", err)
		}
	})
}

// A link to a new address becomes invalid when another is requested, when the account signs out everywhere, and when it
// is closed. Links of other accounts are unaffected, and what an address was sent still counts for an hour.
func TestChangeLinksAreVoid(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		other := storetest.Account(t, st, "bea@example.com")
		others := store.NewLink{Hash: secret.Hash("other"), Purpose: models.LinkChangeEmail, Email: "new@example.com", AccountID: other.ID, PerHour: 9}
		if err := st.CreateLink(t.Context(), others); err != nil {
			t.Fatal(err)
		}
		a, ask := changing(t, st)
		next := func(email string) [32]byte {
			t.Helper()
			hash, err := ask(email)
			if err != nil {
				t.Fatal(err)
			}
			return hash
		}
		typo := next("typo@example.com")
		right := next("right@example.com")
		deadLink(t, st, typo, "another request")
		if err := st.EndSessions(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
		deadLink(t, st, right, "signing out everywhere")
		for range 8 {
			next("typo@example.com")
		}
		if _, err := ask("typo@example.com"); models.ErrorCode(err) != models.CodeConflict {
			t.Errorf("the tenth link of an hour: %v", err)
		}
		last := next("last@example.com")
		if _, err := st.DeleteAccount(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
		deadLink(t, st, last, "closing")
		if _, err := ask("new@example.com"); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("asked for a closed account: %v", err)
		}
		if _, after, err := st.ChangeEmail(t.Context(), store.EmailChange{Link: others.Hash, Claim: time.Minute}); err != nil || after.ID != other.ID {
			t.Errorf("another account's link: %v", err)
		}
	})
}

// If links to new addresses are requested at once, only one works.
func TestChangeLinksAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		_, ask := changing(t, st)
		var all sync.WaitGroup
		hashes := make([][32]byte, 20)
		for i := range hashes {
			all.Go(func() {
				var err error
				if hashes[i], err = ask(fmt.Sprintf("ann%d@example.com", i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		work := 0
		for _, hash := range hashes {
			if _, err := st.Link(t.Context(), hash, models.LinkChangeEmail); err == nil {
				work++
			}
		}
		if work != 1 {
			t.Errorf("%d links work", work)
		}
	})
}

// A change of address voids links left by nodes of an older release, and only one of several used at once works.
func TestChangeVoidsOlderLinks(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.OpenURL(t, url, store.Options{})
		a, ask := changing(t, st)
		hashes := make([][32]byte, 6)
		for i := range hashes {
			var err error
			if hashes[i], err = ask(fmt.Sprintf("ann%d@example.com", i)); err != nil {
				t.Fatal(err)
			}
		}
		storetest.Exec(t, url, "UPDATE links SET spent_at = NULL")
		var all sync.WaitGroup
		var changed atomic.Int32
		for _, hash := range hashes {
			all.Go(func() {
				switch _, after, err := st.ChangeEmail(t.Context(), store.EmailChange{Link: hash, Claim: time.Minute}); {
				case err == nil && after.ID == a.ID:
					changed.Add(1)
				case models.ErrorCode(err) != models.CodeNotFound:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if changed.Load() != 1 {
			t.Errorf("%d changes", changed.Load())
		}
		for _, hash := range hashes {
			deadLink(t, st, hash, "a change")
		}
	})
}

// A sign-in link sent to the old address does not lead to the account that has left it.
func TestSignInAfterChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		a, ask := changing(t, st)
		old := store.NewLink{Hash: secret.Hash("old"), Purpose: models.LinkSignIn, Email: "ann@example.com", PerHour: 9}
		if err := st.CreateLink(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		link, err := ask("new@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := st.ChangeEmail(t.Context(), store.EmailChange{Link: link, Claim: time.Minute}); err != nil {
			t.Fatal(err)
		}
		in, err := st.SignIn(t.Context(), models.DefaultPlans(), store.SignIn{Link: old.Hash, Session: secret.Hash("s"), NewID: store.NewAccountID()})
		if err != nil || !in.New || in.Account.ID == a.ID {
			t.Errorf("%+v %v", in, err)
		}
	})
}
