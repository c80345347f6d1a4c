package admin_test

import (
	"path/filepath"
	"strings"
	"testing"

	"lottery/models/store"
)

// No real draw gets into the demo's database; everything else works there.
func TestTheDemoTakesNoRealDraws(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	st, err := store.Open(t.Context(), "sqlite:"+filepath.Join(d.dir, "lottery.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.MarkDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(d.dir, "draws.csv")
	write(t, file, "game,date,tod,number\nva-pick-3,2020-05-04,Day,007\n")
	slot := []string{"--game", "va-pick-3", "--date", "2020-05-04", "--tod", "Day", "--reason", "x"}
	for _, args := range [][]string{
		{"draws", "import", "--feed", "csv", file},
		{"draws", "import", "--feed", "csv", "--dry-run", file},
		{"draws", "sync"},
		append([]string{"draws", "set", "--number", "007"}, slot...),
		append([]string{"draws", "unset", "--yes"}, slot...),
		append([]string{"draws", "release"}, slot...),
		{"jobs", "run", "sync"},
	} {
		if _, messages := d.run(5, args...); !strings.Contains(messages, "belongs to the demo") || !strings.Contains(messages, "--database-url") {
			t.Errorf("%q: %s", args, messages)
		}
	}
	for _, args := range [][]string{
		{"keys", "create", "--account", "ada@example.com", "--create-account"},
		{"accounts", "suspend", "ada@example.com", "--yes"},
		{"accounts", "list"}, {"games", "list"}, {"draws", "verify"}, {"jobs", "list"}, {"jobs", "run", "cleanup"}, {"db", "status"},
	} {
		d.run(0, args...)
	}
	if out, _ := d.run(0, "draws", "export"); out != "game,date,tod,sequence,number\n" {
		t.Errorf("draws came in:\n%s", out)
	}
}
