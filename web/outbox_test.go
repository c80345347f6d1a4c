package web_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
	"lottery/web/mail"
)

// newOutbox returns the outbox of a node that sends by a mail server.
func newOutbox(st *store.Store, server mail.Sender) *web.Outbox {
	return &web.Outbox{
		Store: st, Mail: server, Plans: models.DefaultPlans(), PublicURL: "https://draws.example", Support: "help@example.com", Log: slog.New(slog.DiscardHandler),
	}
}

// Each mail of the outbox is sent once, by one of several nodes; a mail that fails is retried later.
func TestOutbox(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		c := &clock{}
		st := storetest.OpenURL(t, url, store.Options{Now: c.now, Skew: c.skew})
		account := storetest.Account(t, st, "ada@example.com")
		l, ok, err := st.TryLease(t.Context(), "billing", time.Minute)
		if err != nil || !ok {
			t.Fatal(err)
		}
		_, err = st.StoreBilling(t.Context(), l, store.BillingChange{
			Billing: models.BillingAccount{AccountID: account.ID}, Plan: new(models.PlanPro), Actor: "stripe",
			Mails: []models.Mail{
				{AccountID: account.ID, Kind: models.MailWelcomePro, Data: "{}", Once: "welcome"},
				{AccountID: account.ID, Kind: "of a newer release", Data: "{}", Once: "new"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		box, server := &mail.Mailbox{}, down{}
		outbox := newOutbox(st, server)
		if err := outbox.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		outbox.Mail = box
		if err := outbox.Send(t.Context()); err != nil || len(box.All()) != 0 {
			t.Errorf("tried again at once: %v, %d mails", err, len(box.All()))
		}
		c.move(2 * time.Minute)
		done := make(chan error)
		for range 4 {
			go func() { done <- outbox.Send(context.Background()) }()
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		c.move(time.Hour)
		if err := outbox.Send(t.Context()); err != nil {
			t.Error(err)
		}
		if all := box.All(); len(all) != 1 || all[0].Subject != "You are on Pro" || all[0].To != "ada@example.com" {
			t.Errorf("%d mails: %+v", len(all), all)
		} else if all[0].Link != "https://draws.example/dashboard/plan" || all[0].ReplyTo != "help@example.com" {
			t.Errorf("it leads to %q, and an answer goes to %q", all[0].Link, all[0].ReplyTo)
		}
		mails, err := st.MailsNewest(t.Context(), store.MailFilter{AccountID: account.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mails {
			if m.Kind != models.MailWelcomePro && (m.Attempts == 0 || m.SentAt != nil || m.FailedAt != nil) {
				t.Errorf("a mail that a newer node can write does not wait for it: %+v", m)
			}
		}
	})
}

// expiring makes a key of ada@example.com that expires soon, and the mail about it.
func expiring(t *testing.T, st *store.Store, c *clock) store.Key {
	t.Helper()
	expires := c.now().Add(30 * 24 * time.Hour)
	key, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "ada@example.com", Name: "laptop", Create: true, ExpiresAt: &expires})
	if err != nil {
		t.Fatal(err)
	}
	c.move(25 * 24 * time.Hour)
	if n, err := st.MailExpiringKeys(t.Context(), 7*24*time.Hour); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	return key
}

// A mail that cannot be sent is given up after ten attempts, and not retried when the mail server comes back later.
func TestOutboxGivesUp(t *testing.T) {
	t.Parallel()
	c := &clock{}
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	key := expiring(t, st, c)
	outbox := newOutbox(st, down{})
	const attempts = 10
	for attempt := 1; attempt <= attempts; attempt++ {
		if err := outbox.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		mails, err := st.MailsNewest(t.Context(), store.MailFilter{AccountID: key.AccountID})
		if err != nil || len(mails) != 1 {
			t.Fatal(len(mails), err)
		}
		if m := mails[0]; m.Attempts != attempt || (m.FailedAt != nil) != (attempt == attempts) || m.LastError != "connection refused" {
			t.Fatalf("after attempt %d: %+v", attempt, m)
		}
		c.move(5 * time.Hour) // longer than the longest wait
	}
	box := &mail.Mailbox{}
	outbox.Mail = box
	if err := outbox.Send(t.Context()); err != nil || len(box.All()) != 0 {
		t.Errorf("after it was given up: %v, %d mails", err, len(box.All()))
	}
	if again, err := st.RetryMails(t.Context(), 0); err != nil || len(again) != 1 { // an operator says so
		t.Fatal(again, err)
	}
	if err := outbox.Send(t.Context()); err != nil || len(box.All()) != 1 {
		t.Fatalf("when it is retried: %v, %d mails", err, len(box.All()))
	}
	if once := box.All()[0].Once; once != "key_expires:"+key.ID {
		t.Errorf("the mail has the name %q", once)
	}
}

// When the mail server refuses a mail, neither the log nor the table names the recipient.
func TestOutboxDoesNotNameTheRecipient(t *testing.T) {
	t.Parallel()
	address := storetest.Listen(t, func(conn net.Conn) {
		defer conn.Close()
		fmt.Fprint(conn, "220 test\r\n")
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			answer := "250 ok"
			if to, ok := strings.CutPrefix(lines.Text(), "RCPT TO:"); ok {
				answer = "550 5.1.1 " + to + ": user unknown"
			}
			fmt.Fprint(conn, answer+"\r\n")
		}
	})
	sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{}
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	key := expiring(t, st, c)
	var log strings.Builder
	outbox := newOutbox(st, sender)
	outbox.Log = slog.New(slog.NewTextHandler(&log, nil))
	if err := outbox.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	mails, err := st.MailsNewest(t.Context(), store.MailFilter{AccountID: key.AccountID})
	if err != nil || len(mails) != 1 {
		t.Fatal(len(mails), err)
	}
	for _, text := range []string{log.String(), mails[0].LastError} {
		if !strings.Contains(text, "user unknown") || strings.Contains(text, "ada") {
			t.Errorf("it is to say why, and not to whom: %s", text)
		}
	}
}

// However slow the mail server is, no second node sends a mail that the first is about to send.
func TestOutboxWithASlowServer(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		c := &clock{}
		st := storetest.OpenURL(t, url, store.Options{Now: c.now, Skew: c.skew})
		const people = 30
		expires := c.now().Add(30 * 24 * time.Hour)
		for i := range people {
			_, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: fmt.Sprintf("ann%d@example.com", i), Create: true, ExpiresAt: &expires})
			if err != nil {
				t.Fatal(err)
			}
		}
		c.move(25 * 24 * time.Hour)
		if n, err := st.MailExpiringKeys(t.Context(), 7*24*time.Hour); err != nil || n != people {
			t.Fatal(n, err)
		}
		quick := &mail.Mailbox{}
		first := &slow{clock: c, after: func(n int) {
			if n != 7 { // 70 seconds after it began
				return
			}
			if err := newOutbox(st, quick).Send(t.Context()); err != nil {
				t.Error(err)
			}
		}}
		if err := newOutbox(st, first).Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		sent := map[string]int{}
		for _, m := range append(first.All(), quick.All()...) {
			sent[m.To]++
		}
		for to, n := range sent {
			if n != 1 {
				t.Errorf("%s was sent the same mail %d times", to, n)
			}
		}
		if n := len(quick.All()); n != 20 {
			t.Errorf("%d mails sent at once, want 20", n)
		}
		if len(sent) != people {
			t.Errorf("%d of %d were told", len(sent), people)
		}
	})
}

// Mails that were queued or put off while the clock was ahead do not wait until that time.
func TestOutboxClockWasAhead(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		c := &clock{}
		st := storetest.OpenURL(t, url, store.Options{Now: c.now, Skew: c.skew})
		expires := c.now().Add(30 * 24 * time.Hour)
		for _, address := range []string{"ada@example.com", "ben@example.com"} {
			if _, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: address, Create: true, ExpiresAt: &expires}); err != nil {
				t.Fatal(err)
			}
		}
		c.move(25 * 24 * time.Hour)
		if n, err := st.MailExpiringKeys(t.Context(), 7*24*time.Hour); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		box := &mail.Mailbox{}
		outbox := newOutbox(st, box)
		claimed, err := st.ClaimMails(t.Context(), 1, time.Minute)
		if err != nil || len(claimed) != 1 {
			t.Fatal(len(claimed), err)
		}
		if err := st.MailFailed(t.Context(), claimed[0].Once, "connection refused", time.Hour); err != nil {
			t.Fatal(err)
		}
		c.move(-25 * 24 * time.Hour)
		if err := outbox.Send(t.Context()); err != nil || len(box.All()) != 2 {
			t.Errorf("%d mails: %v", len(box.All()), err)
		}
	})
}

// A database that hangs blocks neither the outbox nor the shutdown of the process.
func TestOutboxWithADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	c := &clock{}
	st := storetest.OpenURL(t, url, store.Options{Now: c.now, Skew: c.skew, Patience: 200 * time.Millisecond})
	expiring(t, st, c)
	ctx, stop := context.WithCancel(t.Context())
	outbox := newOutbox(st, &hanging{func() {
		storetest.Lock(t, url, "mails")
		stop()
	}})
	for _, what := range []string{"noting that a mail was sent", "looking for mails"} {
		done := make(chan error, 1)
		go func() { done <- outbox.Send(ctx) }()
		select {
		case err := <-done:
			if models.ErrorCode(err) != models.CodeUnavailable {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: no end", what)
		}
		ctx = t.Context()
	}
}

// A mail that is written while its account is being closed is neither sent nor kept: it holds the name of a key.
func TestOutboxOfAClosedAccount(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	c := &clock{}
	st := storetest.OpenURL(t, url, store.Options{Now: c.now, Skew: c.skew})
	expires := c.now().Add(5 * 24 * time.Hour)
	key := storetest.Key(t, st, "ada@example.com")
	storetest.Exec(t, url, fmt.Sprintf("UPDATE api_keys SET name = 'laptop', created_at = now() - interval '30 days', expires_at = '%s'", expires.Format(time.RFC3339)))
	release := storetest.Hold(t, url, "INSERT INTO mails (account_id, kind, once, created_at, next_at) VALUES ('', '', 'key_expires:"+key.ID+"', now(), now())")
	posted := make(chan error, 1)
	go func() {
		_, err := st.MailExpiringKeys(context.WithoutCancel(t.Context()), 7*24*time.Hour)
		posted <- err
	}()
	storetest.UntilBlocked(t, storetest.SQL(t, url), 1)
	if _, err := st.DeleteAccount(t.Context(), key.AccountID); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-posted; err != nil {
		t.Fatal(err)
	}
	box := &mail.Mailbox{}
	if err := newOutbox(st, box).Send(t.Context()); err != nil || len(box.All()) != 0 {
		t.Errorf("%d mails: %v", len(box.All()), err)
	}
	if mails, err := st.MailsNewest(t.Context(), store.MailFilter{}); err != nil || len(mails) != 0 {
		t.Errorf("kept: %+v, %v", mails, err)
	}
}
