package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	neturl "net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// silentPostgres returns a URL that leads to a new PostgreSQL database through a proxy, and the database's own URL.
// After silence is called, all connections stay open but nothing passes, as in a network that drops packets.
func silentPostgres(t *testing.T) (url, direct string, silence func()) {
	t.Helper()
	direct = storetest.NewPostgres(t)
	u, err := neturl.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	silent := make(chan struct{})
	pass := func(to, from net.Conn) {
		defer to.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := from.Read(b)
			select {
			case <-silent:
				<-t.Context().Done()
				return
			default:
			}
			if _, failed := to.Write(b[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("unix", socket)
			if err != nil {
				c.Close()
				continue
			}
			go pass(up, c)
			go pass(c, up)
		}
	}()
	return "postgres://lottery@" + listener.Addr().String() + u.Path + "?sslmode=disable", direct, func() { close(silent) }
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
