package admin_test

import (
	"os"
	"testing"

	"lottery/models/store/storetest"
)

// TestMain stops the servers that tests shared, and removes the program of the scripts.
func TestMain(m *testing.M) {
	code := storetest.Run(m)
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}
