package middleware_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"lottery/api/middleware"
)

// accepted returns both ends of a connection: the server's, with bound and deadlines, and the client's.
func accepted() (server, client net.Conn, stop func(), err error) { return acceptedLast(1) }

// acceptedLast is accepted for the last of n connections; the others stay open.
func acceptedLast(n int) (server, client net.Conn, stop func(), err error) {
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, nil, err
	}
	defer raw.Close()
	bounded := middleware.NewConnections(0).Listen(raw)
	var open []net.Conn
	stop = func() {
		for _, c := range open {
			c.Close()
		}
	}
	for range n {
		if client, err = net.Dial("tcp", raw.Addr().String()); err != nil {
			break
		}
		open = append(open, client)
		if server, err = bounded.Accept(); err != nil {
			break
		}
		open = append(open, server)
	}
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	return server, client, stop, nil
}

// A connection keeps the promises of every net.Conn, according to the Go project's own test.
func TestConnectionIsAConn(t *testing.T) {
	t.Parallel()
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) { return accepted() })
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		server, client, stop, err := accepted()
		return client, server, stop, err
	})
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) { return acceptedLast(20) }) // many connections: complete answers yield first
}

// A one-byte read while no request is being answered is ordinary: it returns its byte, or ends with its deadline,
// whether that is set before or during the read, or with the connection.
func TestReadOfOneByte(t *testing.T) {
	t.Parallel()
	read := func(c net.Conn) <-chan error {
		done := make(chan error, 1)
		go func() {
			var b [1]byte
			_, err := io.ReadFull(c, b[:])
			if err == nil && b[0] != 'x' {
				err = fmt.Errorf("read %q", b)
			}
			done <- err
		}()
		return done
	}
	for _, c := range []struct {
		name  string
		after time.Duration // how long the read has waited
		do    func(server, client net.Conn) error
		want  error
	}{
		{"comes", 0, func(_, client net.Conn) error { _, err := client.Write([]byte("x")); return err }, nil},
		{"comes late", 400 * time.Millisecond, func(_, client net.Conn) error { _, err := client.Write([]byte("x")); return err }, nil},
		{"deadline", 0, func(server, _ net.Conn) error { return server.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		{"deadline soon", 50 * time.Millisecond, func(server, _ net.Conn) error { return server.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		{"deadline while reading", 400 * time.Millisecond, func(server, _ net.Conn) error { return server.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		{"deadline ahead", 50 * time.Millisecond, func(server, _ net.Conn) error { return server.SetReadDeadline(time.Now().Add(50 * time.Millisecond)) }, os.ErrDeadlineExceeded},
		{"deadline moved while reading", 50 * time.Millisecond, func(server, client net.Conn) error {
			for _, at := range []time.Time{time.Now().Add(time.Hour), {}} {
				if err := server.SetReadDeadline(at); err != nil {
					return err
				}
			}
			_, err := client.Write([]byte("x"))
			return err
		}, nil},
		{"closed", 50 * time.Millisecond, func(server, _ net.Conn) error { return server.Close() }, net.ErrClosed},
		{"closed while reading", 400 * time.Millisecond, func(server, _ net.Conn) error { return server.Close() }, net.ErrClosed},
		{"client gone", 50 * time.Millisecond, func(_, client net.Conn) error { return client.Close() }, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server, client, stop, err := accepted()
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			done := read(server)
			time.Sleep(c.after) // the wait is what this case tests
			if err := c.do(server, client); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				if !errors.Is(err, c.want) {
					t.Fatalf("%v, not %v", err, c.want)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("it does not end")
			}
			if !errors.Is(c.want, os.ErrDeadlineExceeded) {
				return
			}
			if err := server.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if err := <-read(server); err != nil {
				t.Errorf("after its deadline was taken away: %v", err)
			}
			if err := server.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-read(server):
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("a new deadline: %v", err)
				}
			case <-time.After(30 * time.Second):
				t.Error("a new deadline does not end it")
			}
		})
	}
}

// A read that begins after the connection was closed ends, as a handler that waits for its client expects.
func TestReadOfOneByteAfterClose(t *testing.T) {
	t.Parallel()
	server, _, stop, err := accepted()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := server.Read(make([]byte, 1))
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
}

// timed is a server with time limits far below those of the test itself.
func timed(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	conns := middleware.NewConnections(0)
	server := httptest.NewUnstartedServer(h)
	server.Listener = conns.Listen(server.Listener)
	server.Config.ConnState, server.Config.ConnContext = conns.State, conns.Context
	server.Config.ReadHeaderTimeout, server.Config.ReadTimeout = 300*time.Millisecond, 900*time.Millisecond
	server.Config.WriteTimeout, server.Config.IdleTimeout = 900*time.Millisecond, 300*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// Every time limit of a server is enforced: not early, and not much too late.
func TestServerKeepsItsTimes(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	server := timed(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/body":
			_, err := io.ReadAll(r.Body)
			ended <- err
		case "/large":
			_, err := w.Write(make([]byte, 64<<20)) // more than the system's buffers hold
			ended <- err
		}
	})
	for _, c := range []struct {
		name, text string
		least      time.Duration
		fails      bool // whether the handler's read or write fails
	}{
		{"headers that do not end", "GET / HTTP/1.1\r\nHost: x\r\nX-Half:", 300 * time.Millisecond, false},
		{"a body that does not end", "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf", 900 * time.Millisecond, true},
		{"an answer that is not read", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n", 900 * time.Millisecond, true},
		{"no second request", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 300 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			client := dial(t, server, c.text)
			if c.fails {
				select {
				case err := <-ended:
					if !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("the handler saw %v", err)
					}
				case <-time.After(30 * time.Second):
					t.Fatal("it does not end")
				}
			}
			_ = client.SetReadDeadline(time.Now().Add(30 * time.Second))
			if _, err := io.Copy(io.Discard, client); isTimeout(err) {
				t.Error("the connection stays open")
			}
			if took := time.Since(began); took < c.least {
				t.Errorf("over after %s, before its time", took)
			}
		})
	}
}

// The limits are enforced on every connection, however many there are.
func TestServerKeepsItsTimesOnAll(t *testing.T) {
	t.Parallel()
	server := timed(t, func(http.ResponseWriter, *http.Request) {})
	var idle []net.Conn
	for range 200 {
		idle = append(idle, dial(t, server, ""))
	}
	until := time.Now().Add(10 * time.Second) // far more than a busy machine needs
	for i, c := range idle {
		_ = c.SetReadDeadline(until)
		if _, err := c.Read(make([]byte, 1)); isTimeout(err) {
			t.Fatalf("connection %d stays open", i)
		}
	}
}

// A handler learns that its client has gone away.
func TestClientGoesAway(t *testing.T) {
	t.Parallel()
	at, gone := make(chan struct{}), make(chan struct{})
	server, _ := bounded(t, 0, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(at)
		<-r.Context().Done()
		close(gone)
	}))
	client := dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-at
	client.Close()
	select {
	case <-gone:
	case <-time.After(30 * time.Second):
		t.Error("it never does")
	}
}

// Requests are read however they are cut, even if one byte of net/http's buffer is left.
func TestRequestsInPieces(t *testing.T) {
	t.Parallel()
	server := timed(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprint(w, len(r.URL.Path), len(body), err)
	})
	const head = "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct{ name, first, rest, want string }{
		{"line", "GET /" + strings.Repeat("x", 4090), "xyz HTTP/1.1\r\nHost: x\r\n\r\n", "4094 0 <nil>"},
		{"header", "GET / HTTP/1.1\r\nX-Long: " + strings.Repeat("x", 4071), "xyz\r\nHost: x\r\n\r\n", "1 0 <nil>"},
		{"chunk", head + "3;" + strings.Repeat("x", 4092) + "\r", "\nabc\r\n0\r\n\r\n", "2 3 <nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := dial(t, server, c.first)
			_ = client.SetDeadline(time.Now().Add(30 * time.Second))
			time.Sleep(50 * time.Millisecond) // let the first piece be read
			if _, err := io.WriteString(client, c.rest); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if body, err := io.ReadAll(res.Body); err != nil || string(body) != c.want {
				t.Errorf("%q %v", body, err)
			}
		})
	}
}

// After a request that took so long that its client was watched, the client can send another; when it sends no more, it
// is disconnected.
func TestIdleAfterSlowRequest(t *testing.T) {
	t.Parallel()
	server := timed(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(350 * time.Millisecond)
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	client := dial(t, server, "")
	_ = client.SetDeadline(time.Now().Add(30 * time.Second))
	answers := bufio.NewReader(client)
	for range 2 {
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if res, err := http.ReadResponse(answers, nil); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%v %v", res, err)
		}
	}
	if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
		t.Errorf("%q %v", rest, err)
	}
}

// A write ends with its deadline, also after an earlier deadline passed and was taken away, as happens between requests.
func TestWriteAfterDeadline(t *testing.T) {
	t.Parallel()
	server, client, stop, err := accepted()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for range 2 {
		if err := server.SetWriteDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(250 * time.Millisecond) // until the deadline has been enforced
		if err := server.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatalf("without a deadline: %v", err)
		}
		if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := server.Write(make([]byte, 64<<20)) // more than the system's buffers hold
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a new deadline: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("a new deadline does not end it")
	}
}

// net/http closes the server's half of a connection if it has not read the whole request, so that the answer arrives.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	server, client, stop, err := accepted()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := server.Write(make([]byte, 4096)); err != nil { // held back until something follows
		t.Fatal(err)
	}
	if err := server.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(client); err != nil || len(answer) != 4096 {
		t.Fatalf("the client read %d bytes, %v", len(answer), err)
	}
	if _, err := client.Write([]byte("xy")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(server, make([]byte, 2)); err != nil {
		t.Errorf("the other half: %v", err)
	}
}
