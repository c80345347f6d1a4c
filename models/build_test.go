package models_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lottery/models"
)

// TestMain lets the test program, and copies of it, say who they are.
func TestMain(m *testing.M) {
	if version, asked := os.LookupEnv("LOTTERY_TEST_IDENTITY"); asked {
		if os.Getenv("LOTTERY_TEST_WAIT") != "" {
			_, _ = io.Copy(io.Discard, os.Stdin)
		}
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

// A program that another one has replaced on disk before it was asked is still itself.
//
// It is not parallel: a file that another test's fork still has open for writing cannot be run.
func TestIdentityOfAReplacedProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which file runs")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, replace := range []func(file string) error{
		func(string) error { return nil },
		os.Remove,
		func(file string) error {
			return errors.Join(os.WriteFile(file+".new", append(slices.Clip(program), '1'), 0o700), os.Rename(file+".new", file))
		},
	} {
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, program, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), file)
		cmd.Env = append(os.Environ(), "LOTTERY_TEST_IDENTITY=dev", "LOTTERY_TEST_WAIT=1")
		goOn, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(replace(file), goOn.Close(), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("dev %08x", crc32.Checksum(program, crc32.MakeTable(crc32.Castagnoli))); out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}
