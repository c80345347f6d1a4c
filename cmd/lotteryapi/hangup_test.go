package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lottery/models/store/storetest"
)

// hearHangups makes the programs receive SIGHUP even if the tests themselves run under nohup: an ignored signal is
// inherited, a handled one is not.
func hearHangups(t *testing.T) {
	t.Helper()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
}

// underNohup returns a command that is told to outlive its terminal.
func underNohup(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	return exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$0" "$@"`, binary(t, name)}, args...)...)
}

// A server whose terminal closes shuts down as on SIGTERM and returns what it held in advance. Shells send a second
// SIGHUP after the terminal's.
func TestServerWhoseTerminalCloses(t *testing.T) {
	t.Parallel()
	hearHangups(t)
	storetest.AwayFromMidnight(t)
	url := storetest.EmptyURL(t)
	f := newFleet(t, 1, serveArgs(url, "--drain-delay", "500ms"))
	key := newKey(t, url, "dev@example.com", "--plan", "pro")
	served := f.ask(t, key, 200, 8)[http.StatusOK]
	p := f.nodes[0]
	p.signal(t, syscall.SIGHUP)
	storetest.Until(t, "the drain to begin", func() bool { return strings.Contains(p.stderr.String(), "shutting down") })
	p.signal(t, syscall.SIGHUP)
	if code := p.wait(t); code != 0 || !strings.Contains(p.stderr.String(), `"stopped"`) {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	if count := usedToday(t, url, "dev@example.com"); served != 200 || count != served {
		t.Errorf("the database counts %d, served were %d", count, served)
	}

	p = ready(t, launchCommand(t, t.TempDir(), nil, underNohup(t, "lotteryapi", serveArgs(url)...)))
	p.signal(t, syscall.SIGHUP)
	if status, _ := p.get(t, "/v1/games", key); status != http.StatusOK {
		t.Errorf("under nohup: %d\n%s", status, p.stderr)
	}
	if code := p.stop(t); code != 0 {
		t.Errorf("under nohup: exit code %d\n%s", code, p.stderr)
	}
}

// A server that is told to stop twice within moments, as by timeout(1), stops as if told once. Told again later, it
// ends immediately, whatever is in flight.
func TestStopIsSaidTwice(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	stopping := func(delay string) *process {
		p := ready(t, launch(t, t.TempDir(), serveArgs(url, "--drain-delay", delay)...))
		p.signal(t, syscall.SIGTERM)
		storetest.Until(t, "the drain to begin", func() bool { return strings.Contains(p.stderr.String(), "shutting down") })
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // on a slow machine it may have ended already
		return p
	}
	p := stopping("500ms")
	if code := p.wait(t); code != 0 || !strings.Contains(p.stderr.String(), `"stopped"`) {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	p = stopping("10m")
	storetest.Until(t, "the end", func() bool {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.exited:
			return true
		default:
			return false
		}
	})
	if code := p.wait(t); code == 0 || strings.Contains(p.stderr.String(), `"stopped"`) {
		t.Errorf("told again: exit code %d\n%s", code, p.stderr)
	}
}

// A lotteryadmin command whose terminal closes stops as well, and none of its import is kept.
func TestCommandWhoseTerminalCloses(t *testing.T) {
	t.Parallel()
	hearHangups(t)
	folder := t.TempDir()
	run := func(cmd *exec.Cmd, database string) (*process, *os.File) {
		stdin, input, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = input.Close() })
		cmd.Args = append(cmd.Args, "draws", "import", "--quiet", "--feed", "csv", "-", "--database-url", "sqlite:"+filepath.Join(folder, database))
		cmd.Stdin = stdin
		p := launchCommand(t, folder, nil, cmd)
		_ = stdin.Close()
		storetest.Until(t, "the import to begin", func() bool {
			_, err := os.Stat(filepath.Join(folder, database))
			return err == nil
		})
		if _, err := input.WriteString(twoDraws); err != nil {
			t.Fatal(err)
		}
		p.signal(t, syscall.SIGHUP)
		return p, input
	}
	p, _ := run(exec.Command(binary(t, "lotteryadmin")), "left.db")
	if code := p.wait(t); code != 1 || p.stderr.String() != "lotteryadmin: interrupted\n" {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
	p, input := run(underNohup(t, "lotteryadmin"), "kept.db")
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("under nohup: exit code %d: %s", code, p.stderr)
	}
}

// A command whose output nobody reads, as in `| head`, still finishes its work: its audit entry is written, and it
// reports a key that nobody has seen.
func TestCommandWhoseReaderIsGone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	url := "sqlite:" + filepath.Join(folder, "lottery.db")
	newKey(t, url, "ada@example.com")
	run := func(args ...string) string {
		t.Helper()
		reader, stdout, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = reader.Close()
		defer stdout.Close()
		cmd := exec.Command(binary(t, "lotteryadmin"), append([]string{"--database-url", url}, args...)...)
		var stderr strings.Builder
		cmd.Dir, cmd.Stdout, cmd.Stderr = folder, stdout, &stderr
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%v: %v", args, err)
		}
		return stderr.String()
	}
	if told := run("accounts", "export", "ada@example.com"); told != "" {
		t.Errorf("export: %s", told)
	}
	if told := run("keys", "create", "--account", "ada@example.com"); !strings.Contains(told, "the new key was created but could not be shown") {
		t.Errorf("keys create: %s", told)
	}
	out, _ := admin(t, url, "audit", "list")
	var entries []struct{ Action, Result string }
	if err := json.Unmarshal(out, &entries); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(entries, func(e struct{ Action, Result string }) bool {
		return e.Action == "accounts export" && e.Result == "done, not all of it read"
	}) {
		t.Errorf("%s", out)
	}
}

// A server whose log reader is gone goes on, and stops cleanly.
func TestServerWhoseLogReaderIsGone(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	key := newKey(t, url, "ada@example.com")
	reader, log, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t, "lotteryapi"), serveArgs(url, "--access-log", "true")...)
	cmd.Dir, cmd.Stderr = t.TempDir(), log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_ = log.Close()
	base := ""
	for lines := bufio.NewScanner(reader); base == "" && lines.Scan(); {
		base = listening(lines.Text())
	}
	_ = reader.Close()
	for range 3 {
		storetest.Until(t, "an answer", func() bool { return answers(base+"/v1/games", key) })
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
