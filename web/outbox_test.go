package web_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
	"lottery/web/mail"
)

// broken is a mail server that is away.
type broken struct{ away bool }

func (b *broken) Send(context.Context, mail.Message) error {
	if b.away {
		return errors.New("connection refused")
	}
	return nil
}

// Each mail of the outbox is sent once, by one of several nodes; one that fails is tried again later.
func TestOutbox(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		c := &clock{}
		st := storetest.OpenURL(t, url, store.Options{Now: c.now})
		account, err := st.CreateAccount(t.Context(), store.NewAccount{Email: "ada@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		l, ok, err := st.TryLease(t.Context(), "billing", time.Minute)
		if err != nil || !ok {
			t.Fatal(err)
		}
		pro := models.PlanPro
		_, err = st.StoreBilling(t.Context(), l, store.BillingChange{
			Billing: models.BillingAccount{AccountID: account.ID}, Plan: &pro, Actor: "stripe",
			Mails: []models.Mail{
				{AccountID: account.ID, Kind: models.MailWelcomePro, Data: "{}", Once: "welcome"},
				{AccountID: account.ID, Kind: "of a newer release", Data: "{}", Once: "new"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		box, server := &mail.Mailbox{}, &broken{away: true}
		outbox := web.Outbox{Store: st, Mail: server, Plans: models.DefaultPlans(), PublicURL: "https://draws.example", Log: slog.New(slog.DiscardHandler)}
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
		}
		mails, err := st.Mails(t.Context(), account.ID)
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

// A mail that cannot be sent is given up after ten attempts, also when the mail server comes back later.
func TestOutboxGivesUp(t *testing.T) {
	t.Parallel()
	c := &clock{}
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	expires := c.now().Add(30 * 24 * time.Hour)
	key, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "ada@example.com", Create: true, ExpiresAt: &expires})
	if err != nil {
		t.Fatal(err)
	}
	c.move(25 * 24 * time.Hour)
	if n, err := st.MailExpiringKeys(t.Context(), 7*24*time.Hour); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	outbox := web.Outbox{Store: st, Mail: &broken{away: true}, Plans: models.DefaultPlans(), PublicURL: "https://draws.example", Log: slog.New(slog.DiscardHandler)}
	const attempts = 10
	for attempt := 1; attempt <= attempts; attempt++ {
		if err := outbox.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		mails, err := st.Mails(t.Context(), key.AccountID)
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
}
