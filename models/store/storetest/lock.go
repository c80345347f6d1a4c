package storetest

import (
	"context"
	"database/sql"
	"testing"
	"time"
)

// Lock locks a table of the PostgreSQL database at url until release, which may be called more than once. Statements
// that need the table hang meanwhile, without an error.
func Lock(t testing.TB, url, table string) (release func()) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatalf("connect to PostgreSQL: %v", err)
	}
	tx, err := db.BeginTx(context.Background(), nil)
	if err == nil {
		_, err = tx.ExecContext(context.Background(), "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
	}
	if err != nil {
		t.Fatalf("lock %s: %v", table, err)
	}
	release = func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
	t.Cleanup(release)
	return release
}

// Until polls until ok, for what another process or goroutine does in real time without signalling it. Its limit allows
// for a busy machine; promised times are tested elsewhere.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// UntilBlocked polls until a statement in db, a PostgreSQL database, waits for a lock.
func UntilBlocked(t testing.TB, db *sql.DB) {
	t.Helper()
	Until(t, "a statement that waits for a lock", func() bool {
		var waiting int
		err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		return waiting > 0
	})
}

// Soon runs do, which must end soon: it is for what must not wait for a silent database.
func Soon(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: no end", what)
	}
}
