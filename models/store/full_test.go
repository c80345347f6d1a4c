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
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"lottery/models"
)

// A full disk is reported once, and as such: the database does answer.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st, _ := onSQLite(t, Options{})
	if err := st.write.Exec("PRAGMA max_page_count = 1").Error; err != nil { // SQLite raises it to the current size
		t.Fatal(err)
	}
	var err error
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

// TestMigrationOnAFullDisk: a migration without enough room says so, and completes when there is some.
func TestMigrationOnAFullDisk(t *testing.T) {
	t.Parallel()
	st, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "lottery.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, pages := range []int{5, 30} {
		if err := st.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)).Error; err != nil {
			t.Fatal(err)
		}
		if err := st.Prepare(t.Context(), true); !errors.Is(err, ErrDiskFull) || err.Error() != ErrDiskFull.Error() {
			t.Errorf("room for %d pages: %v", pages, err)
		}
	}
	if err := st.write.Exec("PRAGMA max_page_count = 100000").Error; err != nil {
		t.Fatal(err)
	}
	if err := st.Prepare(t.Context(), true); err != nil {
		t.Error(err)
	}
}

// TestLogOfALargeImport: while a server has the database open, the log of a large import does not keep its size, whether
// the import succeeds or, as on a full disk, fails at its end.
func TestLogOfALargeImport(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprintf("fails=%t", fails), func(t *testing.T) {
			t.Parallel()
			st, path := onSQLite(t, Options{})
			if fails {
				const trigger = "CREATE TRIGGER full BEFORE INSERT ON import_runs BEGIN SELECT RAISE(ABORT, 'full'); END"
				if err := st.write.Exec(trigger).Error; err != nil {
					t.Fatal(err)
				}
			}
			version, err := st.DataVersion(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			large := func(yield func(DrawChange) bool) {
				day := models.NewDate(1700, 1, 1)
				for i := range models.Date(100_000) {
					if !yield(DrawChange{Slot: models.Slot{GameID: "va-pick-3", Date: day + i, Tod: models.Night, Sequence: 1}, Number: "123", Addons: "{}"}) {
						return
					}
				}
			}
			err = st.MergeDraws(t.Context(), version.Number, []Merge{{Run: models.ImportRun{Feed: "csv", FinishedAt: time.Now()}, Changes: large}}, time.Now())
			if (err != nil) != fails {
				t.Fatal(err)
			}
			size := func() int64 {
				info, err := os.Stat(path + "-wal")
				if err != nil {
					t.Fatal(err)
				}
				return info.Size()
			}
			before := size()
			if err := st.Note(t.Context(), &Operator{Who: "ada", Command: "test"}, "", "x", ""); err != nil { // any change
				t.Fatal(err)
			}
			if after := size(); before < 5<<20 || after > 5<<20 {
				t.Errorf("the log has %d bytes, %d before the next change", after, before)
			}
		})
	}
}

// An import keeps its draws in SQLite's temporary file first. If the temporary folder is full, the error names that: the
// database's disk may have room.
func TestNoRoomForTemporaryFiles(t *testing.T) {
	t.Parallel()
	st, _ := onSQLite(t, Options{})
	large := func(yield func(DrawChange) bool) {
		for i := range 5000 {
			day := models.FirstDate + models.Date(i)
			if !yield(DrawChange{Slot: models.Slot{GameID: "va-pick-3", Date: day, Tod: models.Night, Sequence: 1}, Number: "123", Addons: "{}"}) {
				return
			}
		}
	}
	err := st.withMerger(t.Context(), func(db *gorm.DB) error {
		if err := db.Exec("PRAGMA temp.max_page_count = 10").Error; err != nil {
			t.Fatal(err)
		}
		_, err := stageSQLite(db, []Merge{{Changes: large}})
		return err
	})
	const want = "the folder for temporary files is full"
	if err = translate(err); errors.Is(err, ErrDiskFull) || models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

// A backup without enough room says so, and not that the database's disk is full: it only reads the database.
func TestNoRoomForABackup(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skipf("this system has no %s", full)
	}
	_, path := onSQLite(t, Options{})
	const want = "there is not enough space for the backup in /dev: free up space, or give a file on another disk"
	if err := backupSQLite(t.Context(), path, full); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// A writer that waits too long for another one, such as an import, is told so: the database does answer.
func TestAnotherWrites(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, path := onSQLite(t, Options{})
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
	_, err = st.WarnUsage(ctx, "a", models.QuotaUsed{Day: 0, Percent: 80}, false) // it waits only a moment
	if models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), "another program, such as an import, is writing to the database") {
		t.Errorf("%v", err)
	}
}
