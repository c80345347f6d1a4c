package web_test

import (
	"bufio"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
	"lottery/web"
	"lottery/web/mail"
)

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

// tokenIn returns the token of the link in the next message.
func tokenIn(t *testing.T, taken <-chan string) string {
	t.Helper()
	var message string
	select {
	case message = <-taken:
	case <-time.After(10 * time.Second):
		t.Fatal("no mail")
	}
	text, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(message)))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\?token=(lnk_\w+)`).FindSubmatch(text)
	if found == nil {
		t.Fatal("no link")
	}
	return string(found[1])
}

// A link works if its mail arrives, even if the mail server did not say that it took it.
func TestLinkOfAnUnconfirmedMail(t *testing.T) {
	t.Parallel()
	sender, taken := silent(t)
	h := open(t, func(d *web.Deps) { d.Mail, d.Mailbox = sender, nil })
	p := h.person()
	p.post("/sign-in", "email", "ada@example.com").says(t, http.StatusOK, "Check your email")
	p.post("/sign-in/link", "token", tokenIn(t, taken)).says(t, http.StatusOK, "Welcome")
	p.post("/dashboard/account/email", "email", "lovelace@example.com").says(t, http.StatusOK, "We sent a link")
	p.post("/dashboard/account/email/confirm", "token", tokenIn(t, taken)).says(t, http.StatusOK, "Your address has changed")
}
