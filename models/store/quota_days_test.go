package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// On a new day, what is known of the day before leaves memory, except for what only the log holds; and the new day can
// be read as a whole.
func TestPastDaysLeaveMemory(t *testing.T) {
	t.Parallel()
	const accounts, day = 2 * askedSingly, 24 * time.Hour
	now := time.Now().UTC().Truncate(day)
	s, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "lottery.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Prepare(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	count := func(accounts int) {
		t.Helper()
		ops := make([]QuotaOp, accounts)
		for i := range ops {
			ops[i] = QuotaOp{Kind: QuotaTake, Key: fmt.Sprintf("acc_%d", i), Period: day, Need: 1, Limit: 9}
		}
		if _, _, err := s.ApplyQuota(t.Context(), ops); err != nil {
			t.Fatal(err)
		}
	}
	count(accounts)
	if n := len(s.quota.known.list); n != accounts || !s.quota.known.whole {
		t.Errorf("%d counters are known, want %d; all of the day: %v", n, accounts, s.quota.known.whole)
	}
	now = now.Add(day)
	count(1)
	if n := len(s.quota.known.list); n != accounts+1 { // the log holds those of the day before
		t.Errorf("%d counters are known, want %d", n, accounts+1)
	}
	if err := s.compactQuota(t.Context()); err != nil {
		t.Fatal(err)
	}
	now = now.Add(day)
	count(3)
	if n := len(s.quota.known.list); n > 4 { // at most the log's newest row names another
		t.Errorf("%d counters are known, want 3", n)
	}
}
