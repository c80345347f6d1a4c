package store_test

import (
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// setDatabase changes a setting for all later sessions of url's database.
func setDatabase(t *testing.T, url, setting string) {
	t.Helper()
	const do = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET "
	change(t, "pgx", url+"&default_transaction_read_only=off", do+strings.ReplaceAll(setting, "'", "''")+"', current_database()); END $$")
}

// A node that connects while nothing may be written can write once that is allowed again: it does not keep the
// connections made meanwhile next to others that write.
func TestReadOnlyForAWhile(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	if _, err := st.CreateAccount(t.Context(), store.NewAccount{Email: "a@example.com"}); err != nil {
		t.Fatal(err)
	}
	setDatabase(t, url, "default_transaction_read_only = on")
	late, err := store.Open(t.Context(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	suspend := func() error {
		_, err := late.SetAccountStatus(t.Context(), "a@example.com", models.AccountSuspended)
		return err
	}
	if suspend() == nil {
		t.Fatal("it was written, though nothing may be")
	}
	setDatabase(t, url, "default_transaction_read_only = off")
	storetest.Until(t, "a change after that", func() bool { return suspend() == nil })
}

// Texts are stored unchanged, whatever the session settings of the database.
func TestTextsAreUTF8(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	setDatabase(t, url, "client_encoding = 'LATIN1'")
	st := storetest.OpenURL(t, url, store.Options{})
	const name = "Jürgen 李"
	if _, err := st.CreateAccount(t.Context(), store.NewAccount{Email: "a@example.com", Name: name}); err != nil {
		t.Fatal(err)
	}
	var kept string
	if err := storetest.SQL(t, url+"&client_encoding=UTF8").QueryRowContext(t.Context(), "SELECT name FROM accounts").Scan(&kept); err != nil || kept != name {
		t.Errorf("%q is kept as %q, %v", name, kept, err)
	}
}

// A missing schema is reported as such.
func TestNoSchema(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st, err := store.Open(t.Context(), url+"&search_path=nowhere", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "search_path names no existing schema") {
		t.Errorf("migrate: %v", err)
	}
	if h, err := st.Health(t.Context()); err != nil || h.Writable == nil || !strings.Contains(h.Writable.Error(), "search_path names no existing schema") {
		t.Errorf("health: %v %v", h.Writable, err)
	}
}
