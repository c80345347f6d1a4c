package main

import (
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// What cannot be worked on while the database is away is logged once, and once more when it can be again: not at each
// attempt, of which the inbox has one a second.
func TestAnOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	p := startWith(t, []string{"LOTTERY_STRIPE_SECRET_KEY=sk_test_1", "LOTTERY_STRIPE_WEBHOOK_SECRET=whsec_1", "LOTTERY_STRIPE_API_URL=http://127.0.0.1:1"},
		serveArgs(server.NewDatabase(t), "--smtp-url", "smtp://127.0.0.1:1", "--mail-from", "a@example.com")...)
	parts := []string{"the billing inbox", "the outbox"}
	all := func(what string) func() bool {
		return func() bool {
			log := p.stderr.String()
			return strings.Contains(log, parts[0]+what) && strings.Contains(log, parts[1]+what)
		}
	}
	server.Stop()
	storetest.Until(t, "the outage to be logged", all(" cannot be worked on now"))
	time.Sleep(6 * time.Second) // another attempt of each
	server.Start(t)
	storetest.Until(t, "its end to be logged", all(" can be worked on again"))
	for _, part := range parts {
		if n := strings.Count(p.stderr.String(), part+" cannot be worked on now"); n != 1 {
			t.Errorf("%s: logged %d times", part, n)
		}
	}
}
