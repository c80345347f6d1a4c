package mail_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"lottery/web/mail"
)

// server starts a mail server that accepts one message and sends it to got.
func server(t *testing.T) (address string, got chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serverOn(t, listener)
}

func serverOn(t *testing.T, listener net.Listener) (address string, got chan string) {
	t.Helper()
	t.Cleanup(func() { listener.Close() })
	got = make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		lines := bufio.NewScanner(conn)
		fmt.Fprint(conn, "220 test\r\n")
		var all, data strings.Builder
		inData := false
		for lines.Scan() {
			line := lines.Text()
			switch {
			case inData && line == ".":
				inData = false
				fmt.Fprint(conn, "250 taken\r\n")
			case inData:
				data.WriteString(line + "\n")
			case line == "DATA":
				inData = true
				fmt.Fprint(conn, "354 go on\r\n")
			case line == "QUIT":
				fmt.Fprint(conn, "221 bye\r\n")
				got <- all.String() + "\n" + data.String()
				return
			default:
				all.WriteString(line + "\n")
				fmt.Fprint(conn, "250 ok\r\n")
			}
		}
	}()
	return listener.Addr().String(), got
}

func TestSMTP(t *testing.T) {
	t.Parallel()
	address, got := server(t)
	sender, err := mail.NewSMTP("smtp://"+address, "Lottery Draws API <noreply@draws.example>")
	if err != nil {
		t.Fatal(err)
	}
	err = sender.Send(context.Background(), mail.Message{
		To: "ada@example.com", Subject: "Your sign-in link", Lines: []string{"Hello <you>,"}, Action: "Sign in",
		Link: "https://draws.example/sign-in/link?token=lnk_x", After: []string{"Bye."}, ReplyTo: "help@draws.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	text := <-got
	text = strings.ReplaceAll(text, "=\n", "") // quoted-printable: soft line breaks
	for _, want := range []string{
		"MAIL FROM:<noreply@draws.example>", "RCPT TO:<ada@example.com>", "Subject: Your sign-in link", "Auto-Submitted: auto-generated",
		"Reply-To: <help@draws.example>", "multipart/alternative", "Hello <you>,", "Hello &lt;you&gt;,", "token=3Dlnk_x",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %q:\n%s", want, text)
		}
	}
}

// A mail server may be named by its IPv6 address.
func TestSMTPOverIPv6(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	address, got := serverOn(t, listener)
	sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(t.Context(), mail.Message{To: "ada@example.com", Subject: "Hello"}); err != nil {
		t.Fatal(err)
	}
	if text := <-got; !strings.Contains(text, "Subject: Hello") {
		t.Error(text)
	}
}

// A mail reveals neither the name of the sending machine nor the program: HELO and Message-ID use the sender's domain.
func TestSMTPNamesTheSendersDomain(t *testing.T) {
	t.Parallel()
	for from, domain := range map[string]string{
		"Lottery Draws API <noreply@draws.example>": "draws.example",
		"noreply@bücher.example":                    "xn--bcher-kva.example",
	} {
		address, got := server(t)
		sender, err := mail.NewSMTP("smtp://"+address, from)
		if err != nil {
			t.Fatal(err)
		}
		if err := sender.Send(context.Background(), mail.Message{To: "ada@example.com", Subject: "Hello", Lines: []string{"Hello,"}}); err != nil {
			t.Fatal(err)
		}
		text := <-got
		for _, want := range []string{`(?m)^EHLO ` + domain + `$`, `(?m)^Message-ID: <[A-Z2-7]{26}@` + domain + `>$`} {
			if !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("from %s: the mail lacks %s:\n%s", from, want, text)
			}
		}
		for _, unwanted := range []string{"User-Agent", "X-Mailer", "go-mail", "Importance", "Priority"} {
			if strings.Contains(text, unwanted) {
				t.Errorf("from %s: the mail has %s:\n%s", from, unwanted, text)
			}
		}
	}
}

// The domain of a recipient is sent in ASCII: servers need not support other letters.
func TestSMTPDomainOfTheMailbox(t *testing.T) {
	t.Parallel()
	for to, recipient := range map[string]string{"ada@bücher.example": "ada@xn--bcher-kva.example", "Ada@Example.com": "Ada@Example.com"} {
		address, got := server(t)
		sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
		if err != nil {
			t.Fatal(err)
		}
		if err := sender.Send(t.Context(), mail.Message{To: to, Subject: "Hello", Lines: []string{"Hello,"}}); err != nil {
			t.Fatal(err)
		}
		if text := <-got; !strings.Contains(text, "\nRCPT TO:<"+recipient+">") || !strings.Contains(text, "\nTo: <"+recipient+">") {
			t.Errorf("to %s:\n%s", to, text)
		}
	}
}

// more stands for no response: the server waits for the next line.
const more = "…"

// conversing starts a mail server that replies to each line with what answer returns, and hangs up on "". heard gets
// what the client sent, once it has disconnected.
func conversing(t *testing.T, answer func(line string) string) (address string, heard chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	heard = make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var all strings.Builder
		defer func() { heard <- all.String() }()
		fmt.Fprint(conn, "220 test\r\n")
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			all.WriteString(lines.Text() + "\n")
			switch says := answer(lines.Text()); says {
			case "":
				return
			case more:
			default:
				fmt.Fprint(conn, says+"\r\n")
			}
		}
	}()
	return listener.Addr().String(), heard
}

// Whatever a server does once it has accepted a message is not a failure: otherwise the mail would be sent again.
func TestSMTPTakenIsSent(t *testing.T) {
	t.Parallel()
	for name, afterwards := range map[string]string{"hangs up": "", "has no time": "421 4.3.2 closing down", "knows no RSET": "502 5.5.1 what?"} {
		inData, taken := false, false
		address, heard := conversing(t, func(line string) string {
			switch {
			case taken:
				return afterwards
			case line == "DATA":
				inData = true
				return "354 go on"
			case inData && line != ".":
				return more
			case inData:
				taken = true
				return "250 taken"
			default:
				return "250 ok"
			}
		})
		sender, err := mail.NewSMTP("smtp://"+address, "Lottery Draws <noreply@example.com>")
		if err != nil {
			t.Fatal(err)
		}
		err = sender.Send(context.Background(), mail.Message{To: "ada@example.org", Subject: "Sign in"})
		if text := <-heard; err != nil || strings.Count(text, "\nDATA\n") != 1 {
			t.Errorf("a server that took it and %s: %v\n%s", name, err, text)
		}
	}
}

// refusing starts a mail server that refuses every recipient with the text that says returns for the address.
func refusing(t *testing.T, says func(recipient string) string) (address string) {
	t.Helper()
	address, _ = conversing(t, func(line string) string {
		if to, ok := strings.CutPrefix(line, "RCPT TO:<"); ok {
			to, _, _ = strings.Cut(to, ">")
			return "550 5.1.1 " + says(to)
		}
		if line == "QUIT" {
			return "221 bye"
		}
		return "250 ok"
	})
	return address
}

// The password is not sent to a server that offers no TLS, and the connection is closed.
func TestSMTPPasswordNeedsTLS(t *testing.T) {
	t.Parallel()
	address, heard := conversing(t, func(line string) string {
		if strings.HasPrefix(line, "EHLO") {
			return "250-test\r\n250 AUTH PLAIN LOGIN CRAM-MD5"
		}
		return "250 ok"
	})
	sender, err := mail.NewSMTP("smtp://ada:secret@"+address, "noreply@draws.example")
	if err != nil {
		t.Fatal(err)
	}
	err = sender.Send(t.Context(), mail.Message{To: "ada@example.com", Subject: "Hello", Lines: []string{"Hello,"}})
	if err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("the error does not speak of TLS: %v", err)
	}
	select {
	case text := <-heard:
		if !strings.HasPrefix(text, "EHLO draws.example\n") || strings.Contains(text, "AUTH") {
			t.Errorf("the server hears:\n%s", text)
		}
	case <-time.After(20 * time.Second):
		t.Error("the connection is left open")
	}
}

// A server that greets everybody may still take no mail: without a password, or from this sender. The check notices, and
// sends nothing.
func TestSMTPCheckNamesTheSender(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]string{
		"250 ok":                               "",
		"530 5.7.0 Authentication required":    "it takes no mail from noreply@draws.example: 530",
		"550 5.7.1 not one of your addresses":  "it takes no mail from noreply@draws.example: 550",
		"451 4.3.0 come back later, not today": "it takes no mail from noreply@draws.example: 451",
	} {
		address, heard := conversing(t, func(line string) string {
			if strings.HasPrefix(line, "MAIL FROM:<noreply@draws.example>") {
				return says
			}
			if line == "QUIT" {
				return "221" // hardly a goodbye, but nothing is wrong with the mail
			}
			return "250 ok"
		})
		sender, err := mail.NewSMTP("smtp://"+address, "Draws <noreply@draws.example>")
		if err != nil {
			t.Fatal(err)
		}
		err = sender.Check(t.Context())
		if (err == nil) != (want == "") || (err != nil && !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v", says, err)
		}
		if text := <-heard; strings.Contains(text, "RCPT") || strings.Contains(text, "DATA") || !strings.HasSuffix(text, "\nQUIT\n") {
			t.Errorf("%s: the server hears:\n%s", says, text)
		}
	}
}

// A message without a link has none in its text or its HTML.
func TestMessageWithoutALink(t *testing.T) {
	t.Parallel()
	m := mail.Message{Subject: "Your account is closed", Lines: []string{"Hello,"}, After: []string{"Bye."}}
	html, err := m.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Text(); got != "Hello,\n\nBye.\n" || strings.Contains(html, "href") {
		t.Errorf("%q\n%s", got, html)
	}
}

// The error for a refused mail quotes the server, but does not name the recipient, because it ends up in logs.
func TestSMTPErrorsDoNotNameTheRecipient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to   string
		says func(recipient string) string
		want string // after the code
	}{
		{"ada@example.com", func(to string) string { return "<" + to + ">: user unknown" }, "<the recipient>: user unknown"},
		{"Ada.Byron@Example.com", strings.ToLower, "the recipient"},
		{"ada@example.com", func(to string) string { return strings.ToUpper(to) + "... User unknown" }, "the recipient... User unknown"},
		{"ada@bücher.example", func(to string) string { return "no " + to }, "no the recipient"},
		{"ada@bücher.example", func(string) string { return "no ada@BÜCHER.example" }, "no the recipient"},
		{"ada@xn--bcher-kva.example", func(string) string { return "no ada@bücher.example" }, "no the recipient"},
		{"ada+x@example.com", func(string) string { return "see http://why.example/?r=ada%2Bx%40example.com" }, "see http://why.example/?r=the recipient"},
		{"ada.byron@example.com", func(string) string { return "no such user: ada.byron" }, "no such user: the recipient"},
		{"+ada+@example.com", func(to string) string { return to + ": no +ada+ here" }, "the recipient: no the recipient here"},
		{"a@b.example", func(to string) string { return "<" + to + ">: no mail for a" }, "<the recipient>: no mail for the recipient"},
		{"ada@example.com", func(string) string { return "noreply@draws.example may not send" }, "noreply@draws.example may not send"},
	} {
		sender, err := mail.NewSMTP("smtp://"+refusing(t, c.says), "noreply@draws.example")
		if err != nil {
			t.Fatal(err)
		}
		err = sender.Send(t.Context(), mail.Message{To: c.to, Subject: "Hello", Lines: []string{"Hello,"}})
		if err == nil {
			t.Fatalf("to %s: sent", c.to)
		}
		if text := err.Error(); !strings.Contains(text, "550") || !strings.Contains(text, "5.1.1 "+c.want) {
			t.Errorf("to %s: %s; it lacks %q", c.to, text, c.want)
		}
		said, _, _ := strings.Cut(strings.ToLower(err.Error()), "affected message id: ") // which is random
		mailbox, domain, _ := strings.Cut(strings.ToLower(c.to), "@")
		for _, part := range []string{mailbox + "@", "@" + domain, "ada", "byron", "bcher", "bücher"} {
			if strings.Contains(said, part) {
				t.Errorf("to %s: %s", c.to, err)
			}
		}
	}
	for _, to := range []string{"ada@xn--bücher.example", "ada byron@example.com"} {
		sender, err := mail.NewSMTP("smtp://127.0.0.1:1", "noreply@draws.example")
		if err != nil {
			t.Fatal(err)
		}
		err = sender.Send(t.Context(), mail.Message{To: to, Subject: "Hello", Lines: []string{"Hello,"}})
		if err == nil || strings.Contains(err.Error(), "ada") || strings.Contains(err.Error(), "example") {
			t.Errorf("to %s: %v", to, err)
		}
	}
}

func TestSMTPAddress(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "smtp://", "http://mail.example", "mail.example:25", "smtp://mail.example:x"} {
		if _, err := mail.NewSMTP(wrong, "a@example.com"); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if _, err := mail.NewSMTP("smtp://mail.example", "nobody"); err == nil {
		t.Error("a sender without an address is taken")
	}
	if _, err := mail.NewSMTP("smtps://user:p%40ss@mail.example", "A <a@example.com>"); err != nil {
		t.Error(err)
	}
}

func TestMailbox(t *testing.T) {
	t.Parallel()
	box := &mail.Mailbox{}
	for i := range 150 {
		if err := box.Send(t.Context(), mail.Message{Subject: fmt.Sprint(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	all := box.All()
	if len(all) != 100 || all[0].Subject != "150" || all[99].Subject != "51" {
		t.Errorf("%d messages, %s … %s", len(all), all[0].Subject, all[len(all)-1].Subject)
	}
	if m, ok := box.Get(51); !ok || m.Subject != "51" {
		t.Errorf("%v %v", m, ok)
	}
	if _, ok := box.Get(50); ok {
		t.Error("an old message is kept")
	}
}
