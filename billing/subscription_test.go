package billing

import (
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// A field that Stripe leaves out is absent, never 1970.
func TestRead(t *testing.T) {
	t.Parallel()
	prices := map[string]models.KnownPrice{"price_pro": {PriceID: "price_pro", ProductID: "prod_1", Plan: models.PlanPro}}
	items := func(list ...*stripe.SubscriptionItem) *stripe.SubscriptionItemList {
		return &stripe.SubscriptionItemList{Data: list}
	}
	pro := &stripe.SubscriptionItem{Price: &stripe.Price{ID: "price_pro", Product: &stripe.Product{ID: "prod_1"}}}
	other := &stripe.SubscriptionItem{Price: &stripe.Price{ID: "price_x", Product: &stripe.Product{ID: "prod_1"}}}
	socks := &stripe.SubscriptionItem{Price: &stripe.Price{ID: "price_y", Product: &stripe.Product{ID: "prod_2"}}}
	for name, c := range map[string]struct {
		items *stripe.SubscriptionItemList
		plan  models.Plan
		price string
		ours  bool
	}{
		"nothing":         {nil, "", "", false},
		"no items":        {items(), "", "", false},
		"no price":        {items(&stripe.SubscriptionItem{}), "", "", false},
		"no product":      {items(&stripe.SubscriptionItem{Price: &stripe.Price{ID: "price_z"}}), "", "", false},
		"Pro":             {items(pro), models.PlanPro, "price_pro", true},
		"another price":   {items(other), "", "price_x", true},
		"another product": {items(socks), "", "", false},
		"socks and Pro":   {items(socks, pro), models.PlanPro, "price_pro", true},
		"other and Pro":   {items(other, pro), models.PlanPro, "price_x, price_pro", true},
	} {
		sub := &stripe.Subscription{ID: "sub_1", Status: "active", Items: c.items}
		got := read(sub, prices)
		if got.plan != c.plan || got.priceID != c.price || got.ours != c.ours || got.periodEnd != nil || !got.pastDueSince.IsZero() {
			t.Errorf("%s: %+v", name, got)
		}
		sub.Metadata = map[string]string{accountKey: "acc_1"}
		if sold := read(sub, prices); sold.plan != c.plan || c.ours && sold.priceID != c.price || sold.ours != (sold.priceID != "") {
			t.Errorf("%s, sold by a checkout: %+v", name, sold)
		}
	}
	for name, c := range map[string]struct {
		sub  stripe.Subscription
		end  time.Time
		ends bool
	}{
		"goes on":            {stripe.Subscription{CurrentPeriodEnd: noon.Unix()}, noon, false},
		"with its period":    {stripe.Subscription{CurrentPeriodEnd: noon.Unix(), CancelAtPeriodEnd: true}, noon, true},
		"on that date":       {stripe.Subscription{CurrentPeriodEnd: noon.Unix(), CancelAtPeriodEnd: true, CancelAt: noon.Unix()}, noon, true},
		"before its period":  {stripe.Subscription{CurrentPeriodEnd: noon.Unix(), CancelAt: noon.Unix() - 60}, noon.Add(-time.Minute), true},
		"periods after this": {stripe.Subscription{CurrentPeriodEnd: noon.Unix(), CancelAt: noon.Unix() + 60}, noon.Add(time.Minute), true},
	} {
		if got := read(&c.sub, prices); got.periodEnd == nil || !got.periodEnd.Equal(c.end) || got.ending != c.ends {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := read(&stripe.Subscription{CurrentPeriodEnd: noon.Unix(), CurrentPeriodStart: noon.Unix() - 1}, prices)
	if got.periodEnd == nil || !got.periodEnd.Equal(noon) || !got.pastDueSince.Equal(noon.Add(-time.Second)) {
		t.Errorf("%+v", got)
	}
	late := time.Date(10_000, time.January, 1, 0, 0, 0, 0, time.UTC).Unix() // no database holds it
	got = read(&stripe.Subscription{CurrentPeriodEnd: late, CurrentPeriodStart: late}, prices)
	if got.periodEnd != nil || !got.pastDueSince.IsZero() {
		t.Errorf("%+v", got)
	}
}

// A period's payment is late if it came after the subscription had ended.
func TestReadPaidLate(t *testing.T) {
	t.Parallel()
	const cycle, hand = stripe.InvoiceBillingReasonSubscriptionCycle, stripe.InvoiceBillingReasonManual
	for name, c := range map[string]struct {
		amount, paid int64 // paid: seconds after noon
		reason       stripe.InvoiceBillingReason
		ended        int64
		late         string
	}{
		"after the end":  {999, 1, cycle, noon.Unix(), "in_1"},
		"at the end":     {999, 0, cycle, noon.Unix(), ""},
		"nothing to pay": {0, 1, cycle, noon.Unix(), ""},
		"made by hand":   {999, 1, hand, noon.Unix(), ""},
		"goes on":        {999, 1, cycle, 0, ""},
	} {
		got := read(&stripe.Subscription{EndedAt: c.ended, LatestInvoice: &stripe.Invoice{
			ID: "in_1", AmountPaid: c.amount, BillingReason: c.reason,
			StatusTransitions: &stripe.InvoiceStatusTransitions{PaidAt: noon.Unix() + c.paid},
		}}, nil)
		if got.paidLate != c.late {
			t.Errorf("%s: %q", name, got.paidLate)
		}
	}
}

// Active means paid, unless the latest invoice is not: then the invoices decide. Customers whom the operator bills by
// hand, on terms, pay later.
func TestReadOwes(t *testing.T) {
	t.Parallel()
	terms, charged := stripe.SubscriptionCollectionMethodSendInvoice, stripe.SubscriptionCollectionMethodChargeAutomatically
	for name, c := range map[string]struct {
		latest *stripe.Invoice
		how    stripe.SubscriptionCollectionMethod
		owes   bool
	}{
		"no invoice":             {nil, charged, false},
		"not shown":              {&stripe.Invoice{ID: "in_1"}, charged, false},
		"paid":                   {&stripe.Invoice{Status: stripe.InvoiceStatusPaid}, charged, false},
		"void":                   {&stripe.Invoice{Status: stripe.InvoiceStatusVoid}, charged, false},
		"a draft":                {&stripe.Invoice{Status: stripe.InvoiceStatusDraft}, charged, true},
		"open":                   {&stripe.Invoice{Status: stripe.InvoiceStatusOpen}, charged, true},
		"given up":               {&stripe.Invoice{Status: stripe.InvoiceStatusUncollectible}, charged, true},
		"open, and sent by us":   {&stripe.Invoice{Status: stripe.InvoiceStatusOpen}, terms, false},
		"open, nothing else":     {&stripe.Invoice{Status: stripe.InvoiceStatusOpen}, "", true},
		"a mode that is to come": {&stripe.Invoice{Status: "to come"}, charged, false},
	} {
		if got := read(&stripe.Subscription{Status: "active", LatestInvoice: c.latest, CollectionMethod: c.how}, nil); got.owes != c.owes {
			t.Errorf("%s: owes %v", name, got.owes)
		}
	}
}

// Nothing is sold beside a subscription that may continue; one that has ended does not matter.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]bool{
		"active": true, "trialing": true, "past_due": true, "unpaid": true, "incomplete": true, "paused": true,
		"canceled": false, "incomplete_expired": false,
	} {
		for _, price := range []string{"known", "unknown"} {
			if got := unfinished([]subscription{sold("sub_0", "canceled", 1, "known", 0), sold("sub_1", status, 2, price, 0)}); got != want {
				t.Errorf("%s to the %s price: %v", status, price, got)
			}
		}
		if unfinished([]subscription{sold("sub_1", status, 1, "other", 0)}) {
			t.Errorf("%s to another product counts", status)
		}
	}
}
