package sandbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/billing/sandbox"
)

const day = 24 * time.Hour

func TestCheckoutPaid(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer := b.customer()
	cs := b.checkout(customer)
	if cs.Status != "open" || cs.PaymentStatus != "unpaid" || cs.AmountTotal != 999 || cs.URL != b.URL+"/c/pay/"+cs.ID {
		t.Fatalf("%+v", cs)
	}
	next, ok, err := b.Pay(cs.ID, sandbox.CardOK)
	if err != nil || !ok || next != "https://example.com/done?session="+cs.ID {
		t.Fatal(next, ok, err)
	}
	b.quiesce()
	got := must(b.API.CheckoutSessions.Get(cs.ID, &stripe.CheckoutSessionParams{Expand: stripe.StringSlice([]string{"subscription", "customer", "line_items", "invoice.charge"})}))(t)
	sub := got.Subscription
	switch {
	case got.Status != "complete" || got.PaymentStatus != "paid" || got.ClientReferenceID != "a1":
		t.Errorf("session: %+v", got)
	case sub.Status != "active" || sub.Customer.ID != customer || sub.Metadata["account"] != "a1":
		t.Errorf("subscription: %+v", sub)
	case sub.Items.Data[0].Price.ID != b.price || sub.CurrentPeriodEnd != b.clock.Now().AddDate(0, 1, 0).Unix():
		t.Errorf("subscription: %+v", sub)
	case got.Customer.Metadata["account"] != "a1" || got.Customer.Email != "ann@example.com":
		t.Errorf("customer: %+v", got.Customer)
	case got.LineItems.Data[0].Price.UnitAmount != 999 || got.Invoice.Charge.Status != "succeeded" || got.Invoice.AmountPaid != 999:
		t.Errorf("invoice: %+v", got.Invoice)
	}
	want := []string{
		"customer.created", "customer.subscription.created", "invoice.created", "invoice.finalized", "charge.succeeded", "invoice.paid",
		"invoice.payment_succeeded", "customer.subscription.updated", "checkout.session.completed",
	}
	if types := b.hook.types(); !slices.Equal(types, want) {
		t.Errorf("events %q", types)
	}
	if len(b.hook.bad) > 0 {
		t.Error("signatures:", b.hook.bad)
	}
	for _, e := range b.hook.got {
		if e.Type == "customer.subscription.updated" && e.Data.PreviousAttributes["status"] != "incomplete" {
			t.Errorf("previous_attributes %v", e.Data.PreviousAttributes)
		}
	}
	if _, ok, _ := b.Pay(cs.ID, sandbox.CardOK); !ok || len(b.Subscriptions(customer)) != 1 {
		t.Error("a second payment of the same session made a second subscription")
	}
}
