package admin_test

import (
	"strings"
	"testing"

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
