//go:build unix

package store_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// If root makes the database in the folder of the server's user, that user can open it: the file and those beside it
// are the user's. One that is there already keeps its owner.
func TestDatabaseMadeByRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const user, other = 65534, 65533
	dir := t.TempDir()
	if err := os.Chown(dir, user, user); err != nil {
		t.Skip("this root may not give files away: ", err)
	}
	path := filepath.Join(dir, "lottery.db")
	for _, owner := range []int{user, other} {
		st := storetest.OpenURL(t, "sqlite:"+path, store.Options{})
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Sys().(*syscall.Stat_t).Uid; int(got) != owner || info.Mode().Perm() != 0o600 {
				t.Errorf("%s belongs to user %d and has the mode %v", name, got, info.Mode())
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, other, other); err != nil {
			t.Fatal(err)
		}
	}
}
