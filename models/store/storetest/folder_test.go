package storetest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folders := map[string]bool{"lottery999999999-1": false, "lottery1-1": true, "lottery-1": true, "lotteryx-1": true, "other999999999-1": true}
	for name := range folders { // 999999999 is more than any process has
		if err := os.MkdirAll(filepath.Join(dir, name, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir)
	for name, stays := range folders {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
