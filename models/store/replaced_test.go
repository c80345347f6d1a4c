package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A file that is moved or replaced while it is open is reported by whatever looks for changes; once it is back in its
// place, everything works again.
func TestReplacedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lottery.db")
	st := storetest.OpenURL(t, "sqlite:"+path, store.Options{})
	looks := func(when string, well bool) {
		t.Helper()
		_, ofAccounts := st.NewestAccountChange(t.Context())
		_, ofDraws := st.DataVersion(t.Context())
		for _, err := range []error{ofAccounts, ofDraws} {
			if well && err != nil || !well && (models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "restart the servers")) {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	looks("opened", true)
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	looks("moved away", false)
	whole, err := os.ReadFile(path + ".old")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	looks("replaced", false)
	if err := os.Rename(path+".old", path); err != nil {
		t.Fatal(err)
	}
	looks("back again", true)
}
