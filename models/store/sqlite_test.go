package store

import (
	"path/filepath"
	"testing"
)

// onSQLite returns a new database, for tests within this package: others use storetest, which imports it.
func onSQLite(t *testing.T, opts Options) (st *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lottery.db")
	st, err := Open(t.Context(), "sqlite:"+path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := st.Prepare(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	return st, path
}
