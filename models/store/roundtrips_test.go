package store_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// countRoundTrips returns a URL that leads to url's database over TCP, and the number of round trips made through it.
func countRoundTrips(t *testing.T, url string) (through string, trips *atomic.Int64) {
	t.Helper()
	address, trips := storetest.CountRoundTrips(t, storetest.PostgresSocket(t, url))
	return storetest.PostgresAt(t, url, address), trips
}

// A node or a command may be far from its database, where each round trip takes a tenth of a second and more: opening a
// database that is up to date takes few, and no more with each migration.
func TestRoundTripsOfOpening(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	storetest.OpenURL(t, url, store.Options{})
	url, trips := countRoundTrips(t, url)
	st, err := store.Open(t.Context(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	connecting := trips.Swap(0)
	if err := st.Prepare(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	prepare := trips.Load()
	// Connecting: the startup, the session's settings, and a statement that is prepared and then executed.
	// Preparing: four statements, each of them prepared and then executed.
	if connecting > 4 || prepare > 8 {
		t.Errorf("%d round trips to connect, %d to see that the schema is up to date", connecting, prepare)
	}
}

// A revoked key works until its node has heard of it, so that takes one round trip, or two where the statement is new.
func TestRoundTripsOfAccountChanges(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	near := storetest.OpenURL(t, url, store.Options{})
	url, trips := countRoundTrips(t, url)
	far := storetest.OpenURL(t, url, store.Options{})
	since, err := far.NewestAccountChange(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, most := range []int64{2, 1} {
		var want []string
		for _, name := range []string{"a", "b"} {
			account, err := near.CreateAccount(t.Context(), store.NewAccount{Email: fmt.Sprintf("%s%d@example.com", name, i)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := near.SetAccountStatus(t.Context(), account.ID, models.AccountSuspended); err != nil {
				t.Fatal(err)
			}
			want = append(want, account.ID)
		}
		if _, err := far.NewestAccountChange(t.Context()); err != nil { // a connection that was idle for a second is tried first
			t.Fatal(err)
		}
		trips.Store(0)
		ids, newest, known, err := far.AccountChanges(t.Context(), since)
		slices.Sort(ids)
		slices.Sort(want)
		if n := trips.Load(); err != nil || !known || !slices.Equal(ids, want) || n > most {
			t.Errorf("%v, known %v, %v, want %v, in %d round trips of at most %d", ids, known, err, want, n, most)
		}
		since = newest
	}
}
