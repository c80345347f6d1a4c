package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

var curlLine = regexp.MustCompile(`(?m)^ +(curl .*)$`)

// The first start and every later one print the same keys and a curl line that works when pasted.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var keys []string
	for range 3 {
		p := startDemo(t, dir)
		out := p.stdout.String()
		found := regexp.MustCompile(`ldk_[0-9A-Za-z]{38}`).FindAllString(out, -1)
		if len(found) != 3 || (keys != nil && strings.Join(found, " ") != strings.Join(keys, " ")) {
			t.Fatalf("keys %v, before %v", found, keys)
		}
		keys = found
		paste(t, curlLine.FindStringSubmatch(out)[1])
		if code := p.stop(t); code != 0 {
			t.Fatalf("exit code %d\n%s", code, p.stderr)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "data", "demo-keys"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("demo-keys: %v %v", info, err)
	}

	// A lost file of keys, and a key that was revoked: new keys take their place.
	if err := os.Remove(filepath.Join(dir, "data", "demo-keys")); err != nil {
		t.Fatal(err)
	}
	p := startDemo(t, dir)
	paste(t, curlLine.FindStringSubmatch(p.stdout.String())[1])
	if status, _ := p.get(t, "/v1/games", keys[0]); status != http.StatusUnauthorized {
		t.Errorf("a key that nobody can know any more: %d", status)
	}
	p.stop(t)

	refused := launch(t, dir, serveArgs("sqlite:data/demo.db")...)
	<-refused.exited
	if code := refused.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(refused.stderr.String(), "belongs to the demo") {
		t.Errorf("serve on the demo's database: %d %s", code, refused.stderr)
	}
}

func startDemo(t *testing.T, dir string) *process {
	t.Helper()
	p := launch(t, dir, "demo", "--listen", "127.0.0.1:0")
	waitUntil(t, "the demo to be ready", func() bool {
		select {
		case <-p.exited:
			t.Fatalf("the demo ended:\n%s", p.stderr)
		default:
		}
		return strings.Contains(p.stdout.String(), "Ctrl-C")
	})
	p.base = regexp.MustCompile(`http://localhost:\d+`).FindString(p.stdout.String())
	return p
}

func paste(t *testing.T, line string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", line+" -sS --fail").Output()
	if err != nil || !strings.Contains(string(out), `"number_str"`) {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func TestDemoRefusesADatabaseOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storetest.OpenURL(t, "sqlite:"+filepath.Join(dir, "data", "demo.db"), store.Options{})
	p := launch(t, dir, "demo", "--listen", "127.0.0.1:0")
	<-p.exited
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.stderr.String(), "was not made by the demo") {
		t.Errorf("%d %s", code, p.stderr)
	}
}
