package store

import (
	"fmt"
	"testing"
	"time"
)

// On a new day, what is known of the day before leaves memory, except for what only the log holds; and the new day can
// be read as a whole.
func TestPastDaysLeaveMemory(t *testing.T) {
	t.Parallel()
	const accounts, day = askedSingly + 1, 24 * time.Hour
	now := time.Now().UTC().Truncate(day)
	s, _ := onSQLite(t, Options{Now: func() time.Time { return now }})
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
	compact := func() {
		t.Helper()
		if err := s.compactQuota(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	known := func(want int, when string) {
		t.Helper()
		if n := len(s.quota.known.list); n != want {
			t.Errorf("%s: %d counters are known, want %d", when, n, want)
		}
	}
	count(accounts)
	compact()
	known(accounts, "on the day on which they were counted")
	if !s.quota.known.whole {
		t.Error("not all of the day are known")
	}
	now = now.Add(day)
	count(1)
	known(1, "on the next day")
	count(accounts)
	now = now.Add(day)
	count(1)
	known(accounts+1, "on the next day, while the log has them")
	compact()
	known(1, "once they are stored")
}
