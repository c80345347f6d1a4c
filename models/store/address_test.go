package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A percent sign in a path does not begin an escape.
func TestPathOfSQLiteIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "50%25 a", "lottery%20.db")
	st := storetest.OpenURL(t, fmt.Sprintf("sqlite:%s", file), store.Options{})
	manyDraws(t, st)
	copied := filepath.Join(filepath.Dir(file), "copy%41.db")
	if _, err := store.Backup(context.Background(), "sqlite:"+file, copied); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(file)), "*", "*.db"))
	if err != nil || !slices.Equal(left, []string{copied, file}) {
		t.Errorf("%q, %v", left, err)
	}
}

// Different forms of an address name the same file; a folder that only a shell would expand is
// refused, and not created.
func TestAddressesOfAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lottery.db")
	for _, before := range []string{"sqlite:", "sqlite://", "sqlite:///", "sqlite:////"} {
		st, err := store.Open(t.Context(), before+path, store.Options{})
		if err != nil {
			t.Errorf("%s: %v", before, err)
			continue
		}
		if got, _ := store.SQLiteFile(before + path); got != path || !store.Exists(before+path) {
			t.Errorf("%s: the file is %s", before, got)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, address := range []string{"sqlite:~/lottery.db", "sqlite://~ada/lottery.db", "sqlite:"} {
		if st, err := store.Open(t.Context(), address, store.Options{}); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%s: %v %v", address, st, err)
		}
	}
}
