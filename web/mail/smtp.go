package mail

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
	"golang.org/x/net/idna"
)

// SMTP sends through a mail server.
type SMTP struct {
	host    string
	options []gomail.Option
	tls     bool // from the start
	from    string
	domain  string // of the sender; used in HELO and Message-ID instead of this machine's name
}

// NewSMTP returns an SMTP sender; it does not connect yet. address is smtp://USER:PASSWORD@HOST:PORT (STARTTLS if
// offered, and required with a password; none without one on this machine, see onThisMachine) or smtps:// (TLS from the
// start); from is the sender, "Name <name@example.com>".
func NewSMTP(address, from string) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, fmt.Errorf("must be smtp://USER:PASSWORD@HOST:PORT, or smtps:// for TLS from the start")
	}
	s := &SMTP{host: u.Hostname(), tls: u.Scheme == "smtps"}
	if s.from, s.domain, err = senderOf(from); err != nil {
		return nil, fmt.Errorf("%q is not a sender of the form Name <name@example.com>", from)
	}
	policy := gomail.TLSOpportunistic
	switch {
	case u.User != nil:
		policy = gomail.TLSMandatory
	case onThisMachine(s.host):
		policy = gomail.NoTLS
	}
	s.options = []gomail.Option{gomail.WithTimeout(longest), gomail.WithTLSPolicy(policy), gomail.WithHELO(s.domain), gomail.WithoutNoop()}
	if s.tls {
		s.options = append(s.options, gomail.WithSSL(), gomail.WithPort(gomail.DefaultPortSSL))
	}
	if port := u.Port(); port != "" {
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, fmt.Errorf("port %q is no number", port)
		}
		s.options = append(s.options, gomail.WithPort(n))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		s.options = append(s.options, gomail.WithUsername(u.User.Username()), gomail.WithPassword(password), gomail.WithOpportunisticSMTPAuth(
			gomail.SMTPAuthSCRAMSHA256PLUS, gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1PLUS, gomail.SMTPAuthSCRAMSHA1,
			gomail.SMTPAuthNTLM, gomail.SMTPAuthCramMD5, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	if _, err := gomail.NewClient(s.host, s.options...); err != nil {
		return nil, fmt.Errorf("set up SMTP: %w", err)
	}
	return s, nil
}

// onThisMachine reports whether a host is this machine. A mail server there usually offers STARTTLS with a certificate
// that it made itself, which nobody can verify, and nothing leaves the machine on the way to it.
func onThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && ip.Unmap().IsLoopback())
}

// senderOf parses a sender, and returns it and its domain as they go over the wire.
func senderOf(from string) (sender, domain string, err error) {
	a, err := netmail.ParseAddress(from)
	if err != nil {
		return "", "", err
	}
	a.Address, domain, err = inASCII(a.Address)
	return a.String(), domain, err
}

// Check connects as Send does, including TLS and authentication if configured, and asks whether the server would take a
// mail from this sender, but sends nothing.
func (s *SMTP) Check(ctx context.Context) error {
	sender, err := netmail.ParseAddress(s.from)
	if err != nil {
		return err
	}
	return s.connected(ctx, func(_ *gomail.Client, server *smtp.Client) error {
		if err := server.Mail("<" + sender.Address + ">"); err != nil {
			return fmt.Errorf("it takes no mail from %s: %w", sender.Address, err)
		}
		return nil
	})
}

// id returns the part of the Message-ID before the @. A server that took a message and broke off before it said so gets
// it again; by the same Message-ID, mailboxes know that it is the same.
func (m *Message) id() string {
	if m.Once == "" {
		return rand.Text()
	}
	sum := sha256.Sum256([]byte(m.Once))
	return base32.StdEncoding.EncodeToString(sum[:])[:26] // as long as the others
}

// Send sends one message, as text and HTML, as long as ctx allows, but no longer than 40 s. Its errors do not name the
// recipient, because they end up in logs and in the outbox.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.SetMessageIDWithValue(m.id() + "@" + s.domain)
	if err := msg.From(s.from); err != nil {
		return err
	}
	to, err := Recipient(m.To)
	if err != nil {
		return err
	}
	if err := msg.To(to); err != nil {
		return ErrAddress
	}
	if m.ReplyTo != "" {
		reply, _, err := inASCII(m.ReplyTo)
		if err != nil {
			reply = m.ReplyTo // not worth failing the mail
		}
		if err := msg.ReplyTo(reply); err != nil {
			return err
		}
	}
	html, err := m.HTML()
	if err != nil {
		return err
	}
	msg.Subject(m.Subject)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: asks for no automatic replies
	msg.SetBodyString(gomail.TypeTextPlain, m.Text())
	msg.AddAlternativeString(gomail.TypeTextHTML, html)
	err = s.connected(ctx, func(client *gomail.Client, server *smtp.Client) error { return client.SendWithSMTPClient(server, msg) })
	if err == nil || msg.IsDelivered() { // once delivered, a failure does not matter
		return nil
	}
	reason := "send a mail: " + nameless(err.Error(), to) // no %w: the cause names the recipient
	switch {
	case unconfirmed(err):
		return fmt.Errorf("%s: %w", reason, ErrUnconfirmed)
	case unknownRecipient(err):
		return fmt.Errorf("%s: %w", reason, ErrRecipient)
	default:
		return errors.New(reason)
	}
}

// unconfirmed reports whether a message was sent to its end, and the server did not answer that.
func unconfirmed(err error) bool {
	failed, sent := errors.AsType[*gomail.SendError](err)
	return sent && failed.Reason == gomail.ErrSMTPDataClose && failed.ErrorCode() == 0
}

// unknownRecipient reports whether the server refused a message because of its recipient's address: by its enhanced
// status code (RFC 3463), where 5.1 is about addresses, and 5.1.7 and 5.1.8 about the sender's. Without such a code, the
// refusal may as well mean that the server relays nothing for us, and a 4.1.2 that its DNS is down.
func unknownRecipient(err error) bool {
	failed, sent := errors.AsType[*gomail.SendError](err)
	if !sent || failed.Reason != gomail.ErrSMTPRcptTo {
		return false
	}
	detail, addresses := strings.CutPrefix(failed.EnhancedStatusCode(), "5.1.")
	return addresses && detail != "7" && detail != "8"
}

// nameless returns text with the recipient replaced. go-mail adds the address to a server's refusal, and servers repeat
// it themselves: in another case, with the domain in Unicode, escaped in a URL, or only the part before the @. It
// replaces a word too many rather than one too few.
func nameless(text, recipient string) string {
	at := strings.LastIndexByte(recipient, '@')
	user, domain := recipient[:at], recipient[at+1:]
	readable, _ := idna.ToUnicode(domain)
	// \b knows ASCII only: where user begins or ends with another character, it is matched even inside a word.
	const end = `\b`
	before, after := "", ""
	if regexp.MustCompile(`^\w`).MatchString(user) {
		before = end
	}
	if regexp.MustCompile(`\w$`).MatchString(user) {
		after = end
	}
	return regexp.MustCompile(`(?i)`+before+written(user)+`(?:(?:@|%40)`+written(domain, readable)+`|`+after+`)`).ReplaceAllString(text, "the recipient")
}

// written returns a pattern that matches any of the words, literally or escaped as in a URL's query.
func written(words ...string) string {
	var forms []string
	for _, w := range words {
		forms = append(forms, regexp.QuoteMeta(w), regexp.QuoteMeta(url.QueryEscape(w)))
	}
	return `(?:` + strings.Join(forms, "|") + `)`
}
