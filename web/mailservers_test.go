package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models/store/storetest"
	"lottery/web/mail"
)

// down is a mail server that is down.
type down struct{}

func (down) Send(context.Context, mail.Message) error { return errors.New("connection refused") }

// slow is a mail server that takes ten seconds per mail.
type slow struct {
	mail.Mailbox

	clock *clock
	after func(n int) // called when n mails have been sent
}

func (s *slow) Send(ctx context.Context, m mail.Message) error {
	s.clock.move(10 * time.Second)
	err := s.Mailbox.Send(ctx, m)
	s.after(len(s.All()))
	return err
}

// hanging is a mail server that accepts a mail and then calls after, which makes the database hang and stops the node.
type hanging struct{ after func() }

func (h *hanging) Send(context.Context, mail.Message) error {
	h.after()
	return nil
}

// moody is a mail server that is down at times.
type moody struct {
	mail.Mailbox

	away   atomic.Bool
	before func(mail.Message) // called once, before the next mail is sent
}

func (m *moody) Send(ctx context.Context, message mail.Message) error {
	if before := m.before; before != nil {
		m.before = nil
		before(message)
	}
	if m.away.Load() {
		return down{}.Send(ctx, message)
	}
	return m.Mailbox.Send(ctx, message)
}

// refusing is a mail server that may be down.
type refusing struct {
	mail.Sender
	refuse bool
	hangUp func() // if not nil, ends the request while its mail is being sent
	sent   sync.WaitGroup
}

func (r *refusing) Send(ctx context.Context, m mail.Message) error {
	if r.hangUp != nil {
		r.sent.Add(1)
		defer r.sent.Done()
		r.hangUp()
		select { // wait for the server to see that its client has gone
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
	if r.refuse {
		return errors.New("connection refused")
	}
	return r.Sender.Send(ctx, m)
}

// silent starts a mail server that takes each message and hangs up without saying so. It sends the messages to taken.
func silent(t *testing.T) (sender *mail.SMTP, taken chan string) {
	t.Helper()
	taken = make(chan string, 10)
	address := storetest.Listen(t, func(conn net.Conn) {
		fmt.Fprint(conn, "220 test\r\n")
		var message strings.Builder
		inData := false
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			line := lines.Text()
			if inData && line == "." {
				break
			}
			switch {
			case inData:
				message.WriteString(line + "\r\n")
			case line == "DATA":
				inData = true
				fmt.Fprint(conn, "354 go on\r\n")
			default:
				fmt.Fprint(conn, "250 ok\r\n")
			}
		}
		taken <- message.String()
		conn.Close()
	})
	sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
	if err != nil {
		t.Fatal(err)
	}
	return sender, taken
}

// choosy starts a mail server that takes mail for one recipient only.
func choosy(t *testing.T, recipient string) *mail.SMTP {
	t.Helper()
	address := storetest.Listen(t, func(conn net.Conn) {
		defer conn.Close()
		fmt.Fprint(conn, "220 test\r\n")
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			reply := "250 ok"
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "EHLO"):
				reply = "250-test\r\n250 ENHANCEDSTATUSCODES"
			case strings.HasPrefix(line, "RCPT TO:") && !strings.Contains(line, recipient):
				reply = "550 5.1.1 no such user"
			case line == "DATA":
				reply = "354 go on"
			}
			fmt.Fprint(conn, reply+"\r\n")
		}
	})
	sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
	if err != nil {
		t.Fatal(err)
	}
	return sender
}
