package store_test

import (
	"os"
	"path"
	"path/filepath"
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
	storetest.Exec(t, url+"&default_transaction_read_only=off", do+strings.ReplaceAll(setting, "'", "''")+"', current_database()); END $$")
}

// A node that connects while nothing may be written can write once that is allowed again: it does not keep the
// connections made meanwhile next to others that write.
func TestReadOnlyForAWhile(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	storetest.Account(t, st, "a@example.com")
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

// An error says what to do about tables that are not to be found, and about a user who may not have another connection,
// or none.
func TestRefusalsHaveRemedies(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	storetest.OpenURL(t, url, store.Options{})
	refused := func(address string, before func(), want string) {
		t.Helper()
		st, err := store.Open(t.Context(), address, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		before()
		storetest.Until(t, want, func() bool { // the first attempts find that their connections are gone
			_, err := st.Account(t.Context(), "a@example.com")
			return models.ErrorCode(err) == models.CodeUnavailable && strings.HasPrefix(err.Error(), want)
		})
	}
	storetest.Exec(t, url, "CREATE SCHEMA elsewhere")
	refused(url+"&search_path=elsewhere", func() {}, "a table is missing: see that database_url names the right database")

	address, _, _ := strings.Cut(url, "?")
	role := "one_of_" + path.Base(address)
	storetest.Exec(t, url, "CREATE ROLE "+role+" LOGIN CONNECTION LIMIT 1")
	single := strings.Replace(url, "lottery@", role+"@", 1)
	refused(single, func() {
		storetest.Exec(t, url, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '"+role+"'")
		if _, err := storetest.SQL(t, single).ExecContext(t.Context(), "SELECT 1"); err != nil { // its one connection
			t.Fatal(err)
		}
	}, "the database has no connection left for its user")

	storetest.Exec(t, url, "CREATE ROLE barred_"+role+" LOGIN")
	refused(strings.Replace(url, "lottery@", "barred_"+role+"@", 1), func() {
		storetest.Exec(t, url, "ALTER ROLE barred_"+role+" NOLOGIN", "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'barred_"+role+"'")
	}, "the database does not let the user of database_url in, whatever the password")
}

// PostgreSQL's lists of sessions tell which program each belongs to, by the name in the URL or else by its own.
func TestSessionsNameTheirProgram(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	for address, want := range map[string]string{url: filepath.Base(os.Args[0]), url + "&application_name=mine": "mine"} {
		st := storetest.OpenURL(t, address, store.Options{})
		got, _, _, err := st.InSession(t.Context(), "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%q, not %q: %v", got, want, err)
		}
	}
}

// A hot standby is read, whatever its isolation level (it knows no serializable transactions), and takes no changes.
func TestHotStandby(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	url := server.NewDatabase(t)
	storetest.OpenURL(t, url, store.Options{})
	server.StandBy(t)
	st, err := store.Open(t.Context(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if games, err := st.Games(t.Context()); err != nil || len(games) == 0 {
		t.Errorf("%d games, %v", len(games), err)
	}
	if _, err := st.CreateAccount(t.Context(), store.NewAccount{Email: "a@example.com"}); models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), "the database takes no changes") {
		t.Errorf("%v", err)
	}
}
