package store

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What has expired is looked for in an index, where the table can be large: on SQLite requests wait meanwhile.
func TestExpiredRowsHaveAnIndex(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, err := Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "lottery.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Prepare(ctx, true); err != nil {
		t.Fatal(err)
	}
	all := append(st.stale(time.Now(), 0),
		stale{"usage", "usage_days", "account_id, day, endpoint, class", "day", "day < ?", []any{"2026-01-01"}})
	for _, old := range all {
		if slices.Contains([]string{"closed addresses", "mails", "locks", "import runs", "job runs"}, old.what) {
			continue // few rows, or as old as their ids
		}
		var plan []struct{ Detail string }
		if err := st.write.Raw("EXPLAIN QUERY PLAN "+pruning(old.table, old.key, old.where, old.age), old.args...).Scan(&plan).Error; err != nil {
			t.Fatalf("%s: %v", old.what, err)
		}
		for _, step := range plan {
			if strings.HasPrefix(step.Detail, "SCAN") || strings.Contains(step.Detail, "TEMP B-TREE") {
				t.Errorf("%s: %s", old.what, step.Detail)
			}
		}
	}
}
