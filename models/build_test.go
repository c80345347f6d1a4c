package models_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"lottery/models"
)

// TestMain lets the test program, and copies of it, say who they are.
func TestMain(m *testing.M) {
	if version, asked := os.LookupEnv("LOTTERY_TEST_IDENTITY"); asked {
		b := models.Build{Version: version, Commit: os.Getenv("LOTTERY_TEST_COMMIT")}
		if _, err := os.Stdout.WriteString(b.Identity()); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Different programs that were built without a version and a commit, as by `docker build` with no arguments or from an
// archive of the source, all call themselves "dev"; a tree with changes has the same commit before and after the next.
// A client's copy of an answer must not pass for that of another program.
func TestIdentityOfPrograms(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	identities := func(version, commit string) (list [3]string) {
		t.Helper()
		for i, text := range [][]byte{program, append(slices.Clip(program), '1'), program} {
			file := filepath.Join(dir, string(rune('a'+i)))
			if err := os.WriteFile(file, text, 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), file)
			cmd.Env = append(os.Environ(), "LOTTERY_TEST_IDENTITY="+version, "LOTTERY_TEST_COMMIT="+commit)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			list[i] = string(out)
		}
		return list
	}
	for _, c := range []struct {
		version, commit string
		differ          bool
	}{{"dev", "", true}, {"dev", "0123456789ab+", true}, {"v1.2.3", "", false}, {"dev", "0123456789ab", false}, {"v1.2.3", "0123456789ab+", true}} {
		got := identities(c.version, c.commit)
		if got[0] != got[2] || (got[0] != got[1]) != c.differ {
			t.Errorf("%s %s: %q, another program %q, the first again %q", c.version, c.commit, got[0], got[1], got[2])
		}
	}
}
