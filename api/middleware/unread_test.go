//go:build unix

package middleware_test

import (
	"io"
	"net"
	"testing"
	"time"

	"lottery/api/middleware"
)

// frozen accepts connections whose reads do not return, whatever arrives, as if the server were kept from running.
type frozen struct {
	net.Listener

	begun, end chan struct{}
}

func (f frozen) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return frozenConn{c.(*net.TCPConn), f}, nil
}

type frozenConn struct {
	*net.TCPConn

	of frozen
}

func (c frozenConn) Read([]byte) (int, error) {
	c.of.begun <- struct{}{}
	<-c.of.end
	return 0, io.EOF
}

// A connection of which this server has something to read, or does not even read yet, does not give way: it is not the
// client who is late. If that is true of all, the new one is refused.
func TestUnreadConnectionsDoNotGiveWay(t *testing.T) {
	t.Parallel()
	const most = 4
	raw, end := loopback(t), make(chan struct{})
	defer close(end)
	begun := make(chan struct{})
	listener := middleware.NewConnections(most).Listen(frozen{raw, begun, end})
	var clients []net.Conn
	for i := range most {
		clients = append(clients, connect(t, raw))
		server := accept(t, listener)
		if i == 1 {
			continue
		}
		go server.Read(make([]byte, 10))
		<-begun
	}
	send := func(i int) {
		if _, err := io.WriteString(clients[i], "GET"); err != nil {
			t.Fatal(err)
		}
	}
	send(0)
	time.Sleep(300 * time.Millisecond) // until all are old enough
	clients = append(clients, connect(t, raw))
	accept(t, listener)
	for i, c := range clients {
		if isOpen(c) != (i != 2) {
			t.Errorf("connection %d: open %v", i, isOpen(c))
		}
	}
	send(3)
	time.Sleep(300 * time.Millisecond)
	refused := connect(t, raw)
	go listener.Accept() // returns when the test is over
	_ = refused.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := refused.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("one more stays open: %v", err)
	}
}
