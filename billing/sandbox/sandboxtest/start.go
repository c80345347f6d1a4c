package sandboxtest

import (
	"context"
	"net/http/httptest"
	"testing"

	"lottery/billing/sandbox"
)

// Start returns a sandbox that knows nobody, and its URL. It ends with the test.
func Start(t testing.TB) (stripe *sandbox.Sandbox, url string) {
	t.Helper()
	stripe, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatalf("start the sandbox: %v", err)
	}
	server := httptest.NewServer(stripe)
	t.Cleanup(func() {
		server.Close()
		_ = stripe.Close(context.Background())
	})
	return stripe, server.URL
}
