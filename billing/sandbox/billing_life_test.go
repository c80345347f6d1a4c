package sandbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/billing/sandbox"
)

func TestCheckoutDeclined(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer := b.customer()
	cs := b.checkout(customer)
	if _, ok, err := b.Pay(cs.ID, sandbox.CardDeclined); ok || err != nil {
		t.Fatal(ok, err)
	}
	got := must(b.API.CheckoutSessions.Get(cs.ID, nil))(t)
	left := b.Subscriptions(customer)
	if got.Status != "open" || got.PaymentStatus != "unpaid" || got.Subscription != nil || len(left) != 1 || left[0].Status != "incomplete" {
		t.Errorf("%+v, %+v", got, left)
	}
	b.quiesce()
	if !slices.Contains(b.hook.types(), "charge.failed") {
		t.Error(b.hook.types())
	}
	if _, ok, _ := b.Pay(cs.ID, sandbox.CardDeclined); ok || len(b.Subscriptions(customer)) != 1 {
		t.Error("a second refusal")
	}
	if _, ok, _ := b.Pay(cs.ID, sandbox.CardOK); !ok || len(b.Subscriptions(customer)) != 1 || b.Subscriptions(customer)[0].Status != "active" {
		t.Error("another try with a good card did not pay")
	}

	late := b.checkout(customer)
	_, _, err := b.Pay(late.ID, sandbox.CardDeclined)
	b.must(err)
	b.hush()
	left = b.Subscriptions(customer)
	if got := must(b.API.Subscriptions.Cancel(left[1].ID, nil))(t); got.Status != "incomplete_expired" || got.EndedAt == 0 || got.CanceledAt == 0 {
		t.Errorf("%+v", got)
	}
	b.quiesce()
	if types := b.hook.types(); !slices.Contains(types, "customer.subscription.updated") || slices.Contains(types, "customer.subscription.deleted") {
		t.Error(types)
	}
}

// TestCheckoutPaidElsewhere pays for what a refused card began in the portal: the checkout then charges nothing more.
func TestCheckoutPaidElsewhere(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer := b.customer()
	cs := b.checkout(customer)
	_, _, err := b.Pay(cs.ID, sandbox.CardDeclined)
	b.must(err)
	b.must(b.SetCard(customer, sandbox.CardOK))
	b.must(b.RetryPayment(b.Subscriptions(customer)[0].ID))
	if _, ok, err := b.Pay(cs.ID, sandbox.CardOK); !ok || err != nil || len(b.Subscriptions(customer)) != 1 {
		t.Error(ok, err, b.Subscriptions(customer))
	}
	b.quiesce()
	if n := len(slices.DeleteFunc(b.hook.types(), func(s string) bool { return s != "charge.succeeded" })); n != 1 {
		t.Errorf("charged %d times", n)
	}
}

func TestArchivedProduct(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	customer := b.customer()
	must(b.API.Products.Update(b.product, &stripe.ProductParams{Active: new(false)}))(t)
	_, err := b.API.CheckoutSessions.New(&stripe.CheckoutSessionParams{
		Mode: new("subscription"), Customer: &customer, SuccessURL: new("https://example.com"), LineItems: []*stripe.CheckoutSessionLineItemParams{{Price: &b.price}},
	})
	if got := stripeError(err); got.HTTPStatusCode != 400 || got.Param != "line_items[0][price]" || !strings.Contains(got.Msg, "its product is not active") {
		t.Error(err)
	}
}

func TestCheckoutPaysLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		card  sandbox.Card
		after func(b *bench, session string)
		sub   string
		pay   string
		event string
	}{
		"settled by hand": {sandbox.BankPays, func(b *bench, id string) { b.must(b.Settle(id, true)) }, "active", "paid", "checkout.session.async_payment_succeeded"},
		"fails by hand":   {sandbox.BankPays, func(b *bench, id string) { b.must(b.Settle(id, false)) }, "past_due", "unpaid", "checkout.session.async_payment_failed"},
		"by itself":       {sandbox.BankPays, func(b *bench, _ string) { b.Advance(4 * day) }, "active", "paid", "checkout.session.async_payment_succeeded"},
		"fails by itself": {sandbox.BankFails, func(b *bench, _ string) { b.Advance(4 * day) }, "past_due", "unpaid", "checkout.session.async_payment_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t).sells().listens()
			customer, sub := b.pro(c.card)
			cs := b.Sessions(customer)[0]
			if got := must(b.API.CheckoutSessions.Get(cs.ID, nil))(t); got.Status != "complete" || got.PaymentStatus != "unpaid" {
				t.Errorf("%+v", got)
			}
			b.Advance(24 * time.Hour) // the bank has not answered
			b.want(sub, "active")
			if inv := b.Invoices(customer); len(inv) != 1 || inv[0].Status != "open" {
				t.Errorf("%+v", inv)
			}
			c.after(b, cs.ID)
			b.want(sub, c.sub)
			if got := must(b.API.CheckoutSessions.Get(cs.ID, nil))(t); string(got.PaymentStatus) != c.pay {
				t.Errorf("payment_status %s", got.PaymentStatus)
			}
			b.quiesce()
			if !slices.Contains(b.hook.types(), c.event) {
				t.Error(b.hook.types())
			}
		})
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestRenewals(t *testing.T) {
	t.Parallel()
	b := open(t).sells()
	b.clock.at = time.Date(2027, 1, 31, 10, 0, 0, 0, time.UTC)
	customer, sub := b.pro(sandbox.CardOK)
	b.Advance(365 * day)
	got := must(b.API.Subscriptions.Get(sub, nil))(t)
	if got.Status != "active" || time.Unix(got.CurrentPeriodEnd, 0).UTC() != time.Date(2028, 2, 29, 10, 0, 0, 0, time.UTC) {
		t.Errorf("%s until %s", got.Status, time.Unix(got.CurrentPeriodEnd, 0).UTC())
	}
	invoices := b.Invoices(customer)
	var ends []string
	for it := b.API.Invoices.List(&stripe.InvoiceListParams{Subscription: &sub}); it.Next(); {
		ends = append(ends, time.Unix(it.Invoice().PeriodEnd, 0).UTC().Format("01-02"))
	}
	want := []string{"02-29", "01-31", "12-31", "11-30", "10-31", "09-30", "08-31", "07-31", "06-30", "05-31", "04-30", "03-31", "02-28"}
	if len(invoices) != 13 || !slices.Equal(ends, want) {
		t.Errorf("%d invoices, ends %v", len(invoices), ends)
	}
	for _, i := range invoices {
		if i.Status != "paid" {
			t.Errorf("%+v", i)
		}
	}
	if got := b.Now().Sub(b.clock.Now()); got != 365*day {
		t.Errorf("the clock moved by %s", got)
	}
}

func TestFailedRenewal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  string
		mend bool
		want string
	}{
		"paid on the second try": {"canceled", true, "active"},
		"canceled":               {"canceled", false, "canceled"},
		"unpaid":                 {"unpaid", false, "unpaid"},
		"stays past due":         {"past_due", false, "past_due"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t).sells().listens()
			b.SetDunning(sandbox.Dunning{Retries: sandbox.DefaultDunning().Retries, End: c.end})
			customer, sub := b.pro(sandbox.CardFailsLater)
			b.Advance(b.Subscriptions(customer)[0].PeriodEnd.Sub(b.Now()))
			b.want(sub, "past_due")
			inv := b.Invoices(customer)[1]
			if inv.NextAttempt.Sub(b.Now()) != 3*day || inv.Status != "open" {
				t.Errorf("%+v", inv)
			}
			if c.mend {
				b.must(b.SetCard(customer, sandbox.CardOK))
			}
			b.Advance(3 * day)
			if !c.mend {
				b.want(sub, "past_due")
				b.Advance(5 * day)
				b.want(sub, "past_due")
				b.Advance(7 * day)
			}
			b.want(sub, c.want)
			got := must(b.API.Invoices.Get(inv.ID, nil))(t)
			wantAttempts, wantPaid := int64(4), false
			if c.mend {
				wantAttempts, wantPaid = 2, true
			}
			if got.AttemptCount != wantAttempts || got.Paid != wantPaid || got.NextPaymentAttempt != 0 {
				t.Errorf("attempts %d, paid %t, next %d", got.AttemptCount, got.Paid, got.NextPaymentAttempt)
			}
			b.quiesce()
			failures := 0
			for _, typ := range b.hook.types() {
				if typ == "invoice.payment_failed" {
					failures++
				}
			}
			if want := int(wantAttempts); !c.mend && failures != want || c.mend && failures != 1 {
				t.Errorf("%d times invoice.payment_failed", failures)
			}
			if c.want == "unpaid" { // paying the latest invoice makes it active again
				b.must(b.SetCard(customer, sandbox.CardOK))
				b.must(b.RetryPayment(sub))
				b.want(sub, "active")
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer, sub := b.pro(sandbox.CardOK)
	got := must(b.API.Subscriptions.Update(sub, &stripe.SubscriptionParams{CancelAtPeriodEnd: new(true)}))(t)
	if got.Status != "active" || !got.CancelAtPeriodEnd || got.CancelAt != got.CurrentPeriodEnd || got.CanceledAt == 0 || got.CancellationDetails.Reason != "cancellation_requested" {
		t.Errorf("%+v", got)
	}
	got = must(b.API.Subscriptions.Update(sub, &stripe.SubscriptionParams{CancelAtPeriodEnd: new(false)}))(t)
	if got.CancelAtPeriodEnd || got.CancelAt != 0 || got.CanceledAt != 0 {
		t.Errorf("%+v", got)
	}
	b.Advance(40 * day)
	b.want(sub, "active")
	b.must(b.CancelAtPeriodEnd(sub, true))
	end := b.Subscriptions(customer)[0].PeriodEnd
	b.Advance(40 * day)
	got = must(b.API.Subscriptions.Get(sub, nil))(t)
	if got.Status != "canceled" || got.EndedAt != end.Unix() || len(b.Invoices(customer)) != 2 {
		t.Errorf("%+v", got)
	}
	b.quiesce()
	if types := b.hook.types(); types[len(types)-1] != "customer.subscription.deleted" {
		t.Error(types)
	}
	if _, err := b.API.Subscriptions.Cancel(sub, nil); stripeError(err).Code != "resource_missing" {
		t.Errorf("cancelled twice: %v", err)
	}
	if _, err := b.API.Subscriptions.Update(sub, &stripe.SubscriptionParams{CancelAtPeriodEnd: new(true)}); stripeError(err).HTTPStatusCode != 400 {
		t.Errorf("changed after its end: %v", err)
	}
	if n := count(t, b.API.Subscriptions.List(&stripe.SubscriptionListParams{Customer: &customer}), 0); n != 0 {
		t.Error("listed without status=all")
	}

	_, other := b.pro(sandbox.CardOK)
	if got := must(b.API.Subscriptions.Cancel(other, nil))(t); got.Status != "canceled" || got.EndedAt != b.Now().Unix() {
		t.Errorf("%+v", got)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer := b.customer()
	for _, status := range []string{"incomplete", "incomplete_expired", "trialing", "active", "past_due", "canceled", "unpaid", "paused"} {
		id, err := b.NewSubscription(customer, b.price, status, map[string]string{"account": "a1"})
		b.must(err)
		b.want(id, status)
	}
	count(t, b.API.Subscriptions.List(&stripe.SubscriptionListParams{Customer: &customer, Status: new("all")}), 8)
	count(t, b.API.Subscriptions.List(&stripe.SubscriptionListParams{Customer: &customer}), 7)
	b.Advance(24 * time.Hour)
	if subs := b.Subscriptions(customer); subs[0].Status != "incomplete_expired" {
		t.Errorf("%+v", subs[0])
	}
	b.quiesce()
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer := b.customer()
	first, second := b.checkout(customer), b.checkout(customer)
	if got := must(b.API.CheckoutSessions.Expire(first.ID, nil))(t); got.Status != "expired" || got.URL != "" {
		t.Errorf("%+v", got)
	}
	if _, err := b.API.CheckoutSessions.Expire(first.ID, nil); stripeError(err).HTTPStatusCode != 400 {
		t.Error("expired twice", err)
	}
	if _, ok, _ := b.Pay(first.ID, sandbox.CardOK); ok {
		t.Error("an expired session was paid")
	}
	b.Advance(25 * time.Hour)
	if got := must(b.API.CheckoutSessions.Get(second.ID, nil))(t); got.Status != "expired" {
		t.Errorf("%+v", got)
	}
	b.quiesce()
	if n := len(slices.DeleteFunc(b.hook.types(), func(s string) bool { return s != "checkout.session.expired" })); n != 2 {
		t.Errorf("%d expired", n)
	}
}

func TestRefundsAndDisputes(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	_, sub := b.pro(sandbox.CardOK)
	b.hush()
	b.must(b.Refund(sub, 400))
	tooMuch := b.Refund(sub, 600)
	b.must(b.Refund(sub, 0))
	if tooMuch == nil || b.Refund(sub, 0) == nil || b.Refund(sub, 1) == nil {
		t.Error("more was refunded than was paid")
	}
	b.want(sub, "active")
	b.quiesce()
	var full []bool
	for _, e := range b.hook.got {
		full = append(full, e.Data.Object["refunded"].(bool))
	}
	if !slices.Equal(b.hook.types(), []string{"charge.refunded", "charge.refunded"}) || !slices.Equal(full, []bool{false, true}) {
		t.Error(b.hook.types(), full)
	}
	_, other := b.pro(sandbox.CardOK)
	b.hush()
	inquiry, err := b.Dispute(other, true)
	b.must(err)
	b.must(b.CloseDispute(inquiry, "warning_closed"))
	lost, err := b.Dispute(other, false)
	b.must(err)
	if d := must(b.API.Disputes.Get(lost, nil))(t); d.Status != "needs_response" || d.Amount != 999 {
		t.Errorf("%+v", d)
	}
	b.must(b.CloseDispute(lost, "lost"))
	b.want(other, "active")
	b.quiesce()
	want := []string{
		"charge.updated", "charge.dispute.created", "charge.dispute.closed", "charge.dispute.created", "charge.dispute.funds_withdrawn", "charge.dispute.closed",
	}
	if !slices.Equal(b.hook.types(), want) {
		t.Error(b.hook.types())
	}
}

func TestDeletedCustomer(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer, sub := b.pro(sandbox.CardOK)
	cs := b.checkout(customer)
	b.must(b.DeleteCustomer(customer))
	if got := must(b.API.Customers.Get(customer, nil))(t); !got.Deleted || got.Email != "" {
		t.Errorf("%+v", got)
	}
	b.want(sub, "canceled")
	if got := must(b.API.CheckoutSessions.Get(cs.ID, nil))(t); got.Status != "expired" {
		t.Errorf("%+v", got)
	}
	if _, err := b.API.CheckoutSessions.New(&stripe.CheckoutSessionParams{
		Mode: new("subscription"), Customer: &customer, SuccessURL: new("https://example.com"), LineItems: []*stripe.CheckoutSessionLineItemParams{{Price: &b.price}},
	}); stripeError(err).Code != "resource_missing" || stripeError(err).Param != "customer" {
		t.Error(err)
	}
	if _, err := b.API.Customers.Update(customer, &stripe.CustomerParams{Name: new("x")}); stripeError(err).HTTPStatusCode != 404 {
		t.Error(err)
	}
	b.quiesce()
	types := b.hook.types()
	if !slices.Equal(types[len(types)-3:], []string{"customer.subscription.deleted", "checkout.session.expired", "customer.deleted"}) {
		t.Error(types)
	}
}

func TestPriceChangedInTheDashboard(t *testing.T) {
	t.Parallel()
	b := open(t).sells().listens()
	customer, sub := b.pro(sandbox.CardOK)
	other := must(b.API.Products.New(&stripe.ProductParams{Name: new("Else")}))(t)
	p := must(b.API.Prices.New(&stripe.PriceParams{
		Currency: new("usd"), UnitAmount: new(int64(1)), Recurring: &stripe.PriceRecurringParams{Interval: new("month")}, Product: &other.ID,
	}))(t)
	b.must(b.SetPrice(sub, p.ID))
	if got := b.Subscriptions(customer)[0]; got.Prices[0] != p.ID || got.Products[0] != p.Product.ID {
		t.Errorf("%+v", got)
	}
	got := must(b.API.Subscriptions.Get(sub, nil))(t)
	back := must(b.API.Subscriptions.Update(sub, &stripe.SubscriptionParams{
		Items: []*stripe.SubscriptionItemsParams{{ID: &got.Items.Data[0].ID, Price: &b.price}},
	}))(t)
	if len(back.Items.Data) != 1 || back.Items.Data[0].Price.ID != b.price || back.Items.Data[0].ID != got.Items.Data[0].ID {
		t.Errorf("%+v", back.Items.Data[0])
	}
}
