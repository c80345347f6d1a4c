package web_test

import (
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web/mail"
)

// The mail before a key expires identifies the key without revealing it, and says what to do.
func TestKeyExpiryMail(t *testing.T) {
	t.Parallel()
	c := &clock{}
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	key := expiring(t, st, c)
	box := &mail.Mailbox{}
	outbox := newOutbox(st, box)
	if err := outbox.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := box.All()
	if len(all) != 1 || all[0].To != "ada@example.com" {
		t.Fatalf("%+v", all)
	}
	text := all[0].Subject + "\n" + all[0].Text()
	for _, want := range []string{
		"An API key expires on " + key.ExpiresAt.UTC().Format("January 2, 2006"), "“laptop” (" + key.Prefix + "…)", "https://draws.example/dashboard/keys", "create a new key",
		"The Free plan has room for 2 keys. If all of them work, one has to be revoked first.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, key.Secret[:len(key.Prefix)+1]) {
		t.Error("the mail tells more of the key than its prefix")
	}
}

// A mail about an expiring key is not sent if, while it waited for the mail server, the key was revoked, rotated or has
// expired, or the account was suspended.
func TestKeyExpiryMailOvertaken(t *testing.T) {
	t.Parallel()
	for name, seeTo := range map[string]func(st *store.Store, c *clock, key store.Key) error{
		"revoked": func(st *store.Store, _ *clock, key store.Key) error {
			_, err := st.RevokeKey(t.Context(), key.ID)
			return err
		},
		"rotated": func(st *store.Store, _ *clock, key store.Key) error {
			_, _, err := st.RotateKey(t.Context(), key.ID, 24*time.Hour)
			return err
		},
		"expired": func(_ *store.Store, c *clock, _ store.Key) error {
			c.move(6 * 24 * time.Hour)
			return nil
		},
		"suspended": func(st *store.Store, _ *clock, key store.Key) error {
			_, err := st.SetAccountStatus(t.Context(), key.AccountID, models.AccountSuspended)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &clock{}
			st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
			key := expiring(t, st, c)
			server := down{}
			outbox := newOutbox(st, server)
			if err := outbox.Send(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := seeTo(st, c, key); err != nil {
				t.Fatal(err)
			}
			c.move(time.Hour)
			box := &mail.Mailbox{}
			outbox.Mail = box
			if err := outbox.Send(t.Context()); err != nil {
				t.Fatal(err)
			}
			if all := box.All(); len(all) != 0 {
				t.Errorf("%s", all[0].Text())
			}
			if q, err := st.OutboxState(t.Context()); err != nil || q.Waiting != 0 || q.Dead != 0 {
				t.Errorf("%d mails wait, %d are given up: %v", q.Waiting, q.Dead, err)
			}
		})
	}
}
