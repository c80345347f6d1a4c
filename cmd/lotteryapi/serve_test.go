package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

const twoDraws = "game,date,tod,number\nny-numbers,2024-02-29,Midday,007\nny-numbers,2024-02-29,Evening,321\n"

func writeFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "draws.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func total(t testing.TB, p *process, key, query string) int {
	t.Helper()
	status, body := p.get(t, query, key)
	var list struct{ Total int }
	if status == http.StatusOK {
		if err := json.Unmarshal(body, &list); err != nil {
			t.Fatal(err)
		}
	}
	return list.Total
}

// An import by another process appears on every node, and serving goes on without the database.
func TestImportShowsOnEveryNode(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	url := server.NewDatabase(t)
	nodes := []*process{start(t, t.TempDir(), serveArgs(url)...), start(t, t.TempDir(), serveArgs(url)...)}
	key := newKey(t, url, "dev@example.com")
	const query = "/v1/draws/recent?game=ny-numbers"
	for _, n := range nodes {
		if status, body := n.get(t, query, key); status != http.StatusNotFound {
			t.Fatalf("before the import: %d %s", status, body)
		}
	}
	if out, code := admin(t, url, "draws", "import", "--feed", "csv", writeFile(t, twoDraws)); code != 0 {
		t.Fatalf("import: %d %s", code, out)
	}
	done := time.Now()
	for i, n := range nodes {
		storetest.Until(t, "the import to show", func() bool { return total(t, n, key, query) == 2 })
		t.Logf("node %d: after %s", i, time.Since(done).Round(time.Millisecond))
	}

	server.Stop()
	for _, n := range nodes {
		if got := total(t, n, key, query); got != 2 {
			t.Errorf("database away: total %d", got)
		}
		if status, body := n.get(t, "/readyz", ""); status != http.StatusOK {
			t.Errorf("database away: /readyz %d %s", status, body)
		}
	}
	server.Start(t)
	if out, code := admin(t, url, "draws", "import", "--feed", "csv", writeFile(t, twoDraws+"ny-numbers,2024-03-01,Midday,777\n")); code != 0 {
		t.Fatalf("import after the database's return: %d %s", code, out)
	}
	for _, n := range nodes {
		storetest.Until(t, "an import after the database's return", func() bool { return total(t, n, key, query) == 3 })
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	p := start(t, t.TempDir(), serveArgs(url, "--drain-delay", "1s")...)
	key := newKey(t, url, "dev@example.com")
	if status, _ := p.get(t, "/v1/games", key); status != http.StatusOK {
		t.Fatal(status)
	}
	ended := make(chan int, 1)
	go func() { ended <- p.stop(t) }()
	storetest.Until(t, "the drain to begin", func() bool { return strings.Contains(p.stderr.String(), "shutting down") })
	if status, body := p.get(t, "/readyz", ""); status != http.StatusServiceUnavailable {
		t.Errorf("while draining: /readyz %d %s", status, body)
	}
	if status, _ := p.get(t, "/v1/games", key); status != http.StatusOK {
		t.Errorf("while draining: /v1/games %d", status)
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	wantLastUse(t, url)
	if strings.Contains(p.stderr.String(), key) {
		t.Error("the log holds a key")
	}
	for _, line := range []string{`"msg":"index built".*"took_ms":[0-9]+\}`, `"msg":"a job is (done|cut off.*)".*"took_ms":[0-9]+\}`, `"msg":"shutting down","drain_delay_ms":1000\}`} {
		if !regexp.MustCompile(line).MatchString(p.stderr.String()) {
			t.Errorf("the log has no line %s:\n%s", line, p.stderr)
		}
	}
}

// wantLastUse fails the test unless the last use of the only key is stored.
func wantLastUse(t *testing.T, url string) {
	t.Helper()
	out, _ := admin(t, url, "keys", "list")
	var keys []struct {
		LastUsedAt *time.Time `json:"last_used_at"`
	}
	if err := json.Unmarshal(out, &keys); err != nil || len(keys) != 1 || keys[0].LastUsedAt == nil {
		t.Errorf("the last use was not written at the end: %s %v", out, err)
	}
}

// A server whose listener fails, for want of memory for instance, ends as if it was told to stop: what it knows is
// written.
func TestListenerFails(t *testing.T) {
	t.Parallel()
	oneRun.Lock()
	defer oneRun.Unlock()
	url, code := "sqlite:"+filepath.Join(t.TempDir(), "lottery.db"), make(chan int, 1)
	p := &process{stderr: &storetest.Buffer{}}
	go func() {
		code <- run(t.Context(), append([]string{"lotteryapi"}, serveArgs(url)...), func(string) string { return "" }, io.Discard, p.stderr)
	}()
	storetest.Until(t, "the server to listen", func() bool { p.base = listening(p.stderr.String()); return p.base != "" })
	key := newKey(t, url, "dev@example.com")
	if status, _ := p.get(t, "/v1/games", key); status != http.StatusOK {
		t.Fatal(status)
	}
	for fd := range 1024 { // the listener is not ours to close
		address, err := unix.Getsockname(fd)
		if at, ok := address.(*unix.SockaddrInet4); err == nil && ok && strings.HasSuffix(p.base, fmt.Sprintf(":%d", at.Port)) {
			_ = unix.Shutdown(fd, unix.SHUT_RDWR) // accepting fails now; a connection ends
		}
	}
	if got := <-code; got != exitFailed || !strings.Contains(p.stderr.String(), "lotteryapi: serve: accept") || !strings.Contains(p.stderr.String(), `"msg":"stopped"`) {
		t.Errorf("exit code %d\n%s", got, p.stderr)
	}
	wantLastUse(t, url)
}

// A signal to stop is also obeyed while the database is being opened or the index built.
func TestStoppedWhileStarting(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	code, stderr := runHere(ctx, io.Discard, "serve", "--listen", "127.0.0.1:0", "--database-url", "sqlite:"+filepath.Join(t.TempDir(), "lottery.db"))
	if code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A server that finds tables locked by somebody else says so, names the holder, and goes on when they are free, or stops
// when it is told to.
func TestStartWaitsForLockedTables(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"games", "account_version", "draws"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			url := storetest.EmptyPostgres(t)
			storetest.OpenURL(t, url, store.Options{})
			release := storetest.Lock(t, url, table)
			p, stopped := launch(t, t.TempDir(), serveArgs(url)...), launch(t, t.TempDir(), serveArgs(url)...)
			for _, p := range []*process{p, stopped} {
				storetest.Until(t, "the server to say what it waits for", func() bool {
					return strings.Contains(p.stderr.String(), `"the start waits for the database","reason":"another session has locked the table `+table+" (process ")
				})
			}
			if code := stopped.stop(t); code != 0 {
				t.Errorf("told to stop while it waits: exit code %d\n%s", code, stopped.stderr)
			}
			release()
			ready(t, p)
		})
	}
}

// A server that cannot answer yet refuses connections: a proxy passes over it at once, but would send customers to a
// server that accepts them.
func TestNobodyConnectsBeforeTheIndex(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := taken.Addr().String()
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	url := storetest.EmptyPostgres(t)
	storetest.OpenURL(t, url, store.Options{})
	answer := storetest.Lock(t, url, "draws")
	args := serveArgs(url, "--ops-listen", "127.0.0.1:0")
	args[2] = address
	p := launch(t, t.TempDir(), args...)
	storetest.Until(t, "the operator's listener to say that it is not ready", func() bool {
		at := opsListening(p.stderr.String())
		if at == "" {
			return false
		}
		ops := &process{base: at}
		_, metrics := ops.get(t, "/metrics", "")
		alive, _ := ops.get(t, "/healthz", "")
		status, body := ops.get(t, "/readyz", "")
		return strings.Contains(string(metrics), "\nlottery_ready 0\n") && alive == 200 && status == 503 &&
			strings.Contains(string(body), "the index of draws is being built")
	})
	for range 20 { // whatever a server does first, it has done by then
		if res, err := http.Get("http://" + address + "/v1/games"); err == nil {
			_ = res.Body.Close()
			t.Fatalf("it answered %s before it could", res.Status)
		}
		time.Sleep(10 * time.Millisecond)
	}
	answer()
	ready(t, p)
}

// A server whose mails would lead people to their own machines warns about it at the start.
func TestLocalPublicURLIsWarnedOf(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	for _, publicURL := range []string{"http://localhost:8080", "https://draws.example.com"} {
		code, stderr := runHere(ctx, io.Discard, "serve", "--listen", "127.0.0.1:0", "--database-url", "sqlite:"+filepath.Join(t.TempDir(), "lottery.db"),
			"--smtp-url", "smtp://127.0.0.1:1", "--mail-from", "a@example.com", "--public-url", publicURL)
		warned := strings.Contains(stderr, `"level":"WARN","msg":"public_url only works on this machine`)
		if code != 0 || warned != strings.Contains(publicURL, "localhost") {
			t.Errorf("%s: exit code %d: %s", publicURL, code, stderr)
		}
	}
}

// A misspelt environment variable is reported at the start, without its value.
func TestMisspeltVariablesAreWarnedOf(t *testing.T) {
	t.Parallel()
	p := launchWith(t, t.TempDir(), []string{"LOTTERY_DATABASE_URI=postgres://a:secret@b/c", "LOTTERY_PORT=tcp://10.0.0.1:80"}, serveArgs("sqlite:lottery.db")...)
	ready(t, p)
	const told = `"reason":"LOTTERY_DATABASE_URI is set, but there is no such option; did you mean LOTTERY_DATABASE_URL?"`
	if log := p.stderr.String(); strings.Count(log, "is not read") != 1 || !strings.Contains(log, told) || strings.Contains(log, "secret") {
		t.Errorf("%s", log)
	}
}

// Without its key, a server that used to sell ignores Stripe's events and leaves all plans as they are: it says so.
func TestWebhookSecretWithoutKeyIsWarnedOf(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, secret := range []string{"", "whsec_left"} {
		code, stderr := runHere(ctx, io.Discard, "serve", "--listen", "127.0.0.1:0",
			"--database-url", "sqlite:"+filepath.Join(t.TempDir(), "lottery.db"), "--stripe-webhook-secret", secret)
		warned := strings.Contains(stderr, `"level":"WARN","msg":"billing is off: `)
		if code != 0 || warned != (secret != "") || strings.Contains(stderr, "whsec_") {
			t.Errorf("%q: exit code %d: %s", secret, code, stderr)
		}
	}
}

// A server that may not migrate does not create a database either: a misspelt path leaves nothing behind.
func TestNoMigrateMakesNoDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"typo.db", "no/such/folder.db"} {
		code, stderr := runHere(t.Context(), io.Discard, "serve", "--no-migrate", "--listen", "127.0.0.1:0", "--database-url", "sqlite:"+filepath.Join(dir, path))
		if code != 1 || !strings.Contains(stderr, "there is no database at sqlite:") {
			t.Errorf("%s: exit code %d: %s", path, code, stderr)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, 2, "serve, demo or healthcheck"},
		{[]string{"sevre"}, 2, "sevre"},
		{[]string{"serve", "--lisen", "x"}, 2, "lisen"},
		{[]string{"serve", "now"}, 2, "takes no arguments"},
		{[]string{"serve", "--listen", "nowhere", "--log-level", "loud"}, 2, "2 problem(s)"},
		{[]string{"serve", "--stripe-secret-key", "sk_test_abc", "--log-level", "loud"}, 2, "2 problem(s)"},
		{[]string{"serve", "--database-url", "mysql://x"}, 2, "sqlite:PATH"},
		{[]string{"serve", "--config", "absent.yaml"}, 2, "absent.yaml"},
		{[]string{"serve", "--config", ""}, 2, "--config is empty"},
		{[]string{"serve", "--database-url", "postgres://user:s3cret@127.0.0.1:1/none"}, 1, "cannot connect"},
		{[]string{"serve", "--database-url", "sqlite:empty.db", "--no-migrate"}, 1, "db migrate"},
		{[]string{"serve", "--listen", "203.0.113.1:1"}, 1, "cannot listen"},
	} {
		p := launch(t, t.TempDir(), c.args...)
		select {
		case <-p.exited:
		case <-time.After(30 * time.Second):
			t.Fatalf("%v went on", c.args)
		}
		log := p.stderr.String()
		if code := p.cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(log, c.want) {
			t.Errorf("%v: exit code %d, want %d; %q", c.args, code, c.code, log)
		}
		if strings.Contains(log, "s3cret") {
			t.Errorf("%v: the password is shown: %q", c.args, log)
		}
	}
}

// A request that does not end is cut off when its time is over, and the shutdown proceeds as usual.
func TestStopCutsOffWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	at, ended := make(chan struct{}), make(chan struct{})
	public := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(at)
		<-r.Context().Done()
		close(ended)
	}))
	defer public.Close()
	answered := make(chan error, 1)
	go func() {
		res, err := http.Get(public.URL)
		if err == nil {
			res.Body.Close()
		}
		answered <- err
	}()
	<-at
	var logged bytes.Buffer
	n := &node{log: slog.New(slog.NewTextHandler(&logged, nil))}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := n.shutdown(ctx, public.Config, nil); err != nil {
		t.Error(err)
	}
	if err := <-answered; err == nil {
		t.Error("a request that never ends was answered")
	}
	<-ended
	if !strings.Contains(logged.String(), "requests that did not end in time were cut off") {
		t.Errorf("%q", logged.String())
	}
}
