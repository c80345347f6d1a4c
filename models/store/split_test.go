package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// An address moves to a standby that took over, while the old primary goes on and keeps its connections open. A Store
// that has met the new one uses no connection to the old one any more: a change would be lost there, and what is read
// alternately here and there contradicts itself.
func TestOldPrimaryGoesOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	old := storetest.NewPostgresServer(t)
	url := old.NewDatabase(t)
	storetest.OpenURL(t, url, store.Options{})
	old.Keep(t)
	taken := old.Split(t)
	moving := filepath.Join(t.TempDir(), "socket")
	if err := os.Symlink(old.Socket(), moving); err != nil {
		t.Fatal(err)
	}
	address, _ := storetest.CountRoundTrips(t, moving)
	st := storetest.OpenURL(t, storetest.PostgresAt(t, url, address), store.Options{})
	oldDB := storetest.SQL(t, url)
	var created int
	var all sync.WaitGroup
	create := func() {
		created++
		email := "a" + strconv.Itoa(created) + "@example.com"
		all.Go(func() {
			if _, err := st.CreateAccount(context.WithoutCancel(ctx), store.NewAccount{Email: email}); err != nil {
				t.Error(err)
			}
		})
	}

	// Three changes wait at once, so there are three connections to the old primary.
	release := storetest.Lock(t, url, "accounts")
	for range 3 {
		create()
	}
	storetest.UntilBlocked(t, oldDB, 3)
	if err := os.Remove(moving); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(taken.Socket(), moving); err != nil {
		t.Fatal(err)
	}
	other, err := st.Health(ctx) // on a new connection
	if err != nil || other.Writable != nil {
		t.Fatal(err, other.Writable)
	}
	release()
	all.Wait()

	for range 5 {
		create()
		all.Wait()
	}
	var n int
	if err := oldDB.QueryRowContext(ctx, "SELECT count(*) FROM accounts").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d accounts were created on the old primary, 3 of them while its address led there: %v", n, err)
	}
}
