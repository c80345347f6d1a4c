package admin_test

import (
	"strings"
	"testing"
	"time"

	"lottery/admin"
	"lottery/models/store/storetest"
)

// A command that waits for a locked row says who holds the lock, and continues once it is released.
func TestCommandsTellWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.database = storetest.NewPostgres(t)
	d.run(0, "accounts", "create", "--email", "ada@example.com")
	release := storetest.Hold(t, d.database, "SELECT 1 FROM accounts FOR UPDATE")
	messages := &heard{wanted: "has locked", found: make(chan struct{})}
	done := make(chan int, 1)
	go func() {
		done <- admin.Run(t.Context(), []string{"accounts", "suspend", "ada@example.com", "--yes"}, d.env(strings.NewReader(""), &strings.Builder{}, messages))
	}()
	select {
	case <-messages.found:
	case <-time.After(time.Minute):
		t.Error("nothing was said in a minute")
	}
	release()
	if code := <-done; code != 0 || !strings.HasPrefix(messages.String(), "Waiting for the database: another session has locked what is needed (process ") {
		t.Errorf("exit code %d: %s", code, messages)
	}
}

// heard collects what is written to it, and closes found when a write contains wanted.
type heard struct {
	strings.Builder
	wanted string
	found  chan struct{}
}

func (h *heard) Write(p []byte) (int, error) {
	if strings.Contains(string(p), h.wanted) {
		close(h.found)
	}
	return h.Builder.Write(p)
}
