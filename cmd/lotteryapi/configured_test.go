package main

import (
	"bufio"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/models/store/storetest"
)

// mailServer takes mails and passes each one on, as text.
func mailServer(t *testing.T) (address string, mails chan string) {
	t.Helper()
	taken := make(chan string, 100)
	take := func(conn net.Conn) {
		defer conn.Close()
		lines := bufio.NewReader(conn)
		fmt.Fprint(conn, "220 test\r\n")
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if strings.TrimSpace(line) != "DATA" {
				fmt.Fprint(conn, "250 ok\r\n")
				continue
			}
			fmt.Fprint(conn, "354 go on\r\n")
			var mail strings.Builder
			for line = ""; err == nil && line != ".\r\n"; line, err = lines.ReadString('\n') {
				mail.WriteString(line)
			}
			text, _ := io.ReadAll(quotedprintable.NewReader(strings.NewReader(mail.String()))) // up to what is none
			taken <- mail.String() + string(text)
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
	return storetest.Listen(t, func(conn net.Conn) { go take(conn) }), taken
}

// nextMail takes the next mail with a subject, and leaves the others.
func nextMail(t *testing.T, mails chan string, subject string) (found string) {
	t.Helper()
	storetest.Until(t, "a mail: "+subject, func() bool {
		select {
		case found = <-mails:
		default:
			return false
		}
		if !strings.Contains(found, "\nSubject: "+subject) {
			mails <- found
			return false
		}
		return true
	})
	return found
}

// askFrom sends a request as a proxy does, for a client.
func askFrom(t *testing.T, client, method, address, key, form string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", client)
	r.Header.Set("X-Api-Key", key)
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// expiringKey makes a key whose account is to be told that it expires: one that has lived for long.
func expiringKey(t *testing.T, database, email string) string {
	t.Helper()
	key := newKey(t, database, email, "--expires", "3d")
	if _, err := open(t, database).ExecContext(t.Context(), "UPDATE api_keys SET created_at = ?", time.Now().UTC().AddDate(0, -1, 0)); err != nil {
		t.Fatal(err)
	}
	return key
}

// What the operator sets reaches customers: on the pages, in mails and in the API's answers.
func TestWhatIsSetReachesCustomers(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	address, mails := mailServer(t)
	database, dir := storetest.EmptyURL(t), t.TempDir()
	args := serveArgs(database, "--smtp-url", "smtp://"+address, "--mail-from", "draws@example.com", "--support-email", "help@example.com",
		"--public-url", "https://draws.example.com", "--plan-free-requests-per-day", "5", "--plan-free-max-keys", "7")
	for _, name := range []string{"terms", "privacy"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("Our own "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--"+name+"-file", file)
	}
	key := expiringKey(t, database, "ada@example.com")
	p := start(t, dir, args...)
	for path, want := range map[string]string{
		"/": "<strong>5</strong> requests a day", "/terms": "Our own terms", "/privacy": "Our own privacy", "/pricing": "help@example.com", "/openapi.json": "https://draws.example.com",
		"/robots.txt": "https://draws.example.com/sitemap.xml", "/v1/nothing": "https://draws.example.com/docs/errors/not_found",
	} {
		if _, body := p.get(t, path, ""); !strings.Contains(string(body), want) {
			t.Errorf("%s does not say %q:\n%s", path, want, body)
		}
	}
	if status, body := askFrom(t, "", http.MethodPost, p.base+"/sign-in", "", url.Values{"email": {"grace@example.com"}}.Encode()); status != http.StatusOK {
		t.Fatalf("sign-in: %d %s", status, body)
	}
	if mail := nextMail(t, mails, "Your sign-in link"); !strings.Contains(mail, "https://draws.example.com/sign-in/link") || !strings.Contains(mail, "draws@example.com") {
		t.Errorf("the mail with the link:\n%s", mail)
	}
	mail := nextMail(t, mails, "An API key expires")
	for _, want := range []string{"https://draws.example.com/dashboard/keys", "help@example.com", "room for 7 keys"} {
		if !strings.Contains(mail, want) {
			t.Errorf("the mail does not say %q:\n%s", want, mail)
		}
	}
	for i, want := range []int{200, 200, 200, 200, 200, 429} {
		if status, body := p.get(t, countedPath, key); status != want {
			t.Errorf("request %d: %d %s", i+1, status, body)
		}
	}
	storetest.Until(t, "the operator to be told of the account at its limit", func() bool {
		return strings.Contains(p.stderr.String(), `"msg":"an account comes to its daily limit"`)
	})
}

// Without a mail server, sign-up is off, says so, and no mail is queued for later.
func TestNoMailIsSent(t *testing.T) {
	t.Parallel()
	database := storetest.EmptyURL(t)
	expiringKey(t, database, "ada@example.com")
	p := start(t, t.TempDir(), serveArgs(database)...)
	if !strings.Contains(p.stderr.String(), "no email is sent, and sign-up on the pages is off") {
		t.Errorf("%s", p.stderr)
	}
	p.stop(t) // jobs that are due at a start have begun
	var queued int
	if err := open(t, database).QueryRowContext(t.Context(), "SELECT count(*) FROM mails").Scan(&queued); err != nil || queued != 0 {
		t.Errorf("%d mails wait, %v", queued, err)
	}
	if strings.Contains(p.stderr.String(), `"job":"key-expiry"`) {
		t.Errorf("mails are written that nobody sends:\n%s", p.stderr)
	}
}

// Behind a trusted proxy, clients are told apart: in the access log, and where one of them asks too often.
func TestClientsBehindAProxy(t *testing.T) {
	t.Parallel()
	address, _ := mailServer(t)
	p := start(t, t.TempDir(), serveArgs(storetest.EmptyURL(t), "--trusted-proxies", "127.0.0.1", "--access-log", "true", "--wrong-keys-per-minute", "1",
		"--smtp-url", "smtp://"+address, "--mail-from", "draws@example.com",
		"--stripe-secret-key", "sk_test_1", "--stripe-webhook-secret", "whsec_1", "--stripe-api-url", "http://127.0.0.1:1")...)
	if status, body := askFrom(t, "203.0.113.3", http.MethodPost, p.base+billing.WebhookPath, "", "forged"); status != http.StatusBadRequest {
		t.Errorf("an event that is not Stripe's: %d %s", status, body)
	}
	storetest.Until(t, "a client to be refused that guesses keys", func() bool {
		status, _ := askFrom(t, "203.0.113.1", http.MethodGet, p.base+countedPath, "ldk_wrong", "")
		return status == http.StatusTooManyRequests
	})
	if status, body := askFrom(t, "203.0.113.2", http.MethodGet, p.base+countedPath, "ldk_wrong", ""); status != http.StatusUnauthorized {
		t.Errorf("another client of the proxy: %d %s", status, body)
	}
	for i := range 40 { // more links than one client may ask for
		form := url.Values{"email": {fmt.Sprintf("ada%d@example.com", i)}}.Encode()
		if status, body := askFrom(t, fmt.Sprintf("203.0.%d.1", i), http.MethodPost, p.base+"/sign-in", "", form); status != http.StatusOK {
			t.Fatalf("link %d: %d %s", i, status, body)
		}
	}
	p.stop(t)
	for _, want := range []string{`"client":"203.0.113.2"`, `"route":"` + billing.WebhookPath + `","status":400`} {
		if !strings.Contains(p.stderr.String(), want) {
			t.Errorf("the access log lacks %s:\n%s", want, p.stderr)
		}
	}
}
