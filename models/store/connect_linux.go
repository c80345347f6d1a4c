package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter sets TCP_USER_TIMEOUT (https://man7.org/linux/man-pages/man7/tcp.7.html). Sockets other than TCP
// neither have nor need it.
func giveUpAfter(fd int, d time.Duration) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
}
