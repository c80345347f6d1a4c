package web_test

import (
	"log/slog"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
	"lottery/web"
	"lottery/web/mail"
)

// The mail before a key expires names the key without giving it away, and says what to do.
func TestKeyExpiryMail(t *testing.T) {
	t.Parallel()
	c := &clock{}
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: c.now})
	key := expiring(t, st, c)
	box := &mail.Mailbox{}
	outbox := web.Outbox{Store: st, Mail: box, Plans: models.DefaultPlans(), PublicURL: "https://draws.example", Log: slog.New(slog.DiscardHandler)}
	if err := outbox.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := box.All()
	if len(all) != 1 || all[0].To != "ada@example.com" {
		t.Fatalf("%+v", all)
	}
	text := all[0].Subject + "\n" + all[0].Text()
	for _, want := range []string{
		"An API key expires on " + key.ExpiresAt.UTC().Format("2 January 2006"), "“laptop” (" + key.Prefix + "…)", "https://draws.example/dashboard/keys", "make a new key",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, key.Secret[:len(key.Prefix)+1]) {
		t.Error("the mail tells more of the key than its prefix")
	}
}
