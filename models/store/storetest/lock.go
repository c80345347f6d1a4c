package storetest

import (
	"context"
	"database/sql"
	"testing"
)

// Lock locks a table of the PostgreSQL database at url until release, which may be called more than once: statements that
// need it get no answer meanwhile, and no error.
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
