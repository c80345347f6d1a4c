package storetest

import (
	"net"
	neturl "net/url"
	"path/filepath"
	"sync/atomic"
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

// Link returns a TCP address that leads to a server at a Unix socket. watch is called for each connection and returns
// what sees each piece that the client sends, or the server, before it is passed on, and ends the connection where it
// returns false; nil lets everything pass.
func Link(t testing.TB, socket string, watch func(client net.Conn) (sent, answered func(piece []byte) bool)) (address string) {
	t.Helper()
	return Listen(t, func(client net.Conn) {
		server, err := net.Dial("unix", socket)
		if err != nil {
			_ = client.Close()
			return
		}
		sent, answered := watch(client)
		go relay(server, client, sent)
		go relay(client, server, answered)
	})
}

// relay passes on what comes from one side until either ends or pass returns false.
func relay(to, from net.Conn, pass func(piece []byte) bool) {
	defer func() { _ = to.Close() }()
	for b := make([]byte, 64<<10); ; {
		n, err := from.Read(b)
		if n > 0 && pass != nil && !pass(b[:n]) {
			return
		}
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

// OverTCP is a Link on which what a client sends arrives after delay.
func OverTCP(t testing.TB, socket string, delay time.Duration) (address string) {
	t.Helper()
	return Link(t, socket, func(net.Conn) (sent, answered func([]byte) bool) {
		return func([]byte) bool { time.Sleep(delay); return true }, nil
	})
}

// CountRoundTrips is a Link that counts its round trips: how often a client sent something after the server had, or at
// first.
func CountRoundTrips(t testing.TB, socket string) (address string, trips *atomic.Int64) {
	t.Helper()
	trips = new(atomic.Int64)
	return Link(t, socket, func(net.Conn) (sent, answered func([]byte) bool) {
		var asked atomic.Bool
		return func([]byte) bool {
			if !asked.Swap(true) {
				trips.Add(1)
			}
			return true
		}, func([]byte) bool { asked.Store(false); return true }
	}), trips
}

// PostgresSocket returns the Unix socket of the PostgreSQL server at url.
func PostgresSocket(t testing.TB, url string) string {
	t.Helper()
	return filepath.Join(parse(t, url).Query().Get("host"), ".s.PGSQL.5432")
}

// PostgresAt returns the URL of the same database and user at a TCP address, such as a Link to its socket.
func PostgresAt(t testing.TB, url, address string) string {
	t.Helper()
	u := parse(t, url)
	u.Host, u.RawQuery = address, "sslmode=disable"
	return u.String()
}

func parse(t testing.TB, url string) *neturl.URL {
	t.Helper()
	u, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
