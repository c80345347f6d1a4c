package admin_test

import (
	"slices"
	"testing"
	"time"
)

// A rotated key counts as revoked from the end of its grace period.
func TestKeyAfterGrace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.object("keys", "create", "--account", "ada@example.com", "--create-account")
	d.object("keys", "rotate", first["id"].(string), "--grace", "2h")
	for _, step := range []struct {
		later  time.Duration
		status string
		since  any
	}{
		{2*time.Hour - time.Second, "grace", nil},
		{time.Second, "revoked", "2026-03-04T07:06:07Z"},
		{time.Hour, "revoked", "2026-03-04T07:06:07Z"},
	} {
		d.now = d.now.Add(step.later)
		keys := d.list("keys", "list", "--account", "ada@example.com", "--all")
		i := slices.IndexFunc(keys, func(k map[string]any) bool { return k["id"] == first["id"] })
		if i < 0 || keys[i]["status"] != step.status || keys[i]["revoked_at"] != step.since {
			t.Errorf("after %s: %v", step.later, keys)
		}
	}
}
