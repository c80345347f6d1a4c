package configs_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lottery/configs"
)

// While the file with a password is gone, or empty because it is being written, the password that it had last is used:
// the one of the start may have been changed since.
func TestRenewed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	file := filepath.Join(t.TempDir(), "url")
	renewed := configs.Renewed("postgres://u:one@h/d", file, slog.New(slog.NewTextHandler(&log, nil)))
	for i, c := range []struct {
		text string // "-" = no file
		want string
		told int
	}{
		{"-", "one", 1}, {"postgres://u:one@h/d\n", "one", 1}, {"postgres://u:two@h/d\n", "two", 1}, {"", "two", 2}, {"-", "two", 2},
		{"postgres://u:three@h/d", "three", 2}, {"-", "three", 3},
	} {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if c.text != "-" {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if got := renewed(); got != "postgres://u:"+c.want+"@h/d" {
				t.Errorf("%d: %s", i, got)
			}
		}
		if n := strings.Count(log.String(), "the one that was read last"); n != c.told {
			t.Errorf("%d: told %d times, want %d", i, n, c.told)
		}
	}
	log.Reset()
	if got := configs.Renewed("sqlite:x", "", slog.New(slog.NewTextHandler(&log, nil)))(); got != "sqlite:x" || log.Len() > 0 {
		t.Error(got, log.String())
	}
}
