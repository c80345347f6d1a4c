package sandbox_test

import (
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/billing/sandbox"
)

// kinds lists every type of object in the sandbox's responses.
var kinds = []string{
	"account", "customer", "product", "price", "checkout.session", "item", "subscription", "subscription_item", "invoice", "line_item",
	"charge", "dispute", "event", "webhook_endpoint", "billing_portal.configuration", "billing_portal.session", "list",
}

// TestShapes calls every endpoint of the sandbox: stripe-mock must accept each request, and each response must be valid
// by Stripe's OpenAPI document and have every field that stripe-mock's has (see recorder).
func TestShapes(t *testing.T) {
	t.Parallel()
	b := open(t)
	seen, deleted := map[string]bool{}, map[string]bool{}
	rec := recorder{t: t, seen: func(o map[string]any) {
		kind, _ := o["object"].(string)
		if o["deleted"] == true {
			deleted[kind] = true
			return
		}
		seen[kind] = true
	}}
	b.API = apiVia(b.URL, sandbox.DefaultKey, rec)
	b.sells().listens()
	shapesOfSetup(t, b)
	shapesOfCheckout(t, b)
	shapesOfMoney(t, b)
	shapesOfEnd(t, b)
	for _, k := range kinds {
		if !seen[k] {
			t.Errorf("no answer held a %s", k)
		}
	}
	for _, k := range []string{"customer", "webhook_endpoint"} {
		if !deleted[k] {
			t.Errorf("no answer held a deleted %s", k)
		}
	}
}

func shapesOfSetup(t *testing.T, b *bench) {
	t.Helper()
	must(b.API.Accounts.Get())(t)
	p := must(b.API.Products.New(&stripe.ProductParams{
		Name: new("Other"), ID: new("other"), Description: new("Something"), Active: new(true), Metadata: map[string]string{"a": "b"},
	}))(t)
	must(b.API.Prices.New(&stripe.PriceParams{
		Currency: new("usd"), UnitAmount: new(int64(9900)), LookupKey: new("lottery_pro_monthly"), TransferLookupKey: new(true),
		Recurring: &stripe.PriceRecurringParams{Interval: new("year"), IntervalCount: new(int64(1))}, Product: &p.ID,
	}))(t)
	must(b.API.Prices.Update(b.price, &stripe.PriceParams{LookupKey: new("lottery_pro_monthly"), TransferLookupKey: new(true), Active: new(true)}))(t)
	must(b.API.Products.Update(p.ID, &stripe.ProductParams{Name: new("Renamed")}))(t)
	must(b.API.Products.Get(p.ID, nil))(t)
	count(t, b.API.Prices.List(&stripe.PriceListParams{LookupKeys: stripe.StringSlice([]string{"lottery_pro_monthly"}), Active: new(true)}), 1)
	count(t, b.API.Prices.List(&stripe.PriceListParams{Active: new(true)}), 2)

	e := must(b.API.WebhookEndpoints.New(&stripe.WebhookEndpointParams{
		URL: new("https://example.com/stripe"), EnabledEvents: stripe.StringSlice([]string{"invoice.paid"}), Description: new("x"),
	}))(t)
	must(b.API.WebhookEndpoints.Update(e.ID, &stripe.WebhookEndpointParams{Disabled: new(true), EnabledEvents: stripe.StringSlice([]string{"charge.refunded"})}))(t)
	if got := must(b.API.WebhookEndpoints.Get(e.ID, nil))(t); got.Status != "disabled" || got.Secret != "" || e.Secret == "" {
		t.Errorf("%+v", got)
	}
	count(t, b.API.WebhookEndpoints.List(nil), 2)
	if got := must(b.API.WebhookEndpoints.Del(e.ID, nil))(t); !got.Deleted {
		t.Errorf("%+v", got)
	}
	count(t, b.API.WebhookEndpoints.List(nil), 1)
}

func (b *bench) configuration(mode string) *stripe.BillingPortalConfiguration {
	b.t.Helper()
	return must(b.API.BillingPortalConfigurations.New(&stripe.BillingPortalConfigurationParams{
		BusinessProfile:  &stripe.BillingPortalConfigurationBusinessProfileParams{Headline: new("Lottery"), PrivacyPolicyURL: new("https://example.com/p")},
		DefaultReturnURL: new("https://example.com/account"),
		Features: &stripe.BillingPortalConfigurationFeaturesParams{
			CustomerUpdate:      &stripe.BillingPortalConfigurationFeaturesCustomerUpdateParams{Enabled: new(true), AllowedUpdates: stripe.StringSlice([]string{"email"})},
			InvoiceHistory:      &stripe.BillingPortalConfigurationFeaturesInvoiceHistoryParams{Enabled: new(true)},
			PaymentMethodUpdate: &stripe.BillingPortalConfigurationFeaturesPaymentMethodUpdateParams{Enabled: new(true)},
			SubscriptionCancel:  &stripe.BillingPortalConfigurationFeaturesSubscriptionCancelParams{Enabled: new(true), Mode: &mode},
		},
	}))(b.t)
}

func (b *bench) portal(customer, configuration string) *stripe.BillingPortalSession {
	b.t.Helper()
	return must(b.API.BillingPortalSessions.New(&stripe.BillingPortalSessionParams{
		Customer: &customer, Configuration: &configuration, ReturnURL: new("https://example.com/back"),
	}))(b.t)
}

func shapesOfCheckout(t *testing.T, b *bench) {
	t.Helper()
	c := b.customer()
	must(b.API.Customers.Update(c, &stripe.CustomerParams{Name: new("Ann"), Metadata: map[string]string{"account": "", "other": "x"}}))(t)
	must(b.API.Customers.Get(c, nil))(t)
	count(t, b.API.Customers.List(&stripe.CustomerListParams{Email: new("ann@example.com")}), 1)

	g := b.configuration("at_period_end")
	must(b.API.BillingPortalConfigurations.Update(g.ID, &stripe.BillingPortalConfigurationParams{Active: new(true), Metadata: map[string]string{"a": "b"}}))(t)
	must(b.API.BillingPortalConfigurations.Get(g.ID, nil))(t)
	count(t, b.API.BillingPortalConfigurations.List(&stripe.BillingPortalConfigurationListParams{Active: new(true)}), 1)
	b.portal(c, g.ID)

	first := b.checkout(c)
	must(b.API.CheckoutSessions.Expire(first.ID, nil))(t)
	cs := b.checkout(c)
	count(t, b.API.CheckoutSessions.List(&stripe.CheckoutSessionListParams{Customer: &c, Expand: stripe.StringSlice([]string{"data.line_items"})}), 2)
	must(b.API.CheckoutSessions.Get(cs.ID, &stripe.CheckoutSessionParams{Expand: stripe.StringSlice([]string{"line_items"})}))(t)
	if _, ok, err := b.Pay(cs.ID, sandbox.BankPays); err != nil || !ok {
		t.Fatal(ok, err)
	}
	must(b.API.CheckoutSessions.Get(cs.ID, &stripe.CheckoutSessionParams{Expand: stripe.StringSlice([]string{"subscription.latest_invoice.charge"})}))(t)
}

func shapesOfMoney(t *testing.T, b *bench) {
	t.Helper()
	c, sub := b.pro(sandbox.CardOK)
	must(b.API.Subscriptions.Get(sub, &stripe.SubscriptionParams{Expand: stripe.StringSlice([]string{"customer", "latest_invoice.charge"})}))(t)
	count(t, b.API.Subscriptions.List(&stripe.SubscriptionListParams{Customer: &c, Status: new("all"), Expand: stripe.StringSlice([]string{"data.latest_invoice"})}), 1)
	must(b.API.Subscriptions.Update(sub, &stripe.SubscriptionParams{CancelAt: new(b.Now().Add(time.Hour).Unix()), Metadata: map[string]string{"x": "y"}}))(t)
	must(b.API.Subscriptions.Update(sub, &stripe.SubscriptionParams{CancelAtPeriodEnd: new(true)}))(t)
	must(b.API.Subscriptions.Update(sub, &stripe.SubscriptionParams{CancelAtPeriodEnd: new(false)}))(t)
	count(t, b.API.Invoices.List(&stripe.InvoiceListParams{Subscription: &sub}), 1)
	inv := b.Invoices(c)[0]
	must(b.API.Invoices.Get(inv.ID, &stripe.InvoiceParams{Expand: stripe.StringSlice([]string{"charge", "subscription"})}))(t)
	must(b.API.Charges.Get(inv.Charge, &stripe.ChargeParams{Expand: stripe.StringSlice([]string{"invoice"})}))(t)
	if _, err := b.Dispute(inv.ID, true); err != nil {
		t.Fatal(err)
	}
	dp, err := b.Dispute(inv.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	must(b.API.Disputes.Get(dp, &stripe.DisputeParams{Expand: stripe.StringSlice([]string{"charge.invoice"})}))(t)
	if err := b.SetCard(c, sandbox.CardFailsLater); err != nil {
		t.Fatal(err)
	}
	b.Advance(32 * 24 * time.Hour)
	failed := must(b.API.Subscriptions.Get(sub, &stripe.SubscriptionParams{Expand: stripe.StringSlice([]string{"latest_invoice.charge"})}))(t)
	if failed.Status != "past_due" || failed.LatestInvoice.Charge.FailureCode != "card_declined" {
		t.Errorf("%+v", failed.LatestInvoice.Charge)
	}
	count(t, b.API.Events.List(&stripe.EventListParams{Type: new("customer.subscription.updated")}), -1)
}

func shapesOfEnd(t *testing.T, b *bench) {
	t.Helper()
	c := b.customer()
	if err := b.SetCard(c, sandbox.CardOK); err != nil {
		t.Fatal(err)
	}
	sub := must(b.API.Subscriptions.New(&stripe.SubscriptionParams{
		Customer: &c, Items: []*stripe.SubscriptionItemsParams{{Price: &b.price}}, Metadata: map[string]string{"account": "a"},
	}))(t)
	if _, err := b.NewSubscription(c, b.price, "trialing", nil); err != nil {
		t.Fatal(err)
	}
	must(b.API.Subscriptions.Cancel(sub.ID, &stripe.SubscriptionCancelParams{CancellationDetails: &stripe.SubscriptionCancelCancellationDetailsParams{Comment: new("bye")}}))(t)
	if err := b.DeleteCustomer(c); err != nil {
		t.Fatal(err)
	}
	if got := must(b.API.Customers.Get(c, nil))(t); !got.Deleted {
		t.Errorf("%+v", got)
	}
	count(t, b.API.Subscriptions.List(&stripe.SubscriptionListParams{Customer: &c, Status: new("all")}), 2)
}

// count reads all pages and checks how many items there are; want -1 = some.
func count(t *testing.T, it interface {
	Next() bool
	Err() error
}, want int,
) int {
	t.Helper()
	n := 0
	for it.Next() {
		n++
	}
	if it.Err() != nil || n != want && want >= 0 || n == 0 && want < 0 {
		t.Errorf("listed %d, want %d: %v", n, want, it.Err())
	}
	return n
}

func stripeError(err error) *stripe.Error {
	if e, ok := err.(*stripe.Error); ok {
		return e
	}
	return &stripe.Error{}
}
