package mail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"
)

// smtpTimeout bounds one message: somebody waits for the page that says that it was sent.
const smtpTimeout = 15 * time.Second

// SMTP sends through a mail server.
type SMTP struct {
	client *gomail.Client
	from   string
	domain string // of the sender: what we say that we are called, instead of this machine's own name
}

// NewSMTP connects nothing yet. address is smtp://USER:PASSWORD@HOST:PORT (STARTTLS where it is offered, and required
// with a password) or smtps:// (TLS from the start); from is the sender, "Name <name@example.com>".
func NewSMTP(address, from string) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, fmt.Errorf("must be smtp://USER:PASSWORD@HOST:PORT, or smtps:// for TLS from the start")
	}
	sender, domain, err := senderOf(from)
	if err != nil {
		return nil, fmt.Errorf("%q is not a sender of the form Name <name@example.com>", from)
	}
	options := []gomail.Option{gomail.WithTimeout(smtpTimeout), gomail.WithTLSPolicy(gomail.TLSOpportunistic), gomail.WithHELO(domain)}
	if u.Scheme == "smtps" {
		options = append(options, gomail.WithSSL(), gomail.WithPort(gomail.DefaultPortSSL))
	} else {
		options = append(options, gomail.WithDialContextFunc(dial))
	}
	if port := u.Port(); port != "" {
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, fmt.Errorf("port %q is no number", port)
		}
		options = append(options, gomail.WithPort(n))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
		if u.Scheme == "smtp" {
			options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
		}
	}
	client, err := gomail.NewClient(u.Hostname(), options...)
	if err != nil {
		return nil, fmt.Errorf("set up SMTP: %w", err)
	}
	return &SMTP{client, sender, domain}, nil
}

// senderOf is a sender and its domain, as they go over the wire.
func senderOf(from string) (sender, domain string, err error) {
	a, err := netmail.ParseAddress(from)
	if err != nil {
		return "", "", err
	}
	a.Address, domain, err = inASCII(a.Address)
	return a.String(), domain, err
}

// inASCII is an address and its domain as the DNS has it (RFC 5891): mail servers need not know other letters. Those are
// brought into the form that is looked up, without which Ö would be another domain than ö.
func inASCII(address string) (mailbox, domain string, err error) {
	at := strings.LastIndexByte(address, '@') + 1
	domain, err = idna.ToASCII(address[at:])
	if domain != address[at:] {
		domain, err = idna.Lookup.ToASCII(address[at:])
	}
	return address[:at] + domain, domain, err
}

// opened is the key in a context of where dial puts the connection.
type opened struct{}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if at, ok := ctx.Value(opened{}).(*net.Conn); ok && err == nil {
		*at = conn
	}
	return conn, err
}

// connected does something that connects, for a bounded time, and leaves no connection open. go-mail leaves those open
// over which it finds no TLS, or no way to sign in.
func connected(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, smtpTimeout)
	defer cancel()
	var conn net.Conn
	err := do(context.WithValue(ctx, opened{}, &conn))
	if conn != nil {
		_ = conn.Close() // mostly it is closed already
	}
	return err
}

// Check connects as Send does, with TLS and the password where there is one, and sends nothing.
func (s *SMTP) Check(ctx context.Context) error {
	return connected(ctx, func(ctx context.Context) error {
		if err := s.client.DialWithContext(ctx); err != nil {
			return err
		}
		return s.client.Close()
	})
}

// ErrAddress says that no mail can go to an address, now or later. What a parser says is left out: it repeats it.
var ErrAddress = errors.New("address a mail: the recipient's address cannot be written as mail servers read it")

// longestLabel is the bytes between two dots of a name (RFC 1035, section 2.3.4).
const longestLabel = 63

// Recipient is an address as mail servers read it, or ErrAddress.
func Recipient(address string) (string, error) {
	recipient, domain, err := inASCII(address)
	if err != nil || slices.ContainsFunc(strings.Split(domain, "."), func(label string) bool { return label == "" || len(label) > longestLabel }) {
		return "", ErrAddress
	}
	return recipient, nil
}

// Send sends one message, as text and as HTML. Its errors stand in logs and in the outbox: they do not say who the
// mail was for.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.SetMessageIDWithValue(rand.Text() + "@" + s.domain)
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
			reply = m.ReplyTo // no reason not to send the mail
		}
		if err := msg.ReplyTo(reply); err != nil {
			return err
		}
	}
	if m.Priority {
		msg.SetImportance(gomail.ImportanceHigh)
	}
	html, err := m.HTML()
	if err != nil {
		return err
	}
	msg.Subject(m.Subject)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no holiday notices back
	msg.SetBodyString(gomail.TypeTextPlain, m.Text())
	msg.AddAlternativeString(gomail.TypeTextHTML, html)
	err = connected(ctx, func(ctx context.Context) error { return s.client.DialAndSendWithContext(ctx, msg) })
	if err != nil && !msg.IsDelivered() { // else the server took it, and hung up or did not like how we leave
		return errors.New("send a mail: " + nameless(err.Error(), to)) // without %w: the cause names the recipient
	}
	return nil
}

// nameless is text without a recipient. go-mail adds the address to what a server refuses, and servers repeat it
// themselves: in another case, with the domain in the letters that people read, escaped in a link, or only what is
// before the @. Rather a word too many is taken away than one too few.
func nameless(text, recipient string) string {
	at := strings.LastIndexByte(recipient, '@')
	user, domain := recipient[:at], recipient[at+1:]
	readable, _ := idna.ToUnicode(domain)
	const end = `\b` // ASCII's: where user begins or ends otherwise, it may stand within a word
	before, after := "", ""
	if regexp.MustCompile(`^\w`).MatchString(user) {
		before = end
	}
	if regexp.MustCompile(`\w$`).MatchString(user) {
		after = end
	}
	return regexp.MustCompile(`(?i)`+before+written(user)+`(?:(?:@|%40)`+written(domain, readable)+`|`+after+`)`).ReplaceAllString(text, "the recipient")
}

// written matches the words, as they are and as they stand in the query of a link.
func written(words ...string) string {
	var forms []string
	for _, w := range words {
		forms = append(forms, regexp.QuoteMeta(w), regexp.QuoteMeta(url.QueryEscape(w)))
	}
	return `(?:` + strings.Join(forms, "|") + `)`
}
