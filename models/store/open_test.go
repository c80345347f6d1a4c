package store_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A password in the address of a database never appears in an error, wherever it is in the address.
func TestNoPasswordInAnErrorOfConnecting(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://u:topsecret@127.0.0.1:1/x",
		"postgres://u@127.0.0.1:1/x?password=topsecret&sslmode=disable",
		"postgres://u:topsecret@127.0.0.1:1/x?sslmode=disable&sslpassword=topsecret&password=topsecret",
		"postgres://u@127.0.0.1:1/x?password=top%73ecret",
		"postgres://u@127.0.0.1:1/x?password=topsecret&sslmode=wrong",
		"postgres://u@127.0.0.1:1/x?sslmode=wrong&sslpassword=top%73ecret",
		"postgres://u@127.0.0.1:1/x?password=%zztopsecret",
	} {
		_, err := store.Open(t.Context(), address, store.Options{})
		if err == nil || strings.Contains(err.Error(), "ecret") || !strings.Contains(err.Error(), "cannot connect to postgres://u") ||
			!strings.Contains(err.Error(), "127.0.0.1:1/x") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A password of one letter leaves the error readable.
func TestErrorOfConnectingWithAShortPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://u:e@127.0.0.1:1/x?sslmode=disable", "postgres://u@127.0.0.1:1/x?sslmode=disable&password=e"} {
		_, err := store.Open(t.Context(), address, store.Options{})
		if err == nil || !strings.HasSuffix(err.Error(), "connect: connection refused") || strings.Contains(err.Error(), ":e@") || strings.Contains(err.Error(), "=e") {
			t.Error(err)
		}
	}
}

// silent returns the address of a server that accepts connections and never sends anything; taken
// receives one value for each.
func silent(t *testing.T) (address string, taken <-chan struct{}) {
	t.Helper()
	came := make(chan struct{}, 9)
	return storetest.Listen(t, func(c net.Conn) {
		t.Cleanup(func() { _ = c.Close() })
		came <- struct{}{}
	}), came
}

// A server that accepts connections but stays silent is not waited for forever, and the error says what to do.
func TestConnectToASilentServer(t *testing.T) {
	t.Parallel()
	address, _ := silent(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := store.Open(ctx, "postgres://u:topsecret@"+address+"/x?sslmode=disable&connect_timeout=1", store.Options{})
	if models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "it does not answer") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// Opening that is told to stop while it connects stops.
func TestStopWhileConnecting(t *testing.T) {
	t.Parallel()
	address, taken := silent(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		_, err := store.Open(ctx, "postgres://u@"+address+"/x?connect_timeout=0", store.Options{})
		done <- err
	}()
	<-taken
	stop()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it goes on connecting")
	}
}

// PostgreSQL's reason for refusing is given once, without saying that it lacks TLS, which the driver only tries first.
func TestWhyPostgreSQLRefuses(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(storetest.EmptyPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	server := storetest.OverTCP(t, storetest.PostgresSocket(t, u.String()), 0)
	for address, want := range map[string]string{
		"postgres://lottery@" + server + "/none":                 `server error: FATAL: database "none" does not exist (SQLSTATE 3D000)`,
		"postgres://nobody@" + server + u.Path:                   `server error: FATAL: role "nobody" does not exist (SQLSTATE 28000)`,
		"postgres://lottery@" + server + "/none?sslmode=require": "tls error: server refused TLS connection",
		"postgres://lottery@127.0.0.1:1/none":                    "dial error: dial tcp 127.0.0.1:1: connect: connection refused",
		"postgres://lottery@127.0.0.1:1,127.0.0.1:2/none":        "connection refused; 127.0.0.1:2",
	} {
		_, err := store.Open(t.Context(), address, store.Options{})
		if err == nil || strings.Count(err.Error(), want) != 1 || strings.Contains(err.Error(), "TLS") != strings.Contains(want, "TLS") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A PostgreSQL that denies its user something is not called silent, and the error has a remedy: since PostgreSQL 15 a
// user who was only created may not create tables.
func TestUserWithoutRights(t *testing.T) {
	t.Parallel()
	const wantOwner, wantPrimary = "make the user of database_url the owner of the database and of its tables, or, if it is to have fewer rights, ", "the database takes no changes"
	owner := storetest.EmptyPostgres(t)
	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	role := "guest_of_" + strings.TrimPrefix(u.Path, "/")
	u.User = url.User(role)
	open := func(address string) *store.Store {
		t.Helper()
		st, err := store.Open(t.Context(), address, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		return st
	}
	refused := func(what string, err error, want string) {
		t.Helper()
		if err == nil || models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), "the database ") ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "does not answer") {
			t.Errorf("%s: %v", what, err)
		}
	}
	unwritable := func(what string, st *store.Store) {
		t.Helper()
		if h, err := st.Health(t.Context()); err != nil || h.Writable == nil {
			t.Errorf("%s: writable, %v", what, err)
		}
	}
	storetest.Exec(t, owner, "CREATE ROLE "+role+" LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")

	guest := open(u.String())
	unwritable("an empty database", guest)
	refused("an empty database", guest.Prepare(t.Context(), true), wantOwner)
	refused("a read-only database", open(owner+"&default_transaction_read_only=on").Prepare(t.Context(), true), wantPrimary)

	storetest.OpenURL(t, owner, store.Options{})
	unwritable("tables of others", guest)
	_, err = guest.Overview(t.Context())
	refused("tables of others", err, wantOwner)
	storetest.Exec(t, owner, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+role+"; DELETE FROM schema_migrations WHERE version_id = (SELECT max(version_id) FROM schema_migrations)")
	refused("an older schema", guest.Prepare(t.Context(), true), wantOwner)

	// All rights on the tables are not enough where nobody but the owner may create temporary ones.
	storetest.Exec(t, owner, "GRANT ALL ON ALL TABLES IN SCHEMA public TO "+role)
	if h, err := guest.Health(t.Context()); err != nil || h.Writable != nil {
		t.Errorf("with all rights on the tables: %v, %v", h.Writable, err)
	}
	storetest.Exec(t, owner, "REVOKE TEMPORARY ON DATABASE "+strings.TrimPrefix(u.Path, "/")+" FROM PUBLIC")
	unwritable("no temporary tables", guest)
}

// Time limits of PostgreSQL's own, which hosts set for a user, are no silence: the error names the setting.
func TestTimeLimitsOfTheUser(t *testing.T) {
	t.Parallel()
	owner := storetest.EmptyPostgres(t)
	storetest.OpenURL(t, owner, store.Options{})
	for _, limit := range []string{"statement_timeout", "lock_timeout"} {
		st, err := store.Open(t.Context(), owner+"&"+limit+"=100", store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		answer := storetest.Lock(t, owner, "accounts")
		_, err = st.Overview(t.Context())
		answer()
		if models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "SET "+limit+" = 0") {
			t.Errorf("%s: %v", limit, err)
		}
		_ = st.Close()
	}
}

// Preparing without migrating, and asking for the state of the schema, leave an empty database empty.
func TestAnEmptyDatabaseStaysEmpty(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		st, err := store.Open(t.Context(), url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if err := st.Prepare(t.Context(), false); models.ErrorCode(err) != models.CodeConflict {
			t.Errorf("%v", err)
		}
		at, err := st.Status(t.Context())
		if err != nil || at.Current != 0 || at.Newest == 0 || len(at.Pending) != int(at.Newest) {
			t.Errorf("%v %+v", err, at)
		}
		tables := "SELECT count(*) FROM sqlite_master"
		if strings.HasPrefix(url, "postgres") {
			tables = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
		}
		var n int
		if err := storetest.SQL(t, url).QueryRowContext(t.Context(), tables).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d tables, %v", n, err)
		}
	})
}

// A Store that is closed leaves no session at PostgreSQL, neither of pages and jobs nor of the counters.
func TestClosedStoreLeavesNoSession(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	st, db := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url)
	sessions := func() (n int) {
		t.Helper()
		err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := st.Account(t.Context(), "acc_1"); models.ErrorCode(err) != models.CodeNotFound {
		t.Fatal(err)
	}
	if _, _, err := st.ApplyQuota(t.Context(), []store.QuotaOp{{Kind: store.QuotaPeek, Key: "acc_1", Period: aDay}}); err != nil {
		t.Fatal(err)
	}
	if n := sessions(); n < 2 {
		t.Fatalf("%d sessions: the test shows nothing", n)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	storetest.Until(t, "all sessions to end", func() bool { return sessions() == 0 })
}
