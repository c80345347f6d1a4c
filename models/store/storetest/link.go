package storetest

import (
	"io"
	"net"
	"testing"
	"time"
)

// Listen returns the address of a TCP listener that passes each connection to serve, until the test ends.
func Listen(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serve(client)
		}
	}()
	return listener.Addr().String()
}

// OverTCP returns a TCP address for a server that listens on a Unix socket. What a client sends arrives after delay.
func OverTCP(t testing.TB, socket string, delay time.Duration) string {
	t.Helper()
	return Listen(t, func(client net.Conn) {
		server, err := net.Dial("unix", socket)
		if err != nil {
			_ = client.Close()
			return
		}
		pass := func(to io.WriteCloser, from io.Reader) { _, _ = io.Copy(to, from); _ = to.Close() }
		go pass(client, server)
		go pass(server, late{client, delay})
	})
}

// late is a reader whose every piece comes later than it was sent.
type late struct {
	io.Reader

	delay time.Duration
}

func (l late) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	time.Sleep(l.delay)
	return n, err
}
