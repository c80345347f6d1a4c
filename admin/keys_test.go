package admin_test

import (
	"lottery/admin"
	"regexp"
	"slices"
	"strings"
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

func TestGraceAndExpiryPass(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	old := d.object("keys", "create", "--account", "ada@example.com", "--create-account", "--expires", "3d")
	d.now = d.now.Add(time.Second) // otherwise the two are listed in the order of their random ids
	fresh := d.object("keys", "rotate", old["prefix"].(string), "--grace", "2d")
	if fresh["expires_at"] != "2026-03-07T05:06:07Z" {
		t.Errorf("the new key expires at %v", fresh["expires_at"])
	}
	if got := fresh["replaces"].(map[string]any); got["id"] != old["id"] || got["expires_at"] != "2026-03-06T05:06:08Z" {
		t.Errorf("replaces %v", got)
	}
	status := func() string {
		out, _ := d.run(0, "keys", "list", "--all", "-o", "csv")
		var list []string
		for _, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
			list = append(list, strings.Split(line, ",")[4])
		}
		return strings.Join(list, " ")
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{time.Second, "grace active"},
		{48 * time.Hour, "grace active"},
		{48*time.Hour + time.Second, "revoked active"},
		{72*time.Hour - time.Second, "revoked active"},
		{72 * time.Hour, "revoked expired"},
	} {
		d.now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(step.after)
		if got := status(); got != step.want {
			t.Errorf("after %s: %s, want %s", step.after, got, step.want)
		}
	}
	if out, _ := d.run(0, "keys", "list"); strings.Contains(out, "key_") {
		t.Errorf("dead keys are listed:\n%s", out)
	}
	d.run(5, "keys", "rotate", fresh["id"].(string)) // expired
	d.run(0, "keys", "create", "--account", "ada@example.com")
	d.run(0, "keys", "create", "--account", "ada@example.com") // the revoked and the expired key do not count
	d.run(5, "keys", "create", "--account", "ada@example.com")
}

// If a new key cannot be printed, the error names the command that replaces it.
func TestKeyThatCannotBePrinted(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"table", "json"} {
		d := newDesk(t)
		d.run(0, "accounts", "create", "--email", "ada@example.com")
		var stderr strings.Builder
		code := admin.Run(t.Context(), []string{"keys", "create", "--account", "ada@example.com", "-o", form}, d.env(strings.NewReader(""), full{}, &stderr))
		said := regexp.MustCompile("`lotteryadmin (keys rotate (ldk_[0-9A-Za-z]{8}) --grace 0s)` replaces it: .*no space left").FindStringSubmatch(stderr.String())
		if code != 1 || said == nil {
			t.Fatalf("%s: exit code %d: %s", form, code, stderr.String())
		}
		if out, _ := d.run(0, append(strings.Fields(said[1]), "-o", "json")...); !strings.Contains(out, `"key": "ldk_`) {
			t.Errorf("%s: %s", form, out)
		}
		if out, _ := d.run(0, "keys", "list", "-o", "csv"); strings.Contains(out, said[2]) || strings.Count(out, "ldk_") != 1 {
			t.Errorf("%s: %s", form, out)
		}
	}
}
