package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// However many ask at once, an address is sent as many links as it may be.
func TestLinksAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var all sync.WaitGroup
		var made atomic.Int32
		for i := range 30 {
			all.Go(func() {
				_, err := st.CreateLink(t.Context(), store.NewLink{
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

// Of several links to a new address, used at once, one makes the account, and all sign in to it.
func TestSignUpAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const links = 6
		for i := range links {
			if _, err := st.CreateLink(t.Context(), store.NewLink{Hash: secret.Hash(fmt.Sprint(i)), Purpose: models.LinkSignIn, Email: "ann@example.com", PerHour: 9}); err != nil {
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

// A suspended account keeps its address, which would be free for a new one.
func TestSuspendedKeepsAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		a, err := st.CreateAccount(t.Context(), store.NewAccount{Email: "ann@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		link := store.NewLink{Hash: secret.Hash("x"), Purpose: models.LinkChangeEmail, Email: "new@example.com", AccountID: a.ID, PerHour: 9}
		if _, err := st.CreateLink(t.Context(), link); err != nil {
			t.Fatal(err)
		}
		if _, err := st.SetAccountStatus(t.Context(), a.ID, models.AccountSuspended); err != nil {
			t.Fatal(err)
		}
		if _, _, err := st.ChangeEmail(t.Context(), link.Hash); models.ErrorCode(err) != models.CodeConflict {
			t.Errorf("suspended: %v", err)
		}
		if _, err := st.SetAccountStatus(t.Context(), a.ID, models.AccountActive); err != nil {
			t.Fatal(err)
		}
		if _, after, err := st.ChangeEmail(t.Context(), link.Hash); err != nil || *after.Email != "new@example.com" {
			t.Errorf("active again: %v", err)
		}
	})
}
