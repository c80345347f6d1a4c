package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lottery/billing/sandbox"
	"lottery/models"
)

// wantMail fails the test unless the newest mail has the subject, contains all of says and none of not.
func (s *shop) wantMail(subject string, says, not []string) {
	s.t.Helper()
	newest := s.box.All()[0]
	text := newest.Text()
	if newest.Subject != subject {
		s.t.Errorf("the newest mail is %q, want %q", newest.Subject, subject)
	}
	for _, words := range says {
		if !strings.Contains(text, words) {
			s.t.Errorf("%s does not say %q:\n%s", subject, words, text)
		}
	}
	for _, words := range not {
		if strings.Contains(text, words) {
			s.t.Errorf("%s says %q:\n%s", subject, words, text)
		}
	}
}

// If Pro ends because it was not paid, the mail does not suggest an upgrade, which is refused while the subscription
// continues.
func TestMailOfTheEnd(t *testing.T) {
	t.Parallel()
	for status, says := range map[string]string{
		"unpaid": "paying it brings Pro back", "paused": "does not give you Pro as it is", "canceled": "You can upgrade again at any time",
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			s.customer()
			if err := s.stripe.SetStatus(s.stripe.Subscriptions("")[0].ID, status); err != nil {
				t.Fatal(err)
			}
			s.sync("ada@example.com")
			not := []string{"upgrade again"}
			if status == "canceled" {
				not = []string{"is still open"}
			}
			s.wantMail("Pro has ended", []string{says, "Your keys still work"}, not)
		})
	}
}

// Mails state the account's own limit, and that a suspended account cannot use its plan.
func TestMailsKnowTheAccount(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	s := openShop(t)
	p := s.signedIn(email)
	limit := 25_000
	if _, err := s.store.OverrideLimit(t.Context(), email, &limit); err != nil {
		t.Fatal(err)
	}
	returned := s.buy(p, sandbox.CardOK)
	s.sync(email)
	s.wantMail("You are on Pro", []string{"25,000 requests a day"}, []string{"10,000"})
	if _, err := s.store.SetAccountStatus(t.Context(), email, models.AccountSuspended); err != nil {
		t.Fatal(err)
	}
	p.get(returned).says(t, http.StatusOK, "We received your payment", "Your account is suspended")
	if err := s.stripe.Cancel(s.stripe.Subscriptions("")[0].ID); err != nil {
		t.Fatal(err)
	}
	s.sync(email)
	s.wantMail("Pro has ended", []string{"is suspended", "help@example.com"}, []string{"Your keys still work", "upgrade"})
}

// Mails that are no longer true when the mail server is back are not sent.
func TestMailsThatAreOvertaken(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	s := openShop(t)
	p := s.signedIn(email)
	s.buy(p, sandbox.CardOK)
	s.sync(email)
	s.wantMail("You are on Pro", nil, nil)

	sub, customer := s.stripe.Subscriptions("")[0].ID, s.stripe.Customers()[0].ID
	sent := func(wait ...func() error) (subjects []string) {
		t.Helper()
		before := len(s.box.All())
		for _, do := range wait {
			if err := do(); err != nil {
				t.Fatal(err)
			}
			s.read(email)
		}
		s.sync(email)
		for _, m := range s.box.All()[:len(s.box.All())-before] {
			subjects = append(subjects, m.Subject)
		}
		return subjects
	}
	fails := func() error {
		return errors.Join(s.stripe.SetCard(customer, sandbox.CardDeclined), s.stripe.Renew(sub))
	}
	pays := func() error {
		return errors.Join(s.stripe.SetCard(customer, sandbox.CardOK), s.stripe.RetryPayment(sub))
	}
	ends := func() error { return s.stripe.Cancel(sub) }
	again := func() error {
		s.buy(p, sandbox.CardOK)
		return nil
	}
	for _, c := range []struct {
		wait []func() error
		want string
	}{
		{[]func() error{fails, pays}, "[]"},
		{[]func() error{fails}, "[Your payment failed]"},
		{[]func() error{pays, ends, again}, "[You are on Pro]"},
		{[]func() error{func() error { sub = s.live(); return ends() }}, "[Pro has ended]"},
		{[]func() error{again, func() error { sub = s.live(); return ends() }}, "[Pro has ended]"},
	} {
		if got := fmt.Sprint(sent(c.wait...)); got != c.want {
			t.Errorf("mails %s, want %s", got, c.want)
		}
	}
	if q, err := s.store.OutboxState(t.Context()); err != nil || q.Waiting+q.Dead != 0 {
		t.Errorf("%d mails wait and %d were given up: %v", q.Waiting, q.Dead, err)
	}
}

// live returns the id of the active subscription.
func (s *shop) live() string {
	s.t.Helper()
	for _, sub := range s.stripe.Subscriptions("") {
		if sub.Status == models.SubscriptionActive {
			return sub.ID
		}
	}
	s.t.Fatal("no subscription is paid")
	return ""
}
