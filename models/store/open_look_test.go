package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Looking at a backup, or at an empty file, leaves it byte for byte as it is, and needs no right to write it.
func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	used := "sqlite:" + filepath.Join(folder, "used.db")
	st := storetest.OpenURL(t, used, store.Options{})
	storetest.Account(t, st, "ada@example.com")
	backup, empty := filepath.Join(folder, "backup"), filepath.Join(folder, "empty")
	if _, err := store.Backup(t.Context(), used, backup); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(empty, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(backup, 0o400); err != nil {
		t.Fatal(err)
	}
	look := func(url string) store.Overview {
		t.Helper()
		st, err := store.OpenToLook(t.Context(), url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := st.Overview(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if o.Current > 0 {
			err = st.NotTooNew(t.Context(), o.Newest)
		}
		if err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		return o
	}
	for _, file := range []string{backup, empty} {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if o := look("sqlite:" + file); (o.Accounts != nil && *o.Accounts == 1) != (file == backup) || len(o.Pending) == 0 != (file == backup) {
			t.Errorf("%s: %+v", file, o)
		}
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed (%v)", file, err)
		}
	}
	if o := look(used); o.Accounts == nil || *o.Accounts != 1 { // in use, with a write-ahead log
		t.Errorf("%+v", o)
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) != 5 { // the database with its log, and the other two
		t.Errorf("%v %v", list, err)
	}
}
