package web_test

import (
	"io"
	"mime/quotedprintable"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"lottery/web"
)

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
