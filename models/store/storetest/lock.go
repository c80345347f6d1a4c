package storetest

import (
	"context"
	"database/sql"
	"testing"
)

// Hold runs a statement that locks something of the PostgreSQL database at url, in a session of its own, and holds what
// it locked until release, which may be called more than once. Statements that need it hang meanwhile, without an error.
func Hold(t testing.TB, url, statement string) (release func()) {
	t.Helper()
	tx, err := SQL(t, url).BeginTx(context.Background(), nil)
	if err == nil {
		_, err = tx.ExecContext(context.Background(), statement)
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	release = func() { _ = tx.Rollback() }
	t.Cleanup(release)
	return release
}

// Lock holds a table, or several joined by commas.
func Lock(t testing.TB, url, table string) (release func()) {
	t.Helper()
	return Hold(t, url, "LOCK TABLE "+table)
}

// Blocked returns how many statements in db, a PostgreSQL database, wait for a lock.
func Blocked(t testing.TB, db *sql.DB) (n int) {
	t.Helper()
	err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// UntilBlocked polls until so many statements in db wait for a lock.
func UntilBlocked(t testing.TB, db *sql.DB, statements int) {
	t.Helper()
	Until(t, "statements that wait for a lock", func() bool { return Blocked(t, db) >= statements })
}
