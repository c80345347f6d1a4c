//go:build unix

package middleware

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// arrived reports whether the system holds something of c, or its end, that nobody has read.
func arrived(c net.Conn) (yes bool) {
	conn, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		yes = n > 0 && err == nil
	})
	return yes && err == nil
}
