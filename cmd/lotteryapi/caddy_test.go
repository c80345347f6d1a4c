package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// caddyOptions returns what a Caddyfile, or a text with one, has between two texts, on one line.
func caddyOptions(t *testing.T, file, from, to string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), from)
	_, block, _ = strings.Cut(block, "{")
	block, _, found := strings.Cut(block, to)
	if !found {
		t.Fatalf("%s has no %s", file, from)
	}
	return strings.Join(strings.Fields(block), " ")
}

// The documented example for Caddy and the proxy of compose.yaml have the same options.
func TestCaddyExamplesAgree(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{"reverse_proxy ": "}", "log default ": "\n}\n"} {
		shown, used := caddyOptions(t, "../../docs/operations.md", from, to), caddyOptions(t, "../../docs/operations/Caddyfile", from, to)
		if shown != used {
			t.Errorf("docs/operations.md: %s\nCaddyfile: %s", shown, used)
		}
	}
}

// startCaddy runs Caddy with the Caddyfile of compose.yaml in front of nodes, and returns its address too.
func startCaddy(t *testing.T, nodes ...*process) (p *process, address string) {
	t.Helper()
	if _, err := exec.LookPath("caddy"); err != nil {
		storetest.Missing(t, "caddy")
	}
	text, err := os.ReadFile("../../docs/operations/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	var upstreams []string
	for _, n := range nodes {
		upstreams = append(upstreams, strings.TrimPrefix(n.base, "http://"))
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "Caddyfile")
	config := strings.NewReplacer("\n{\n", "\n{\n\tadmin off\n", "api1:8080 api2:8080", strings.Join(upstreams, " ")).Replace(string(text))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for try := 1; ; try++ { // another test may take the port first
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address = free.Addr().String()
		free.Close()
		p = launchCommand(t, dir, []string{"DOMAIN=http://" + address}, exec.Command("caddy", "run", "--config", file, "--adapter", "caddyfile"))
		ended := false
		storetest.Until(t, "Caddy", func() bool {
			select {
			case <-p.exited:
				ended = true
			default:
			}
			return ended || through(address) == http.StatusOK
		})
		if !ended {
			return p, address
		}
		if try == 3 {
			t.Fatalf("Caddy ended:\n%s", p.stderr)
		}
	}
}

// through returns the status of /healthz at an address; 0 = none.
func through(address string) int {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Get("http://" + address + "/healthz")
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// A stranger whose requests fail on their way does not take the nodes from everybody else: a proxy that counts such
// failures as the nodes' would.
func TestNobodyTakesTheNodesFromCaddy(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	_, address := startCaddy(t, start(t, t.TempDir(), serveArgs(url)...), start(t, t.TempDir(), serveArgs(url)...))
	for range 6 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(c, "POST /v1/games HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n", address)
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if text, _ := io.ReadAll(io.LimitReader(c, 12)); !strings.HasPrefix(string(text), "HTTP/1.1 5") {
			t.Errorf("a request that is no request: %q", text)
		}
		c.Close()
		if status := through(address); status != http.StatusOK {
			t.Fatalf("somebody else gets %d", status)
		}
	}
}

// A node that is killed costs its callers nothing: Caddy tries another until it has noticed.
func TestCaddyGoesRoundAKilledNode(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	killed := start(t, t.TempDir(), serveArgs(url)...)
	_, address := startCaddy(t, killed, start(t, t.TempDir(), serveArgs(url)...))
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-killed.exited
	for range 20 {
		if status := through(address); status != http.StatusOK {
			t.Errorf("%d", status)
		}
	}
}

// Caddy logs a request that no node takes, but neither the key in its header nor a sign-in link.
func TestCaddyLogsNoKey(t *testing.T) {
	t.Parallel()
	node := start(t, t.TempDir(), serveArgs(storetest.EmptyURL(t))...)
	caddy, address := startCaddy(t, node)
	if err := node.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-node.exited
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/v1/games?game=x&token=lnk_secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Api-Key": {"ldk_secret"}, "Cookie": {"session=ses_secret"}, "Referer": {"http://x/sign-in/link?token=lnk_secret"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode < 500 {
		t.Fatalf("status %d", res.StatusCode)
	}
	storetest.Until(t, "the request in Caddy's log", func() bool { return strings.Contains(caddy.stderr.String(), "/v1/games?game=x") })
	if log := caddy.stderr.String(); strings.Contains(log, "_secret") {
		t.Errorf("the log has what it must not:\n%s", log)
	}
}
