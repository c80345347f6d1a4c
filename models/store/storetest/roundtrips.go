package storetest

import (
	"net"
	"sync/atomic"
	"testing"
)

// CountRoundTrips returns a TCP address that leads to the server at a Unix socket, and the number of round trips made
// through it: how often a client sent something after the server had, or at first.
func CountRoundTrips(t testing.TB, socket string) (address string, trips *atomic.Int64) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	trips = new(atomic.Int64)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", socket)
			if err != nil {
				_ = client.Close()
				continue
			}
			var asked atomic.Bool
			go relay(client, server, func() { asked.Store(false) })
			go relay(server, client, func() {
				if !asked.Swap(true) {
					trips.Add(1)
				}
			})
		}
	}()
	return listener.Addr().String(), trips
}

// relay passes on what comes from one side until either ends, and calls note before each piece.
func relay(to, from net.Conn, note func()) {
	defer func() { _ = to.Close() }()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			note()
		}
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}
