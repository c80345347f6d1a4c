package feed

import (
	"context"
	"errors"
	"net"
	"net/url"
)

// Reach connects to an address's host, under the same rules as a fetch, and asks for nothing.
func Reach(ctx context.Context, address string, allowPrivate bool) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return errors.New("it is no address that can be fetched")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	dialer := &net.Dialer{}
	if !allowPrivate {
		dialer.Control = publicOnly
	}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}
