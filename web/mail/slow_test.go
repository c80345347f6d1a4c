package mail_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lottery/web/mail"
)

// certified is the certificate of localhost that this process trusts.
var certified tls.Certificate

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "mail-test-*")
	if err == nil {
		err = certify(filepath.Join(folder, "ca.pem"))
	}
	if err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// certify makes the certificate, and makes this process trust it, as an operator would.
func certify(file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	certified = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.Setenv("SSL_CERT_FILE", file)
}

// slowly is a mail server that lets each of its replies wait. ended is closed when its client has disconnected.
type slowly struct {
	port    int
	taken   chan struct{} // receives one for each message that came to its end
	ended   chan struct{}
	heard   strings.Builder // complete once ended is closed
	secured bool
	waits   func(line string) time.Duration // "" = the greeting
}

func (s *slowly) start(t *testing.T) *slowly {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if s.secured {
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certified}})
	}
	t.Cleanup(func() { listener.Close() })
	s.port, s.taken, s.ended = listener.Addr().(*net.TCPAddr).Port, make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(s.ended)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		time.Sleep(s.waits(""))
		fmt.Fprint(conn, "220 test\r\n")
		inData := false
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			line, reply := lines.Text(), "250 ok"
			s.heard.WriteString(line + "\n")
			switch {
			case inData && line != ".":
				continue
			case inData:
				inData = false
				s.taken <- struct{}{}
			case line == "DATA":
				inData, reply = true, "354 go on"
			case strings.HasPrefix(line, "EHLO"):
				reply = "250-test\r\n250 AUTH LOGIN PLAIN"
			case strings.HasPrefix(line, "AUTH PLAIN"):
				reply = "235 welcome"
			case line == "QUIT":
				reply = "221 bye"
			}
			time.Sleep(s.waits(line))
			fmt.Fprint(conn, reply+"\r\n")
		}
	}()
	return s
}

func (s *slowly) sender(t *testing.T, scheme, user string) *mail.SMTP {
	t.Helper()
	sender, err := mail.NewSMTP(fmt.Sprintf("%s://%slocalhost:%d", scheme, user, s.port), "noreply@draws.example")
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

// However slow each reply of a mail server is, nobody waits longer than he wants to.
func TestSMTPOfASlowServer(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"smtp", "smtps"} {
		server := (&slowly{secured: scheme == "smtps", waits: func(string) time.Duration { return 300 * time.Millisecond }}).start(t)
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		began := time.Now()
		err := server.sender(t, scheme, "").Send(ctx, mail.Message{To: "ada@example.com", Subject: "Hello"})
		if took := time.Since(began); err == nil || errors.Is(err, mail.ErrUnconfirmed) || took > 5*time.Second {
			t.Errorf("%s: %v after %s", scheme, err, took)
		}
		select {
		case <-server.ended:
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the connection stays open", scheme)
		}
	}
}

// A server that got the whole message and says nothing may deliver it: that is not the same as a refusal.
func TestSMTPUnconfirmed(t *testing.T) {
	t.Parallel()
	server := (&slowly{waits: func(line string) time.Duration {
		if line == "." {
			return 10 * time.Second
		}
		return 0
	}}).start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err := server.sender(t, "smtp", "").Send(ctx, mail.Message{To: "ada@example.com", Subject: "Hello"})
	if !errors.Is(err, mail.ErrUnconfirmed) || strings.Contains(err.Error(), "\n") || len(server.taken) != 1 {
		t.Errorf("%v, %d taken", err, len(server.taken))
	}
}

// A refusal of the whole message is one: the message was not sent.
func TestSMTPRefusedAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{"451 4.7.1 greylisted, come back later", "552 5.3.4 mailbox full", "554 no"} {
		inData := false
		address, _ := conversing(t, func(line string) string {
			switch {
			case line == "DATA":
				inData = true
				return "354 go on"
			case inData && line == ".":
				inData = false
				return refusal
			case inData:
				return more
			}
			return "250 ok"
		})
		sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
		if err != nil {
			t.Fatal(err)
		}
		err = sender.Send(t.Context(), mail.Message{To: "ada@example.com", Subject: "Hello"})
		if err == nil || errors.Is(err, mail.ErrUnconfirmed) || !strings.Contains(err.Error(), refusal[:3]) {
			t.Errorf("%s: %v", refusal, err)
		}
	}
}

// A server that knows no such mailbox or domain says so by a code of its own. Whatever else it says of a recipient may
// be its own trouble, or the sender's.
func TestSMTPRecipientUnknown(t *testing.T) {
	t.Parallel()
	for refusal, unknown := range map[string]bool{
		"550 5.1.1 no such user": true, "550 5.1.2 no such domain": true, "556 5.1.10 null MX": true, "501 5.1.3 what?": true,
		"553 5.1.7 your sender": false, "550 5.1.8 no such sender": false, "450 4.1.2 its DNS is down": false, "550 no relaying, by Exim": false,
		"554 5.7.1 relay access denied": false, "452 4.2.2 mailbox full": false, "530 5.7.0 who are you?": false,
	} {
		for command, counts := range map[string]bool{"RCPT TO": true, "MAIL FROM": false} {
			address, _ := conversing(t, func(line string) string {
				switch {
				case strings.HasPrefix(line, "EHLO"):
					return "250-test\r\n250 ENHANCEDSTATUSCODES"
				case strings.HasPrefix(line, command):
					return refusal
				default:
					return "250 ok"
				}
			})
			sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
			if err != nil {
				t.Fatal(err)
			}
			err = sender.Send(t.Context(), mail.Message{To: "ada@example.com", Subject: "Hello"})
			if err == nil || errors.Is(err, mail.ErrRecipient) != (unknown && counts) || !strings.Contains(err.Error(), refusal[4:]) {
				t.Errorf("%s at %s: %v", refusal, command, err)
			}
		}
	}
}

// A sender that is told to stop still hears a reply that is on its way, but does not wait for one that is not.
func TestSMTPTold(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{time.Second, 20 * time.Second} {
		server := (&slowly{waits: func(line string) time.Duration {
			if line == "." {
				return wait
			}
			return 0
		}}).start(t)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			<-server.taken
			stop()
		}()
		began := time.Now()
		err := server.sender(t, "smtp", "").Send(ctx, mail.Message{To: "ada@example.com", Subject: "Hello"})
		if took := time.Since(began); (err == nil) != (wait == time.Second) || took > 15*time.Second {
			t.Errorf("a server that takes %s: %v after %s", wait, err, took)
		}
	}
}

// TLS from the start, with a password that goes in plain text within it.
func TestSMTPS(t *testing.T) {
	t.Parallel()
	server := (&slowly{secured: true, waits: func(string) time.Duration { return 0 }}).start(t)
	if err := server.sender(t, "smtps", "ada:secret@").Send(t.Context(), mail.Message{To: "ada@example.com", Subject: "Hello"}); err != nil {
		t.Fatal(err)
	}
	<-server.ended
	if text := server.heard.String(); !strings.HasPrefix(text, "EHLO draws.example\nAUTH PLAIN ") || !strings.Contains(text, "\nSubject: Hello\n") {
		t.Error(text)
	}
}
