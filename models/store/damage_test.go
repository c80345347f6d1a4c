package store

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lottery/models"
)

// A damaged file is reported as such, with a remedy, whether or not it still opens, and cannot be backed up.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "lottery.db")
	st, err := Open(ctx, "sqlite:"+path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Prepare(ctx, true); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := st.Note(ctx, &Operator{Who: "ada", Command: "test"}, "", strings.Repeat("x", 10_000), ""); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := st.Health(ctx); err != nil || h.Damage != "" || h.Unread {
		t.Errorf("whole: %+v, %v", h, err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := bytes.Clone(whole)
	copy(torn[len(torn)-30_000:], bytes.Repeat([]byte{0xA5}, 20_000)) // the part written last: it still opens
	write(t, path, torn)

	if st, err = Open(ctx, "sqlite:"+path, Options{}); err != nil {
		t.Fatal(err)
	}
	h, err := st.Health(ctx)
	if err != nil || h.Damage == "" {
		t.Errorf("%+v, %v", h, err)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	const want = "the database is damaged: stop the servers and replace it with a backup"
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := Backup(ctx, "sqlite:"+path, copied); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a backup of it: %v", err)
	}
	write(t, path, whole[:len(whole)/2])
	if _, err = Open(ctx, "sqlite:"+path, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("half of it: %v", err)
	}
}

// A file that is not a database, or may not be written, is reported as such.
func TestFileThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lottery.db")
	write(t, path, []byte(strings.Repeat("not a database ", 100)))
	_, err := Open(t.Context(), "sqlite:"+path, Options{})
	if models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), path+" is not a SQLite database: give another file") {
		t.Errorf("%v", err)
	}

	folder := t.TempDir()
	const isFolder = " is a folder, not a database file: give a file"
	if _, err := Open(t.Context(), "sqlite:"+folder, Options{Existing: true}); err == nil || !strings.HasPrefix(err.Error(), folder+isFolder) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Backup(t.Context(), "sqlite:"+folder, filepath.Join(t.TempDir(), "copy.db")); err == nil || !strings.HasPrefix(err.Error(), folder+isFolder) {
		t.Errorf("a backup of a folder: %v", err)
	}

	write(t, path, nil)
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro") // tests may run as root, who may write everywhere
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "CREATE TABLE x (y)")
	if err = unopened(path, err); models.ErrorCode(err) != models.CodeUnavailable || !strings.HasPrefix(err.Error(), path+" cannot be written: this user needs") {
		t.Errorf("%v", err)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
