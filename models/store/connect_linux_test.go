package store

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection whose other end died is noticed soon, idle or not.
func TestDeadConnectionsAreNoticed(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c, err := dialer(connectFor).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		for name, option := range map[string][3]int{
			"keep-alive": {unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1}, "seconds idle": {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 10},
			"seconds between": {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5}, "probes": {unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 2},
			"milliseconds unacknowledged": {unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 20_000},
		} {
			if got, err := unix.GetsockoptInt(int(fd), option[0], option[1]); err != nil || got != option[2] {
				t.Errorf("%s: %d, %v", name, got, err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
