package middleware_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"lottery/api/middleware"
	"lottery/models/store/storetest"
)

// metricsOf returns a check of the connections' metrics.
func metricsOf(t *testing.T, conns *middleware.Connections) (are func(open, waiting, refused, stalled string) error) {
	t.Helper()
	r := prometheus.NewRegistry()
	conns.Register(r)
	return func(open, waiting, refused, stalled string) error {
		return testutil.GatherAndCompare(r, strings.NewReader(`
# HELP lottery_http_connections Open connections of the public listener.
# TYPE lottery_http_connections gauge
lottery_http_connections `+open+`
# HELP lottery_http_connections_closed_total Connections closed to make room: waiting (idle), refused (all were busy), stalled (sent or read too slowly while requests were shed).
# TYPE lottery_http_connections_closed_total counter
lottery_http_connections_closed_total{reason="refused"} `+refused+`
lottery_http_connections_closed_total{reason="stalled"} `+stalled+`
lottery_http_connections_closed_total{reason="waiting"} `+waiting+`
`))
	}
}

// isOpen reports whether the server has left the connection, on which it has nothing to say, open.
func isOpen(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return isTimeout(err)
}

// As many connections as are allowed stay open. One more closes the oldest that wait, a sixteenth of all; what clients
// close themselves makes room too.
func TestOldestGiveWay(t *testing.T) {
	t.Parallel()
	const most, giveWay = 32, 3
	server, conns := bounded(t, most, http.NotFoundHandler())
	are := metricsOf(t, conns)
	if err := are("0", "0", "0", "0"); err != nil {
		t.Error(err)
	}
	var clients []net.Conn
	for range most {
		clients = append(clients, dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\nX-Half:"))
	}
	storetest.Until(t, "all connections", func() bool { return are("32", "0", "0", "0") == nil })
	time.Sleep(300 * time.Millisecond) // until the oldest are old enough
	clients = append(clients, dial(t, server, ""))
	storetest.Until(t, "the oldest to give way", func() bool { return are("30", "3", "0", "0") == nil })
	for i, c := range clients {
		if isOpen(c) != (i >= giveWay) {
			t.Errorf("connection %d of %d: open %v", i, len(clients), isOpen(c))
		}
		c.Close()
	}
	storetest.Until(t, "the end of all connections", func() bool { return are("0", "3", "0", "0") == nil })
}

// A connection on which requests are made stays open, however old it is: those that ask for nothing give way.
func TestUsedConnectionsDoNotGiveWay(t *testing.T) {
	t.Parallel()
	const most, giveWay = 32, 3
	server, conns := bounded(t, most, http.NotFoundHandler())
	are := metricsOf(t, conns)
	used := dial(t, server, "")
	answers := bufio.NewReader(used)
	ask := func() error {
		if _, err := io.WriteString(used, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return err
		}
		res, err := http.ReadResponse(answers, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
		}
		return err
	}
	storetest.Until(t, "the first connection", func() bool { return are("1", "0", "0", "0") == nil })
	for range most - 1 {
		dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\nX-Half:")
	}
	storetest.Until(t, "all connections", func() bool { return are("32", "0", "0", "0") == nil })
	for round := range 8 { // more give way in all than there are half headers at first
		time.Sleep(300 * time.Millisecond) // until all are old enough, and the clock that sees what is used has ticked
		if err := ask(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for range giveWay {
			dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\nX-Half:")
		}
		closed := strconv.Itoa((round + 1) * giveWay)
		storetest.Until(t, "half headers to give way", func() bool { return are("32", closed, "0", "0") == nil })
	}
	if err := ask(); err != nil {
		t.Error(err)
	}
}

// If every connection is busy, a new one is closed, and those go on.
func TestBusyConnectionsDoNotGiveWay(t *testing.T) {
	t.Parallel()
	arrived, letGo := make(chan struct{}), make(chan struct{})
	server, conns := bounded(t, 2, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-letGo
		_, _ = io.WriteString(w, "ok")
	}))
	end := sync.OnceFunc(func() { close(letGo) })
	t.Cleanup(end) // or the server could not close
	are := metricsOf(t, conns)
	var busy []net.Conn
	for range 2 {
		busy = append(busy, dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
		<-arrived
	}
	refused, err := net.Dial("tcp", server.Listener.Addr().String())
	if err == nil {
		defer refused.Close()
		_ = refused.SetReadDeadline(time.Now().Add(30 * time.Second))
		_, err = refused.Read(make([]byte, 1))
	} // or it was closed before Dial looked
	if isTimeout(err) {
		t.Error("one more stays open")
	}
	if err := are("2", "0", "1", "0"); err != nil {
		t.Error(err)
	}
	end()
	for _, c := range busy {
		if text, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(text), "\r\n\r\nok") {
			t.Errorf("%q %v", text, err)
		}
	}
}

// Clients that announce a body and never send it keep nobody out, even though net/http waits for that body after the
// handler has answered. Neither do clients that send requests and read no answer. What is being answered goes on.
func TestHalfSentRequestsGiveWay(t *testing.T) {
	t.Parallel()
	for name, half := range map[string]string{
		"body":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n",
		"chunks": "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"reader": "GET /long HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const most = 32
			arrived, letGo := make(chan struct{}), make(chan struct{})
			server, conns := bounded(t, most, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/slow":
					arrived <- struct{}{}
					<-letGo
				case "/long":
					_, _ = w.Write(make([]byte, 64<<20)) // more than the system's buffers hold
				}
				_, _ = io.WriteString(w, "ok")
			}))
			end := sync.OnceFunc(func() { close(letGo) })
			t.Cleanup(end) // or the server could not close
			slow := dial(t, server, "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			<-arrived
			for range most - 1 {
				dial(t, server, half)
			}
			are := metricsOf(t, conns)
			storetest.Until(t, "all connections", func() bool { return are("32", "0", "0", "0") == nil })
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
			began := time.Now()
			storetest.Until(t, "an answer among the stalled", func() bool {
				res, err := client.Get(server.URL)
				if err == nil {
					res.Body.Close()
				}
				return err == nil
			})
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("the first answer took %s", took)
			}
			end()
			if text, err := io.ReadAll(slow); err != nil || !strings.HasSuffix(string(text), "\r\n\r\nok") {
				t.Errorf("%q %v", text, err)
			}
		})
	}
}

// What a client that is cut off has not taken is discarded: the system does not keep it until the client comes for it.
func TestAnswerOfAStalledReaderIsDiscarded(t *testing.T) {
	t.Parallel()
	server, conns := bounded(t, 0, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 64<<20)) // more than the system's buffers hold
	}))
	are := metricsOf(t, conns)
	client := dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	storetest.Until(t, "the stalled reader to be cut off", func() bool {
		conns.Press()
		return are("0", "0", "0", "1") == nil
	})
	if n, err := io.Copy(io.Discard, client); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes were left, then %v", n, err)
	}
}

// A listener may be closed twice: by a server that stops, and by net/http's Shutdown if that has not noticed yet.
func TestListenerIsClosedTwice(t *testing.T) {
	t.Parallel()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := middleware.NewConnections(0).Listen(raw)
	for range 2 {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}
}
