package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A source stays byte for byte as it is, even one without a write-ahead log, such as a backup.
func TestCopyChangesNoSource(t *testing.T) {
	t.Parallel()
	from := storetest.URL(t)
	fillPerson(t, storetest.OpenURL(t, from, store.Options{}), storetest.SQL(t, from))
	backup := filepath.Join(t.TempDir(), "backup.db")
	if _, err := store.Backup(t.Context(), from, backup); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := copyInto(t, "sqlite:"+backup, storetest.URL(t)); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(backup); err != nil || string(after) != string(before) {
		t.Errorf("the source was changed: %v", err)
	}
	if files, err := os.ReadDir(filepath.Dir(backup)); err != nil || len(files) != 1 {
		t.Errorf("beside the source: %v, %v", files, err)
	}
}

// SQLite accepts any text as a date; PostgreSQL does not, and the error names the row.
func TestCopyOfNoDate(t *testing.T) {
	t.Parallel()
	from, to := storetest.URL(t), storetest.NewPostgres(t)
	storetest.OpenURL(t, from, store.Options{})
	change(t, "sqlite", addressOf(from), "INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at) VALUES ('va-pick-3', '2020-02-31', 1, 1, '123', 'csv', '2026-01-01 00:00:00+00:00')")
	if _, err := copyInto(t, from, to); err == nil || !strings.Contains(err.Error(), `draws.date of game_id va-pick-3: "2020-02-31" is no date`) {
		t.Errorf("%v", err)
	}
}
