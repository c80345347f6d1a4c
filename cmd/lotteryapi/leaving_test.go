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
			url := storetest.EmptyURL(t)
			p := start(t, t.TempDir(), serveArgs(url, "--drain-delay", delay)...)
			key := newKey(t, url, "kept@example.com", "--plan", "pro")
			if out, code := admin(t, url, "accounts", "set-limit", "kept@example.com", "1000000"); code != 0 {
				t.Fatalf("set-limit: %s", out)
			}
			var clients sync.WaitGroup
			var served, stalled atomic.Int64
			for range 16 {
				clients.Go(func() {
					quiet, err := askUntilTold(strings.TrimPrefix(p.base, "http://"), key, &served)
					switch {
					case err != nil && quiet > prompt: // a busy machine kept it from asking, or the server from reading
						stalled.Add(1)
					case err != nil:
						t.Errorf("a client that was not told: %v", err)
					}
				})
			}
			storetest.Until(t, "requests", func() bool { return served.Load() > 500 || t.Failed() })
			if code := p.stop(t); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.stderr)
			}
			clients.Wait()
			if used := int64(usedToday(t, url, "kept@example.com")); used < served.Load() || used > served.Load()+stalled.Load() {
				t.Errorf("%d requests were answered, %d not, %d counted", served.Load(), stalled.Load(), used)
			}
		})
	}
}

// prompt is how soon after an answer a client must get the next one to count on being told: well within lastRequests.
const prompt = lastRequests / 2

// askUntilTold makes requests on one connection, and repeats none, until an answer says that the connection ends. quiet
// is the time since the last answer, or since it connected.
func askUntilTold(addr, key string, served *atomic.Int64) (quiet time.Duration, err error) {
	last := time.Now()
	defer func() { quiet = time.Since(last) }()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	answers := bufio.NewReader(c)
	for {
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n\r\n", countedPath, key); err != nil {
			return 0, err
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			return 0, err
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return 0, err
		}
		if res.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("status %s", res.Status)
		}
		last = time.Now()
		served.Add(1)
		if res.Close {
			return 0, nil
		}
		time.Sleep(2 * time.Millisecond) // between requests the connection is idle, as most are
	}
}

// A connection on which nothing was ever asked, such as browsers open in advance, does not hold up a stop. net/http would
// wait 5 seconds for it, each time; a busy machine may be slow once.
func TestSilentConnectionsDoNotHoldUpAStop(t *testing.T) {
	t.Parallel()
	var took time.Duration
	for range 3 {
		p := start(t, t.TempDir(), serveArgs(storetest.EmptyURL(t))...)
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
		if took = time.Since(began); took < 5*time.Second {
			return
		}
	}
	t.Errorf("the stop took %s", took)
}
