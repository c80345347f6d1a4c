package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLibcIsWhatSQLiteWasMadeWith holds go.mod to what modernc.org/sqlite asks of everybody who uses it: exactly the
// modernc.org/libc of its own go.mod, since the one is translated against the other. Another module can raise libc
// alone. Source: the heading "Fragile modernc.org/libc dependency" of its package documentation.
func TestLibcIsWhatSQLiteWasMadeWith(t *testing.T) {
	t.Parallel()
	ours := readText(t, "../go.mod")
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := readText(t, filepath.Join(strings.TrimSpace(string(cache)),
		"cache/download/modernc.org/sqlite/@v", versionOf(t, ours, "modernc.org/sqlite")+".mod"))
	if got, want := versionOf(t, ours, "modernc.org/libc"), versionOf(t, theirs, "modernc.org/libc"); got != want {
		t.Errorf("go.mod has modernc.org/libc %s, modernc.org/sqlite was made with %s: go get modernc.org/libc@%s", got, want, want)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// versionOf returns the version that a go.mod requires of a module.
func versionOf(t *testing.T, mod, module string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^(?:require)?\s+` + regexp.QuoteMeta(module) + ` (v\S+)`).FindStringSubmatch(mod)
	if found == nil {
		t.Fatalf("no requirement of %s", module)
	}
	return found[1]
}
