package admin_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"lottery/billing/sandbox"
)

// If only one of two subscriptions could be canceled, deleting says which one, and that the other may still charge.
func TestDeletingCancelsOneOfTwo(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada := s.account("ada@example.com")
	s.pay(s.checkout(ada))
	status := s.object("billing", "sync", ada)
	older, _ := status["subscription_id"].(string)
	newer, err := s.stand.NewSubscription(status["customer_id"].(string), status["price_id"].(string), "active", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.stand.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/subscriptions/" + older}) // listed second
	_, messages := s.run(1, "accounts", "delete", ada, "--yes")
	if !strings.Contains(messages, "Canceled subscription "+newer) || strings.Contains(messages, "Canceled subscription "+older) ||
		!strings.Contains(messages, "it is not certain that charging has stopped") {
		t.Errorf("%q", messages)
	}
	s.stand.ClearFaults()
	s.run(0, "accounts", "delete", ada, "--yes")
}

// Deleting an account also cancels the subscription of a customer that only Stripe knows, as after a restore.
func TestDeleteAnAccountThatStripeKnows(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada := s.account("ada@example.com")
	price := s.object("billing", "setup")["price"].(string)
	customer := s.ask("/v1/customers", url.Values{"email": {"ada@example.com"}, "metadata[lottery_account]": {ada}}).ID
	sub, err := s.stand.NewSubscription(customer, price, "active", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, messages := s.run(0, "accounts", "delete", ada, "--yes"); !strings.Contains(messages, "Canceled subscription "+sub) {
		t.Errorf("%q", messages)
	}
}

// Without a Stripe key, accounts can be deleted unless they have something left to end at Stripe.
func TestDeleteWithoutAKey(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ids := map[string]string{}
	for _, name := range []string{"never", "pays", "ended", "checkout"} {
		ids[name] = s.account(name + "@example.com")
	}
	for _, name := range []string{"pays", "ended"} {
		s.pay(s.checkout(ids[name]))
		s.run(0, "billing", "sync", ids[name])
	}
	ended := s.object("billing", "status", ids["ended"])["subscription_id"].(string)
	if err := s.stand.Cancel(ended); err != nil {
		t.Fatal(err)
	}
	s.run(0, "billing", "sync", ids["ended"])
	s.now = s.now.Add(48 * time.Hour) // the checkouts that were paid have expired
	s.stand.Advance(48 * time.Hour)
	s.checkout(ids["checkout"])
	s.stripe = ""
	for name, status := range map[string]int{"never": 0, "pays": 5, "ended": 0, "checkout": 5} {
		_, messages := s.run(status, "accounts", "delete", ids[name], "--yes")
		if (status != 0) != strings.Contains(messages, "must end first: set stripe_secret_key") {
			t.Errorf("%s: %q", name, messages)
		}
	}
}

// If deleting fails, the command reports what it has already canceled.
func TestDeletingFailsAfterCancelling(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/v1/customers/*": "what it paid for is canceled", "/v1/subscriptions": "it is not certain"} {
		s := newTill(t)
		ada := s.account("ada@example.com")
		s.pay(s.checkout(ada))
		s.stand.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: path})
		_, messages := s.run(1, "accounts", "delete", ada, "--yes")
		sub := s.stand.Subscriptions("")[0]
		if ended := sub.Status == "canceled"; !strings.Contains(messages, want) || strings.Contains(messages, "Canceled subscription "+sub.ID) != ended {
			t.Errorf("%s: subscription %s: %q", path, sub.Status, messages)
		}
		if entry := s.list("audit", "list", "--limit", "1")[0]; entry["result"] != "failed: unavailable" || entry["account_id"] != ada {
			t.Errorf("%s: %v", path, entry)
		}
		s.stand.ClearFaults()
		s.run(0, "accounts", "delete", ada, "--yes")
	}
}

// Deleting cannot stop a payment that a bank is deciding on: the command says so, and a payment that arrives later is
// flagged. So is one that was made before we learned of it.
func TestDeletedWhileABankDecides(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	for _, c := range []struct {
		name        string
		card        sandbox.Card
		heard       bool
		says, flags string
	}{
		{"card", sandbox.CardOK, true, "", ""},
		{"unheard", sandbox.CardOK, false, "refund the payment in Stripe's dashboard", "closed_but_subscription"},
		{"bank", sandbox.BankPays, false, "cannot be stopped", "paid_after_end"},
	} {
		id := s.account(c.name + "@example.com")
		if _, _, err := s.stand.Pay(s.checkout(id), c.card); err != nil {
			t.Fatal(err)
		}
		if c.heard {
			s.run(0, "billing", "sync", id)
		}
		_, messages := s.run(0, "accounts", "delete", id, "--yes")
		for _, says := range []string{"refund the payment in Stripe's dashboard", "cannot be stopped"} {
			if strings.Contains(messages, says) != (says == c.says) {
				t.Errorf("%s: %q", c.name, messages)
			}
		}
		s.stand.Advance(96 * time.Hour)
		s.run(0, "billing", "sync", id)
		s.wantFlags(id, strings.Fields(c.flags)...)
	}
}
