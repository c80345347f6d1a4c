package store_test

import (
	neturl "net/url"
	"strings"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A server asks the database many times a second. While PostgreSQL does not let its user in, it tries that only once a
// second: each attempt is a process and a line in PostgreSQL's log, and some hosts bar an address after a few.
func TestRefusedUserIsTriedSeldom(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	storetest.OpenURL(t, url, store.Options{})
	storetest.Exec(t, url, "DROP ROLE IF EXISTS let_out", "CREATE ROLE let_out LOGIN SUPERUSER")
	t.Cleanup(func() { storetest.Exec(t, url, "DROP ROLE let_out") })
	u, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	u.User = neturl.User("let_out")
	through, trips := countRoundTrips(t, u.String())
	st := storetest.OpenURL(t, through, store.Options{})

	storetest.Exec(t, url, "ALTER ROLE let_out NOLOGIN", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'let_out'")
	for err == nil { // until its connections are gone
		_, err = st.DataVersion(t.Context())
	}
	trips.Store(0)
	for range 100 {
		if _, err = st.DataVersion(t.Context()); err == nil || !strings.Contains(err.Error(), "see that it exists and may log in") {
			t.Fatal(err)
		}
	}
	if n := trips.Load(); n > 10 {
		t.Errorf("%d attempts of 100", n)
	}
	storetest.Exec(t, url, "ALTER ROLE let_out LOGIN")
	storetest.Until(t, "being let in again", func() bool {
		_, err := st.DataVersion(t.Context())
		return err == nil
	})
}
