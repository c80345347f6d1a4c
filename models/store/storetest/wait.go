package storetest

import (
	"testing"
	"time"
)

// Until polls until ok, for what another process or goroutine does in real time without signalling it. Its limit allows
// for a busy machine; promised times are tested elsewhere.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// Soon runs do, which must end soon: it is for what must not wait for a silent database.
func Soon(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: no end", what)
	}
}

// AwayFromMidnight waits for the new UTC day if the current one is about to end: counters and statistics begin anew.
func AwayFromMidnight(t testing.TB) {
	t.Helper()
	const day = 24 * time.Hour
	if left := time.Until(time.Now().UTC().Truncate(day).Add(day)); left < 2*time.Minute {
		time.Sleep(left + time.Second)
	}
}
