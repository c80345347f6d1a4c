package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Whoever closes an account and signs up again, even on the next day, is found by the address, and no account is made
// unless it goes on from what all closed ones have used.
func TestDepartures(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		departed := func(email string) (ids []string) {
			t.Helper()
			list, err := st.Departures(ctx, email)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range list {
				ids = append(ids, d.AccountID)
			}
			slices.Sort(ids)
			return ids
		}
		closed := func(email string) string {
			t.Helper()
			a := storetest.Account(t, st, email)
			if _, err := st.DeleteAccount(ctx, a.ID); err != nil {
				t.Fatal(err)
			}
			return a.ID
		}
		ann := []string{closed("ann@example.com"), closed("ann@example.com")}
		slices.Sort(ann)
		bob := closed("bob@example.com")
		if got := departed("ann@example.com"); !slices.Equal(got, ann) {
			t.Errorf("%v, want %v", got, ann)
		}
		if got := departed("bob@example.com"); !slices.Equal(got, []string{bob}) {
			t.Errorf("%v, want %s", got, bob)
		}
		if got := departed("eve@example.com"); len(got) > 0 {
			t.Errorf("of an address that had no account: %v", got)
		}
		in := store.SignIn{Link: createLink(t, st, store.NewLink{Purpose: models.LinkSignIn, Email: "ann@example.com"}), Session: secret.Hash("ann"), NewID: store.NewAccountID()}
		for carried, want := range []error{store.ErrAccountChanged, store.ErrAccountChanged, nil} { // the same link each time
			in.Carried = carried
			if _, err := st.SignIn(ctx, models.DefaultPlans(), in); !errors.Is(err, want) || models.ErrorCode(err) != "" {
				t.Errorf("with %d carried: %v, want %v", carried, err, want)
			}
		}
		move(aDay)
		if got := departed("ann@example.com"); !slices.Equal(got, ann) {
			t.Errorf("on the next day: %v, want %v", got, ann)
		}
		move(aDay)
		if got := departed("ann@example.com"); len(got) > 0 {
			t.Errorf("after two days: %v", got)
		}
	})
}

// A node whose clock is ahead forgets nobody's departure when it closes another account.
func TestDeparturesBesideANodeThatIsAhead(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		st := storetest.OpenURL(t, url, store.Options{})
		ahead := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return time.Now().Add(3 * aDay) }})
		ann, bob := signIn(t, st, "ann@example.com", "ann", ""), signIn(t, st, "bob@example.com", "bob", "")
		if _, err := st.DeleteAccount(ctx, ann.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := ahead.DeleteAccount(ctx, bob.ID); err != nil {
			t.Fatal(err)
		}
		if list, err := st.Departures(ctx, "ann@example.com"); err != nil || len(list) != 1 || list[0].AccountID != ann.ID {
			t.Errorf("%+v, %v; want %s", list, err, ann.ID)
		}
	})
}
