package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"lottery/models"
)

// A full disk is reported once, and as such: the database does answer.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st, err := Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "lottery.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := st.Prepare(ctx, true); err != nil {
		t.Fatal(err)
	}
	if err := st.write.Exec("PRAGMA max_page_count = 1").Error; err != nil { // SQLite raises it to the current size
		t.Fatal(err)
	}
	for err == nil {
		err = st.Note(ctx, &Operator{Who: "ada", Command: "test"}, "", strings.Repeat("x", 10_000), "")
	}
	const want = "the database's disk is full: free up space"
	if !errors.Is(err, ErrDiskFull) || err.Error() != want || models.ErrorCode(err) != models.CodeUnavailable {
		t.Errorf("SQLite: %v", err)
	}
	if err := unavailable(fmt.Errorf("insert: %w", &pgconn.PgError{Code: "53100", Message: "could not extend file"})); err.Error() != want {
		t.Errorf("PostgreSQL: %v", err)
	}
	if err := unavailable(&pgconn.PgError{Code: "57P01", Message: "shutting down"}); !strings.HasPrefix(err.Error(), "the database does not respond: ") {
		t.Errorf("another fault: %v", err)
	}
}

// A backup without enough room says so, and not that the database's disk is full: it only reads the database.
func TestNoRoomForABackup(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skipf("this system has no %s", full)
	}
	path := filepath.Join(t.TempDir(), "lottery.db")
	st, err := Open(t.Context(), "sqlite:"+path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Prepare(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	const want = "there is not enough space for the backup in /dev: free up space, or give a file on another disk"
	if err := backupSQLite(t.Context(), path, full); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// A writer that waits too long for another one, such as an import, is told so: the database does answer.
func TestAnotherWrites(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "lottery.db")
	st, err := Open(ctx, "sqlite:"+path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Prepare(ctx, true); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	_, err = st.WarnUsage(ctx, "a", 0, 80) // it waits only a moment
	if models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), "another program, such as an import, is writing to the database") {
		t.Errorf("%v", err)
	}
}
