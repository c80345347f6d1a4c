package middleware_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"lottery/api/middleware"
)

// bounded is a server with at most that many connections.
func bounded(t *testing.T, most int, h http.Handler) (server *httptest.Server, conns *middleware.Connections) {
	t.Helper()
	conns = middleware.NewConnections(most)
	server = httptest.NewUnstartedServer(h)
	server.Listener = conns.Listen(server.Listener)
	server.Config.ConnState, server.Config.ConnContext = conns.State, conns.Context
	server.Start()
	t.Cleanup(server.Close)
	return server, conns
}

func dial(t *testing.T, server *httptest.Server, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil && text != "" { // an empty write too reports that the server refused it
		t.Fatal(err)
	}
	return c
}

func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func connect(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func accept(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Idle connections are closed for new ones, oldest first; one on which a request is being answered never is.
func TestWaitingConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	arrived, letGo := make(chan struct{}), make(chan struct{})
	server, _ := bounded(t, 32, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			arrived <- struct{}{}
			<-letGo
		}
		_, _ = io.WriteString(w, "ok")
	}))
	slow := dial(t, server, "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	<-arrived
	var loris []net.Conn
	for range 200 {
		loris = append(loris, dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\nX-Half:"))
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	for range 100 {
		res, err := client.Get(server.URL)
		if err != nil {
			t.Fatalf("a client among %d half headers: %v", len(loris), err)
		}
		res.Body.Close()
	}
	_ = loris[0].SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := loris[0].Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the oldest that waited is still open: %v", err)
	}
	close(letGo)
	text, err := io.ReadAll(slow)
	if err != nil || !bytes.Contains(text, []byte("\r\n\r\nok")) {
		t.Errorf("the one at work: %q %v", text, err)
	}
}

// A brand-new connection is not closed: if too many arrive at once, the next waits until the oldest is old enough.
func TestNewConnectionsDoNotGiveWay(t *testing.T) {
	t.Parallel()
	const most = 4
	for range 2 { // the first round may be over before the process is as old as a connection must be
		raw := loopback(t)
		listener := middleware.NewConnections(most).Listen(raw)
		var clients []net.Conn
		for range most + 1 {
			clients = append(clients, connect(t, raw))
		}
		began := time.Now() // taken before the first is accepted, so a slow machine only errs on the safe side
		for range most + 1 {
			server := accept(t, listener)
			go server.Read(make([]byte, 10))
		}
		if age := time.Since(began); age < 250*time.Millisecond {
			t.Errorf("the first gave way after %s", age)
		}
		_ = clients[0].SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := clients[0].Read(make([]byte, 1)); isTimeout(err) {
			t.Error("the first did not give way")
		}
	}
}

// A new connection waits for the oldest to be old enough only while there is no room: not once another has ended.
func TestEndedConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	raw := loopback(t)
	listener := middleware.NewConnections(1).Listen(raw)
	connect(t, raw)
	server := accept(t, listener)
	began := time.Now()
	const rounds = 40
	for range rounds {
		connect(t, raw)
		time.AfterFunc(10*time.Millisecond, func() { server.Close() })
		server = accept(t, listener)
	}
	if took := time.Since(began); took > rounds*125*time.Millisecond { // half of what they would wait to be old enough
		t.Errorf("%d connections waited %s", rounds, took)
	}
}

func isTimeout(err error) bool {
	fault, ok := err.(net.Error)
	return ok && fault.Timeout()
}

// While requests are refused, a client that does not read its answers is cut off, be they large or small; a
// client that reads them is not.
func TestStalledReadersAreCut(t *testing.T) {
	t.Parallel()
	for path, answer := range map[string][]byte{"/large": make([]byte, 64<<20), "/small": make([]byte, 2<<10)} { // the large one exceeds the system's buffers
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			server, conns := bounded(t, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					_, _ = w.Write(answer)
				}
			}))
			c := dial(t, server, "")
			cut := make(chan error, 1)
			go func() {
				for {
					if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
						cut <- err
						return
					}
				}
			}()
			deadline := time.After(time.Minute)
			for {
				conns.Press()
				select {
				case err := <-cut:
					if isTimeout(err) {
						t.Error(err)
					}
					if res, err := http.Get(server.URL); err != nil || res.StatusCode != http.StatusOK {
						t.Errorf("another client: %v", err)
					}
					return
				case <-deadline:
					t.Fatal("the stalled reader keeps its place")
				case <-time.After(20 * time.Millisecond): // only time shows that a client has stalled
				}
			}
		})
	}
}

// While requests are refused, a client that sends a request byte by byte is cut off; a connection that waits for the
// next request, or for its answer, is not.
func TestSlowSendersAreCut(t *testing.T) {
	t.Parallel()
	held, letGo := context.WithCancel(t.Context())
	server, conns := bounded(t, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-held.Done()
			if r.Context().Err() != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(letGo)
	dial(t, server, "").Close()
	time.Sleep(250 * time.Millisecond) // time begins anew with each first connection
	idle, waiting := dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"), dial(t, server, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	answer := bufio.NewReader(idle)
	if res, err := http.ReadResponse(answer, nil); err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	slow, began := dial(t, server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"), time.Now()
	for {
		conns.Press()
		if _, err := slow.Write([]byte("x")); err != nil {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatal("the slow sender keeps its place")
		}
		time.Sleep(20 * time.Millisecond) // the slowness is what is tested
	}
	if took := time.Since(began); took < 1500*time.Millisecond {
		t.Errorf("the slow sender was cut off after %s, long before 2 s", took)
	}
	letGo()
	if res, err := http.ReadResponse(bufio.NewReader(waiting), nil); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("who waited for an answer: %v", err)
	}
	if _, err := io.WriteString(idle, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if res, err := http.ReadResponse(answer, nil); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("who waited for nothing: %v", err)
	}
}

// While requests are refused, a client is not cut off for being slow as long as it moves: if it takes one piece of its
// answer after the other, or sends many requests of which none takes long.
func TestSteadyClientsAreNotCut(t *testing.T) {
	t.Parallel()
	const lasts = 3 * time.Second // a stalled client is cut after 2
	server, conns := bounded(t, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for r.URL.Path == "/long" && r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 256<<10)); err != nil {
				return
			}
		}
	}))
	pressed, stop := context.WithCancel(t.Context())
	var pressing sync.WaitGroup
	pressing.Go(func() {
		for pressed.Err() == nil {
			conns.Press()
			time.Sleep(20 * time.Millisecond) // only time shows that a client has stalled
		}
	})
	t.Cleanup(func() { stop(); pressing.Wait() })
	t.Run("reader", func(t *testing.T) {
		t.Parallel()
		client, piece := dial(t, server, "GET /long HTTP/1.1\r\nHost: x\r\n\r\n"), make([]byte, 256<<10)
		for began := time.Now(); time.Since(began) < lasts; time.Sleep(10 * time.Millisecond) { // the slowness is what is tested
			if _, err := io.ReadFull(client, piece); err != nil {
				t.Fatalf("after %s: %v", time.Since(began), err)
			}
		}
	})
	t.Run("sender", func(t *testing.T) {
		t.Parallel()
		client := dial(t, server, "")
		answers := bufio.NewReader(client)
		for began := time.Now(); time.Since(began) < lasts; {
			_, err := io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")
			time.Sleep(250 * time.Millisecond) // the slowness is what is tested
			if err == nil {
				_, err = io.WriteString(client, "x")
			}
			if err == nil {
				_, err = http.ReadResponse(answers, nil)
			}
			if err != nil {
				t.Fatalf("after %s: %v", time.Since(began), err)
			}
			time.Sleep(150 * time.Millisecond) // between requests it waits for nothing
		}
	})
}
