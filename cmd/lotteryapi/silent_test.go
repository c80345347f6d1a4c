package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// silentPostgres returns a URL that leads to a new PostgreSQL database through a proxy, and the database's own URL.
// After silence is called, all connections stay open but nothing passes, as in a network that drops packets.
func silentPostgres(t *testing.T) (url, direct string, silence func()) {
	t.Helper()
	direct = storetest.EmptyPostgres(t)
	silent := make(chan struct{})
	pass := func([]byte) bool {
		select {
		case <-silent:
			<-t.Context().Done()
			return false
		default:
			return true
		}
	}
	link := storetest.Link(t, storetest.PostgresSocket(t, direct), func(net.Conn) (sent, answered func([]byte) bool) { return pass, pass })
	return storetest.PostgresAt(t, direct, link), direct, func() { close(silent) }
}

// While the database does not respond, pages that wait for it do not take the places of requests served from memory;
// and a server that is told to stop does so, and says what could not be stored.
func TestSilentDatabase(t *testing.T) {
	t.Parallel()
	url, direct, silence := silentPostgres(t)
	key := newKey(t, direct, "dev@example.com")
	p := start(t, t.TempDir(), serveArgs(url, "--max-in-flight", "8")...)
	if status, _ := p.get(t, "/v1/games", key); status != http.StatusOK {
		t.Fatal(status)
	}
	silence()
	refused := make(chan int, 8)
	for range 8 {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /status HTTP/1.1\r\nHost: x\r\n\r\n")
		go func() {
			if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
				refused <- res.StatusCode
			}
		}()
	}
	for range 4 {
		select {
		case status := <-refused:
			if status != http.StatusServiceUnavailable {
				t.Errorf("a page that is one too many: %d", status)
			}
		case <-time.After(15 * time.Second): // less than a page may take
			t.Fatal("pages take more than half of the places")
		}
	}
	if status, text := p.get(t, "/v1/games", key); status != http.StatusOK {
		t.Errorf("while half of the places wait: %d %s", status, text)
	}
	if code := p.stop(t); code != 1 || !strings.Contains(p.stderr.String(), "could not be written") {
		t.Errorf("told to stop, it exits with %d\n%s", code, p.stderr)
	}
}
