package storetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite"  // the database/sql driver "sqlite"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"
)

// SQL returns a connection to the database at url that bypasses the store, to read or write what the store has no
// method for. It is closed with the test. On SQLite it waits for locks, unless url ends with ?options of its own.
func SQL(t testing.TB, url string) *sql.DB {
	t.Helper()
	// As the store does: the server's default would fail what meets another transaction.
	driver, name, option := "pgx", url, "default_transaction_isolation=read%20committed"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, name, option = "sqlite", "file:"+path, "_pragma=busy_timeout(5000)"
	}
	switch {
	case !strings.Contains(name, "?"):
		name += "?" + option
	case driver == "pgx":
		name += "&" + option
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Exec runs statements, each by itself, on the database at url past the store, as an operator or another program would.
func Exec(t testing.TB, url string, statements ...string) {
	t.Helper()
	db := SQL(t, url)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
