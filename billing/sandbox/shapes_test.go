package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/billing/sandbox"
)

// kinds lists every type of object in the sandbox's responses.
var kinds = []string{
	"account", "balance", "customer", "product", "price", "checkout.session", "item", "subscription", "subscription_item", "invoice", "line_item",
	"payment_intent", "charge", "payment_method", "refund", "dispute", "event", "webhook_endpoint", "billing_portal.configuration",
	"billing_portal.session", "list",
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
	must(b.API.Balance.Get(nil))(t)
	p := must(b.API.Products.New(&stripe.ProductParams{
		Name: new("Other"), Description: new("Something"), URL: new("https://example.com"), Active: new(true), Metadata: map[string]string{"a": "b"},
	}))(t)
	price := must(b.API.Prices.New(&stripe.PriceParams{
		Currency: new("usd"), UnitAmount: new(int64(9900)), Nickname: new("year"), LookupKey: new("lottery_pro_monthly"), TransferLookupKey: new(true),
		TaxBehavior: new("exclusive"), Recurring: &stripe.PriceRecurringParams{Interval: new("year"), IntervalCount: new(int64(1))},
		ProductData: &stripe.PriceProductDataParams{Name: new("Made with its price")}, Expand: stripe.StringSlice([]string{"product"}),
	}))(t)
	if price.Product.Name != "Made with its price" || price.LookupKey != "lottery_pro_monthly" {
		t.Errorf("%+v", price)
	}
	must(b.API.Prices.Update(b.price, &stripe.PriceParams{LookupKey: new("lottery_pro_monthly"), TransferLookupKey: new(true), Active: new(true)}))(t)
	must(b.API.Prices.Get(b.price, nil))(t)
	must(b.API.Products.Update(p.ID, &stripe.ProductParams{Name: new("Renamed"), DefaultPrice: new("")}))(t)
	must(b.API.Products.Get(p.ID, nil))(t)
	count(t, b.API.Products.List(&stripe.ProductListParams{Active: new(true)}), 3)
	count(t, b.API.Prices.List(&stripe.PriceListParams{LookupKeys: stripe.StringSlice([]string{"lottery_pro_monthly"}), Active: new(true)}), 1)
	count(t, b.API.Prices.List(&stripe.PriceListParams{Product: new(price.Product.ID), Type: new("recurring")}), 1)

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
	must(b.API.Customers.Get(c, &stripe.CustomerParams{Expand: stripe.StringSlice([]string{"subscriptions"})}))(t)
	count(t, b.API.Customers.List(&stripe.CustomerListParams{Email: new("ann@example.com")}), 1)

	g := b.configuration("at_period_end")
	must(b.API.BillingPortalConfigurations.Update(g.ID, &stripe.BillingPortalConfigurationParams{Active: new(true), Metadata: map[string]string{"a": "b"}}))(t)
	must(b.API.BillingPortalConfigurations.Get(g.ID, nil))(t)
	count(t, b.API.BillingPortalConfigurations.List(&stripe.BillingPortalConfigurationListParams{Active: new(true)}), 1)
	count(t, b.API.BillingPortalConfigurations.List(&stripe.BillingPortalConfigurationListParams{IsDefault: new(true)}), 0)
	b.portal(c, g.ID)

	first := b.checkout(c)
	must(b.API.CheckoutSessions.Expire(first.ID, nil))(t)
	cs := b.checkout(c)
	count(t, b.API.CheckoutSessions.List(&stripe.CheckoutSessionListParams{Customer: &c, Status: new("open")}), 1)
	must(b.API.CheckoutSessions.Get(cs.ID, &stripe.CheckoutSessionParams{Expand: stripe.StringSlice([]string{"line_items"})}))(t)
	count(t, b.API.CheckoutSessions.ListLineItems(&stripe.CheckoutSessionListLineItemsParams{Session: &cs.ID}), 1)
	if _, ok, err := b.Pay(cs.ID, sandbox.BankPays); err != nil || !ok {
		t.Fatal(ok, err)
	}
	must(b.API.CheckoutSessions.Get(cs.ID, &stripe.CheckoutSessionParams{Expand: stripe.StringSlice([]string{"subscription.latest_invoice.payment_intent.latest_charge"})}))(t)
}

func shapesOfMoney(t *testing.T, b *bench) {
	t.Helper()
	c, sub := b.pro(sandbox.CardOK)
	must(b.API.Subscriptions.Get(sub, &stripe.SubscriptionParams{Expand: stripe.StringSlice([]string{"customer", "latest_invoice.charge", "default_payment_method", "items.data.price.product"})}))(t)
	count(t, b.API.Subscriptions.List(&stripe.SubscriptionListParams{Customer: &c, Status: new("all"), Expand: stripe.StringSlice([]string{"data.latest_invoice"})}), 1)
	must(b.API.Subscriptions.Update(sub, &stripe.SubscriptionParams{
		CancelAtPeriodEnd: new(true), Metadata: map[string]string{"x": "y"}, ProrationBehavior: new("none"),
		PauseCollection: &stripe.SubscriptionPauseCollectionParams{Behavior: new("void")},
	}))(t)
	undo := &stripe.SubscriptionParams{CancelAtPeriodEnd: new(false)}
	undo.AddExtra("pause_collection", "")
	if got := must(b.API.Subscriptions.Update(sub, undo))(t); got.PauseCollection != nil || got.CancelAtPeriodEnd {
		t.Errorf("%+v", got)
	}
	count(t, b.API.Invoices.List(&stripe.InvoiceListParams{Customer: &c, Subscription: &sub, Status: new("paid")}), 1)
	inv := b.Invoices(c)[0]
	must(b.API.Invoices.Get(inv.ID, &stripe.InvoiceParams{Expand: stripe.StringSlice([]string{"payment_intent", "charge", "subscription"})}))(t)
	ch := must(b.API.Charges.Get(inv.Charge, &stripe.ChargeParams{Expand: stripe.StringSlice([]string{"refunds", "payment_intent"})}))(t)
	must(b.API.PaymentIntents.Get(ch.PaymentIntent.ID, &stripe.PaymentIntentParams{Expand: stripe.StringSlice([]string{"payment_method"})}))(t)
	count(t, b.API.PaymentIntents.List(&stripe.PaymentIntentListParams{Customer: &c}), 1)
	count(t, b.API.Charges.List(&stripe.ChargeListParams{Customer: &c}), 1)
	re := must(b.API.Refunds.New(&stripe.RefundParams{Charge: &inv.Charge, Amount: new(int64(100)), Reason: new("requested_by_customer")}))(t)
	must(b.API.Refunds.Get(re.ID, &stripe.RefundParams{Expand: stripe.StringSlice([]string{"charge"})}))(t)
	must(b.API.Refunds.Update(re.ID, &stripe.RefundParams{Metadata: map[string]string{"a": "b"}}))(t)
	count(t, b.API.Refunds.List(&stripe.RefundListParams{Charge: &inv.Charge}), 1)
	if _, err := b.Dispute(inv.ID, true); err != nil {
		t.Fatal(err)
	}
	count(t, b.API.Disputes.List(&stripe.DisputeListParams{Charge: &inv.Charge}), 1)
	dp, err := b.Dispute(inv.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	must(b.API.Disputes.Get(dp, nil))(t)
	must(b.API.Disputes.Close(dp, nil))(t)

	must(b.API.Customers.Get(c, &stripe.CustomerParams{Expand: stripe.StringSlice([]string{"invoice_settings.default_payment_method"})}))(t)
	if err := b.SetCard(c, sandbox.CardFailsLater); err != nil {
		t.Fatal(err)
	}
	b.Advance(32 * 24 * time.Hour)
	failed := must(b.API.Subscriptions.Get(sub, &stripe.SubscriptionParams{Expand: stripe.StringSlice([]string{"latest_invoice.payment_intent"})}))(t)
	if failed.Status != "past_due" || failed.LatestInvoice.PaymentIntent.LastPaymentError == nil {
		t.Errorf("%+v", failed.LatestInvoice.PaymentIntent)
	}
	if _, err := b.API.Invoices.Pay(failed.LatestInvoice.ID, nil); stripeError(err).Code != "card_declined" {
		t.Error(err)
	}
	must(b.API.Invoices.Pay(failed.LatestInvoice.ID, &stripe.InvoicePayParams{PaidOutOfBand: new(true)}))(t)
	b.want(sub, "active")
	count(t, b.API.Events.List(&stripe.EventListParams{Types: stripe.StringSlice([]string{"customer.subscription.updated", "charge.refunded"})}), -1)
	count(t, b.API.Customers.ListPaymentMethods(&stripe.CustomerListPaymentMethodsParams{Customer: &c}), 2)
}

func shapesOfEnd(t *testing.T, b *bench) {
	t.Helper()
	c := must(b.API.Customers.New(&stripe.CustomerParams{
		PaymentMethod: new("pm_card_visa"), Email: new("bob@example.com"),
	}))(t)
	sub := must(b.API.Subscriptions.New(&stripe.SubscriptionParams{
		Customer: &c.ID, Items: []*stripe.SubscriptionItemsParams{{Price: &b.price}}, Metadata: map[string]string{"account": "a"}, TrialPeriodDays: new(int64(7)),
	}))(t)
	if sub.Status != "trialing" {
		t.Errorf("%+v", sub)
	}
	must(b.API.Subscriptions.Cancel(sub.ID, &stripe.SubscriptionCancelParams{CancellationDetails: &stripe.SubscriptionCancelCancellationDetailsParams{Comment: new("bye")}}))(t)
	open := must(b.API.Subscriptions.New(&stripe.SubscriptionParams{
		Customer: &c.ID, Items: []*stripe.SubscriptionItemsParams{{Price: &b.price}}, PaymentBehavior: new("default_incomplete"),
	}))(t)
	b.want(open.ID, "incomplete")
	must(b.API.Invoices.VoidInvoice(open.LatestInvoice.ID, nil))(t)
	b.want(open.ID, "incomplete_expired")
	e := must(b.API.Events.List(&stripe.EventListParams{Type: new("customer.subscription.deleted"), CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: 1}}).EventList(), nil)(t)
	must(b.API.Events.Get(e.Data[0].ID, nil))(t)
	if got := must(b.API.Customers.Del(c.ID, nil))(t); !got.Deleted {
		t.Errorf("%+v", got)
	}
	if got := must(b.API.Customers.Get(c.ID, nil))(t); !got.Deleted {
		t.Errorf("%+v", got)
	}
	count(t, b.API.Subscriptions.List(&stripe.SubscriptionListParams{Customer: &c.ID, Status: new("ended")}), 2)
	resp, err := http.Get(b.URL + "/v1/customers")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
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
