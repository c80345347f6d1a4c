package main

import (
	"net"
	"strings"
	"testing"
)

// healthcheck's exit code tells a container's supervisor what it needs to know.
func TestHealthcheck(t *testing.T) {
	t.Parallel()
	ask := func(address string, more ...string) (code int, said string) {
		var stdout strings.Builder
		code, stderr := runHere(t.Context(), &stdout, append([]string{"healthcheck", "--listen", address}, more...)...)
		return code, stdout.String() + stderr
	}
	p := start(t, t.TempDir(), serveArgs("sqlite:lottery.db")...)
	address := strings.TrimPrefix(p.base, "http://")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, listen := range []string{address, "0.0.0.0:" + port, ":" + port} {
		if code, said := ask(listen); code != 0 || !strings.Contains(said, `"ok"`) {
			t.Errorf("%s: exit code %d: %s", listen, code, said)
		}
	}
	if code, said := ask(address, "--ready"); code != 0 || !strings.Contains(said, `"ready"`) {
		t.Errorf("ready: exit code %d: %s", code, said)
	}
	if code := p.stop(t); code != 0 {
		t.Fatalf("the server ended with %d", code)
	}
	if code, said := ask(address); code != 1 || !strings.Contains(said, "does not respond") {
		t.Errorf("stopped: exit code %d: %s", code, said)
	}
}
