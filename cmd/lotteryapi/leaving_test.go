package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// Clients that keep their connections lose no request when the server stops, with a drain delay or without: an answer
// tells each that its connection ends.
func TestKeptConnectionsAreToldToEnd(t *testing.T) {
	t.Parallel()
	for _, delay := range []string{"0s", "500ms"} {
		t.Run(delay, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			p := start(t, t.TempDir(), serveArgs(url, "--drain-delay", delay)...)
			key := newKey(t, url, "kept@example.com", "--plan", "pro")
			if out, code := admin(t, url, "accounts", "set-limit", "kept@example.com", "1000000"); code != 0 {
				t.Fatalf("set-limit: %s", out)
			}
			var clients sync.WaitGroup
			var served atomic.Int64
			for range 16 {
				clients.Go(func() {
					if err := askUntilTold(strings.TrimPrefix(p.base, "http://"), key, &served); err != nil {
						t.Errorf("a client that was not told: %v", err)
					}
				})
			}
			waitUntil(t, "requests", func() bool { return served.Load() > 500 || t.Failed() })
			if code := p.stop(t); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.stderr)
			}
			clients.Wait()
			if used := usedToday(t, url, "kept@example.com"); used != int(served.Load()) {
				t.Errorf("%d requests were answered, %d counted", served.Load(), used)
			}
		})
	}
}

// askUntilTold makes requests on one connection, and repeats none, until an answer says that the connection ends.
func askUntilTold(addr, key string, served *atomic.Int64) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	answers := bufio.NewReader(c)
	for {
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n\r\n", countedPath, key); err != nil {
			return err
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", res.Status)
		}
		served.Add(1)
		if res.Close {
			return nil
		}
		time.Sleep(2 * time.Millisecond) // between requests the connection is idle, as most are
	}
}

// A connection on which nothing was ever asked, such as browsers open in advance, does not hold up a stop.
func TestSilentConnectionsDoNotHoldUpAStop(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), serveArgs(storetest.URL(t))...)
	c, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if status, _ := p.get(t, "/healthz", ""); status != http.StatusOK { // the silent one has been accepted, too
		t.Fatal(status)
	}
	began := time.Now()
	if code := p.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the stop took %s", took)
	}
}
