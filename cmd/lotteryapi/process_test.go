package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

func TestMain(m *testing.M) {
	if ran, err := yardstick(); ran {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	storetest.Main(m)
}

// binaries returns the folder of lotteryapi and lotteryadmin, built once and as a newcomer would build them, without the
// flags that make tests faster; for `make bench`, with LOTTERY_GOFLAGS.
var binaries = sync.OnceValues(func() (string, error) {
	return storetest.Build([]string{"GOFLAGS=" + os.Getenv("LOTTERY_GOFLAGS")}, "lottery/cmd/lotteryapi", "lottery/cmd/lotteryadmin")
})

func binary(t testing.TB, name string) string {
	t.Helper()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// process is a running lotteryapi.
type process struct {
	cmd    *exec.Cmd
	base   string // http://127.0.0.1:port
	stdout *storetest.Buffer
	stderr *storetest.Buffer
	exited chan struct{}
}

// start runs lotteryapi in a folder of its own and waits until it is ready.
func start(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	return ready(t, launch(t, dir, args...))
}

// startWith is start with additional environment variables.
func startWith(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	return ready(t, launchWith(t, t.TempDir(), env, args...))
}

// ready waits until p is ready.
func ready(t testing.TB, p *process) *process {
	t.Helper()
	storetest.Until(t, "the server to be ready", func() bool {
		select {
		case <-p.exited:
			t.Fatalf("%v ended:\n%s", p.cmd.Args, p.stderr)
		default:
		}
		if p.base == "" {
			p.base = listening(p.stderr.String())
		}
		if p.base == "" {
			return false
		}
		res, err := http.Get(p.base + "/readyz")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return p
}

func launch(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	return launchWith(t, dir, nil, args...)
}

func launchWith(t testing.TB, dir string, env []string, args ...string) *process {
	t.Helper()
	return launchCommand(t, dir, env, exec.Command(binary(t, "lotteryapi"), args...))
}

func launchCommand(t testing.TB, dir string, env []string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, stdout: &storetest.Buffer{}, stderr: &storetest.Buffer{}, exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, p.stdout, p.stderr
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
	})
	return p
}

// listening returns the address in a server's log, or "".
func listening(log string) string {
	scan := bufio.NewScanner(strings.NewReader(log))
	for scan.Scan() {
		var line struct{ Msg, Addr string }
		if json.Unmarshal(scan.Bytes(), &line) == nil && line.Msg == "listening" {
			return "http://" + line.Addr
		}
	}
	return ""
}

// serveArgs returns the arguments with which tests start a server on the database at url, on a free port.
func serveArgs(url string, more ...string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--database-url", url}, more...)
}

// stop tells the server to stop and returns its exit code.
func (p *process) stop(t testing.TB) int {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	return p.wait(t)
}

func (p *process) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// wait returns the exit code of a program that was told to stop.
func (p *process) wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(90 * time.Second): // each writer waits for an unresponsive database
		t.Fatalf("it did not end:\n%s", p.stderr)
	}
	return p.cmd.ProcessState.ExitCode()
}

// get sends a GET to the server and reads the whole body.
func (p *process) get(t testing.TB, path, key string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, p.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, p.stderr)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

// admin runs lotteryadmin and returns its JSON output and exit code.
func admin(t testing.TB, url string, args ...string) (stdout []byte, code int) {
	t.Helper()
	cmd := exec.Command(binary(t, "lotteryadmin"), append([]string{"--database-url", url, "--output", "json"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("lotteryadmin %v: %v", args, err)
	}
	if err != nil {
		t.Logf("lotteryadmin %v: %s", args, &errs)
	}
	return out.Bytes(), cmd.ProcessState.ExitCode()
}

// newKey makes an account with a key.
func newKey(t testing.TB, url, email string, more ...string) string {
	t.Helper()
	out, code := admin(t, url, append([]string{"keys", "create", "--account", email, "--create-account"}, more...)...)
	var key struct{ Key string }
	if err := json.Unmarshal(out, &key); err != nil || code != 0 || key.Key == "" {
		t.Fatalf("keys create: %d %v %s", code, err, out)
	}
	return key.Key
}
