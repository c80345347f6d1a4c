package mail

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

const (
	// longest bounds the connection for one message, whatever the caller allows. A server that examines a message before
	// it takes it may need half a minute.
	longest = 40 * time.Second
	// lastWords is how long a connection may go on after its caller was told to stop: the server may be about to say that
	// it took the message.
	lastWords = 5 * time.Second
)

// conn is a connection that ends in time. go-mail grants the server its whole timeout again with each stage.
type conn struct {
	net.Conn

	mu    sync.Mutex
	until time.Time
}

// SetDeadline sets the deadline, but none after the end.
func (c *conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.IsZero() || t.After(c.until) {
		t = c.until
	}
	return c.Conn.SetDeadline(t)
}

// endBy brings the end forward.
func (c *conn) endBy(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Before(c.until) {
		c.until = t
		_ = c.Conn.SetDeadline(t)
	}
}

// connected connects to the server, signs in, calls do, says goodbye and closes the connection, which go-mail leaves
// open if it finds no TLS, or no way to authenticate, on it.
func (s *SMTP) connected(ctx context.Context, do func(client *gomail.Client, server *smtp.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	until, _ := ctx.Deadline()
	var opened *conn
	dial := func(dialing context.Context, network, address string) (net.Conn, error) {
		// go-mail 0.8.1 adds the port to an IPv6 address without brackets.
		address = net.JoinHostPort(s.host, address[strings.LastIndexByte(address, ':')+1:])
		raw, err := new(net.Dialer).DialContext(dialing, network, address)
		if err != nil {
			return nil, err
		}
		opened = &conn{Conn: raw, until: until}
		context.AfterFunc(ctx, func() { opened.endBy(time.Now().Add(lastWords)) })
		if !s.tls {
			return opened, nil
		}
		secured := tls.Client(opened, &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12})
		return secured, secured.HandshakeContext(dialing)
	}
	client, err := gomail.NewClient(s.host, append(slices.Clone(s.options), gomail.WithDialContextFunc(dial))...)
	if err != nil {
		return err
	}
	server, err := client.DialToSMTPClientWithContext(ctx)
	if err == nil {
		err = do(client, server)
		_ = server.Quit() // a failure to say goodbye does not matter
	}
	if opened != nil {
		_ = opened.Close() // usually closed already
	}
	return err
}
