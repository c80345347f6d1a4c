package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// A client that sends half of a request and no more is not waited for, on either listener, even while the server has
// nothing else to do.
func TestHalfRequestsEnd(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), serveArgs(storetest.EmptyURL(t), "--ops-listen", "127.0.0.1:0")...)
	public, ops := strings.TrimPrefix(p.base, "http://"), strings.TrimPrefix(opsListening(p.stderr.String()), "http://")
	const late = 10 * time.Second // how much so a busy machine may be
	var clients sync.WaitGroup
	for _, client := range []struct {
		what, addr, request string
		waits               time.Duration
	}{
		{"half a header", public, "GET /v1/games HTTP/1.1\r\nHost: x\r\n", readHeaderTimeout},
		{"half a body", public, "POST /sign-up HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 30\r\n\r\nemail=", readTimeout},
		{"half a header to the operator's listener", ops, "GET /metrics HTTP/1.1\r\nHost: x\r\n", readHeaderTimeout},
		{"half a body to the operator's listener", ops, "POST /debug/pprof/symbol HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n0x", readTimeout},
	} {
		clients.Go(func() {
			c, err := net.Dial("tcp", client.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			began := time.Now()
			fmt.Fprint(c, client.request)
			if err := c.SetReadDeadline(began.Add(client.waits + late)); err != nil {
				t.Error(err)
				return
			}
			answer, err := io.ReadAll(c)
			took := time.Since(began)
			if err != nil || took < client.waits/2 {
				t.Errorf("%s: the server gave up after %v: %v; want %v. It said %q", client.what, took, err, client.waits, answer)
			}
		})
	}
	clients.Wait()
}
