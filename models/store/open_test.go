package store_test

import (
	"strings"
	"testing"

	"lottery/models/store"
)

// Whichever way a password stands in the address of a database, it is not told.
func TestNoPasswordInAnErrorOfConnecting(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://u:topsecret@127.0.0.1:1/x",
		"postgres://u@127.0.0.1:1/x?password=topsecret&sslmode=disable",
		"postgres://u:topsecret@127.0.0.1:1/x?sslmode=disable&sslpassword=topsecret&password=topsecret",
		"postgres://u@127.0.0.1:1/x?password=top%73ecret",
		"postgres://u@127.0.0.1:1/x?password=topsecret&sslmode=wrong",
		"postgres://u@127.0.0.1:1/x?sslmode=wrong&sslpassword=top%73ecret",
		"postgres://u@127.0.0.1:1/x?password=%zztopsecret",
	} {
		_, err := store.Open(t.Context(), address, store.Options{})
		if err == nil || strings.Contains(err.Error(), "ecret") || !strings.Contains(err.Error(), "cannot connect to postgres://u") ||
			!strings.Contains(err.Error(), "127.0.0.1:1/x") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
