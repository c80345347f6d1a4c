package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
)

// notifyReady tells systemd that the server is ready, if it waits for that: in NOTIFY_SOCKET it names the socket (an
// abstract one begins with @, here as in Go). Whoever cannot be told does not keep the server from serving.
func notifyReady(ctx context.Context, socket string, log *slog.Logger) {
	if socket == "" {
		return
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unixgram", socket)
	if err == nil {
		_, err = conn.Write([]byte("READY=1"))
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		log.Warn("systemd cannot be told that the server is ready", "error", err)
	}
}
