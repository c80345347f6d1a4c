package admin_test

import (
	"strings"
	"testing"
)

// What commands say about an account that has a subscription.

// Granting a plan does not end the subscription, and the command says so.
func TestGrantBesideASubscription(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada := s.account("ada@example.com")
	s.pay(s.checkout(ada))
	if _, messages := s.run(0, "accounts", "set-plan", ada, "free"); !strings.Contains(messages, "keeps charging") {
		t.Errorf("%q", messages)
	}
	if _, messages := s.run(0, "accounts", "set-plan", ada, "billing"); strings.Contains(messages, "charging") {
		t.Errorf("%q", messages)
	}
}

// A subscription that is set to end charges nothing more, and nobody is told that it does.
func TestGrantAndSuspensionBesideASubscriptionThatEnds(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada := s.account("ada@example.com")
	s.pay(s.checkout(ada))
	if err := s.stand.CancelAtPeriodEnd(s.stand.Subscriptions("")[0].ID, true); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"set-plan", ada, "pro"}, {"suspend", ada, "--yes"}} {
		_, messages := s.run(0, append([]string{"accounts"}, args...)...)
		if strings.Contains(messages, "charging") || strings.Contains(messages, "is still running") != (args[0] == "suspend") {
			t.Errorf("%s: %q", args[0], messages)
		}
	}
}

// Every suspension of a paying account is flagged, even after the flag of an earlier one was cleared.
func TestSuspendedTwice(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada := s.account("ada@example.com")
	s.pay(s.checkout(ada))
	for range 2 {
		out, messages := s.run(0, "accounts", "suspend", ada, "--yes", "--output=csv")
		if !strings.Contains(messages, "The account is flagged.") || !strings.Contains(out, ",pro,billing,suspended,") { // read from Stripe
			t.Errorf("%q %q", out, messages)
		}
		s.wantFlags(ada, "suspended_subscription")
		s.run(0, "billing", "clear-flags", ada)
		s.run(0, "billing", "sync", ada)
		s.wantFlags(ada) // the same state does not raise it again
		s.run(0, "accounts", "resume", ada)
	}
}
