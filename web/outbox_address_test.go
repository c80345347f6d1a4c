package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"lottery/models/store"
	"lottery/web"
	"lottery/web/mail"
)

// asksForAnotherAddress signs somebody in as ada@example.com who asks to become lovelace@example.com, and returns the
// token of the link that confirms it.
func asksForAnotherAddress(t *testing.T, server *moody) (*house, *person, string) {
	t.Helper()
	h := open(t, func(d *web.Deps) { d.Mail, d.Mailbox = server, &server.Mailbox })
	h.box = &server.Mailbox
	p := h.signedIn("ada@example.com")
	p.post("/dashboard/account/email", "email", "lovelace@example.com").says(t, http.StatusOK, "We sent a link")
	return h, p, h.tokenOf("lovelace@example.com")
}

// An account's previous address is notified of the change, even if the mail server is down at that moment. Afterwards
// nothing of that address is kept, whether or not it could be notified.
func TestAddressBeforeIsToldLater(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"the server comes back": true, "the address takes nothing": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &moody{}
			h, p, token := asksForAnotherAddress(t, server)
			id := h.account("ada@example.com").ID
			server.away.Store(true)
			var once string
			server.before = func(m mail.Message) { once = m.Once }
			p.post("/dashboard/account/email/confirm", "token", token).says(t, http.StatusOK, "Your address has changed")

			outbox := newOutbox(h.store, server)
			send := func(times int) {
				for range times {
					h.clock.move(5 * time.Hour) // longer than the longest wait
					if err := outbox.Send(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			send(2)
			server.away.Store(!back)
			send(10)
			told := 0
			for _, m := range server.All() {
				if m.To == "ada@example.com" && m.Subject == "Your address was changed" {
					told++
					if once == "" || m.Once != once { // the first attempt may have arrived
						t.Errorf("the mail is named %q at the first attempt, then %q", once, m.Once)
					}
					if text := m.Text(); !strings.Contains(text, "lovelace@example.com") || !strings.Contains(text, "help@example.com") {
						t.Errorf("the mail says: %s", text)
					}
				}
			}
			if want := map[bool]int{true: 1}[back]; told != want {
				t.Errorf("the address before was told %d times, want %d", told, want)
			}
			mails, err := h.store.MailsNewest(t.Context(), store.MailFilter{AccountID: id})
			if err != nil || len(mails) > 0 {
				t.Errorf("kept: %+v, %v", mails, err)
			}
		})
	}
}

// A node that is killed while it tells the previous address leaves the mail to the other nodes, which send it once its
// minute is over, and not before.
func TestAddressBeforeIsToldByAnotherNode(t *testing.T) {
	t.Parallel()
	server := &moody{}
	h, p, token := asksForAnotherAddress(t, server)
	told := func() (n int) {
		for _, m := range server.All() {
			if m.To == "ada@example.com" && m.Subject == "Your address was changed" {
				n++
			}
		}
		return n
	}
	other := newOutbox(h.store, server)
	pass := func() int {
		if err := other.Send(t.Context()); err != nil {
			t.Error(err)
		}
		return told()
	}
	server.before = func(mail.Message) { // whatever the killed node would do after this, it does not
		if n := pass(); n != 0 {
			t.Errorf("told %d times while the node is at it", n)
		}
		h.clock.move(2 * time.Minute)
		if n := pass(); n != 1 {
			t.Errorf("told %d times after the node was killed, want once", n)
		}
		panic(http.ErrAbortHandler)
	}
	if res, err := p.client.PostForm(h.base+"/dashboard/account/email/confirm", url.Values{"token": {token}}); err == nil {
		t.Errorf("the killed node answers %d", res.StatusCode)
		_ = res.Body.Close()
	}
	h.clock.move(time.Hour)
	if n := pass(); n != 1 {
		t.Errorf("told %d times in all, want once", n)
	}
}

// stopping is a mail server under which the node stops.
type stopping struct{ stop func() }

func (s stopping) Send(ctx context.Context, _ mail.Message) error {
	s.stop()
	return ctx.Err()
}

// A mail that is being sent when the node stops has not failed: it is not given up, even if that was its last attempt.
func TestOutboxStops(t *testing.T) {
	t.Parallel()
	server := &moody{}
	h, p, token := asksForAnotherAddress(t, server)
	server.away.Store(true)
	p.post("/dashboard/account/email/confirm", "token", token).says(t, http.StatusOK, "Your address has changed")
	outbox := newOutbox(h.store, server)
	for range 12 {
		h.clock.move(5 * time.Hour) // longer than the longest wait
		ctx, stop := context.WithCancel(t.Context())
		outbox.Mail = stopping{stop}
		if err := outbox.Send(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("when the node stops: %v", err)
		}
	}
	h.clock.move(5 * time.Hour)
	box := &mail.Mailbox{}
	outbox.Mail = box
	if err := outbox.Send(t.Context()); err != nil || len(box.All()) != 1 || box.All()[0].To != "ada@example.com" {
		t.Errorf("afterwards: %v, %+v", err, box.All())
	}
}
