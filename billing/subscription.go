package billing

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// subscription is the part of a Stripe subscription that decides about the plan.
type subscription struct {
	id           string
	status       string
	created      int64
	periodEnd    *time.Time  // or when the subscription itself ends, if it is set to
	ending       bool        // it is set to end, with its period or on a date
	plan         models.Plan // the plan that its price gives; "" = none
	priceID      string      // several if it has several items, with commas between them
	items        int         // how many of its items are for our product
	quantity     int64       // how many times the price is charged; of several, the first one
	each         string      // what one costs, if it is a price that gives a plan
	ours         bool        // for our product, whether or not the price is known, or once sold for it
	pastDueSince time.Time   // if past due: when its oldest unpaid invoice was due, or else when its period began
	owes         bool        // its latest invoice is unpaid, and Stripe collects it automatically
	asked        bool        // the same, and that invoice is open: a bank may have been asked to pay it
	sold         bool        // made by one of our checkouts, not by hand
	besideABank  time.Time   // when it was canceled, if a bank may have been deciding then; else zero
	neverPaid    bool        // it has unpaid invoices, and none was ever paid
	refused      bool        // Stripe canceled it because a payment failed
	paidAt       time.Time   // when its latest invoice was paid; zero if it was not
	paidLate     string      // its latest invoice, if that was paid after the subscription ended; else ""
}

// lastSecond is the last second of the year 9999: databases hold no later time.
const lastSecond = 253402300799

// read extracts a subscription from Stripe's sub. A missing period end stays nil instead of becoming 1970. A
// subscription that is set to cancel on a date ends on that date, whatever its period.
func read(sub *stripe.Subscription, prices map[string]models.KnownPrice) subscription {
	out := subscription{
		id: sub.ID, status: string(sub.Status), created: sub.Created, ending: sub.CancelAtPeriodEnd || sub.CancelAt > 0, sold: sub.Metadata[accountKey] != "",
		owes: sub.CollectionMethod != stripe.SubscriptionCollectionMethodSendInvoice && sub.LatestInvoice != nil && owed(sub.LatestInvoice.Status),
	}
	out.asked = out.owes && sub.LatestInvoice.Status == stripe.InvoiceStatusOpen
	if sub.CancellationDetails != nil && sub.CancellationDetails.Comment == besideABank {
		out.besideABank = time.Unix(sub.EndedAt, 0)
	}
	out.refused = sub.CancellationDetails != nil && sub.CancellationDetails.Reason == stripe.SubscriptionCancellationDetailsReasonPaymentFailed
	if inv := sub.LatestInvoice; inv != nil && inv.StatusTransitions != nil && inv.StatusTransitions.PaidAt > 0 {
		out.paidAt = time.Unix(inv.StatusTransitions.PaidAt, 0)
	}
	if paidLate(sub) {
		out.paidLate = sub.LatestInvoice.ID
	}
	if at := cmp.Or(sub.CancelAt, sub.CurrentPeriodEnd); at > 0 && at <= lastSecond {
		end := time.Unix(at, 0).UTC()
		out.periodEnd = &end
	}
	if at := sub.CurrentPeriodStart; at > 0 && at <= lastSecond { // unless an invoice gives a better date
		out.pastDueSince = time.Unix(at, 0).UTC()
	}
	if sub.Items != nil {
		out.charges(sub.Items.Data, prices)
	}
	return out
}

// charges notes what the subscription is for, and whether it charges more than one of our prices.
func (s *subscription) charges(items []*stripe.SubscriptionItem, prices map[string]models.KnownPrice) {
	var ids []string
	for _, item := range items {
		if item.Price == nil {
			continue
		}
		known, ok := prices[item.Price.ID]
		if ofPro(item.Price, prices) {
			ids = append(ids, item.Price.ID)
		}
		switch {
		case s.plan != "":
		case ok:
			s.plan, s.priceID, s.ours = known.Plan, known.PriceID, true
			s.quantity, s.each = item.Quantity, models.MoneyText(known.UnitAmount, known.Currency)
		case ofPro(item.Price, prices) || s.sold && !s.ours: // the operator may have moved what we sold to another product
			s.priceID, s.ours, s.quantity = item.Price.ID, true, item.Quantity
		}
	}
	if s.items = len(ids); s.items > 1 {
		s.priceID = strings.Join(ids, ", ")
	}
}

// ofPro reports whether a price is one of our product's, whether or not it is known.
func ofPro(p *stripe.Price, prices map[string]models.KnownPrice) bool {
	if _, ok := prices[p.ID]; ok {
		return true
	}
	for _, known := range prices {
		if p.Product != nil && p.Product.ID == known.ProductID {
			return true
		}
	}
	return false
}

// owed reports whether an invoice with this status is still to be paid. A void one is not.
func owed(status stripe.InvoiceStatus) bool {
	return status == stripe.InvoiceStatusDraft || status == stripe.InvoiceStatusOpen || status == stripe.InvoiceStatusUncollectible
}

// paidLate reports whether a period was paid for after the subscription had ended: cancelling does not call back a
// debit that a bank is still deciding on. An invoice that Stripe makes because of the end itself does not count.
func paidLate(sub *stripe.Subscription) bool {
	inv := sub.LatestInvoice
	return sub.EndedAt > 0 && inv != nil && inv.AmountPaid > 0 && inv.StatusTransitions != nil && inv.StatusTransitions.PaidAt > sub.EndedAt &&
		(inv.BillingReason == stripe.InvoiceBillingReasonSubscriptionCreate || inv.BillingReason == stripe.InvoiceBillingReasonSubscriptionCycle)
}

// unclear reports whether only the invoices show what the subscription gives: a past-due one gives its plan only if it
// was ever paid, and Stripe may call one active before its first invoice is paid.
func (s *subscription) unclear() bool {
	return s.plan != "" && (s.status == models.SubscriptionPastDue || s.status == models.SubscriptionActive && s.owes)
}

// underWay reports whether a payment may come before the subscription is past due, the first or a renewal's.
func (s *subscription) underWay() bool {
	return s.owes && (s.status == models.SubscriptionActive || s.status == models.SubscriptionIncomplete && s.neverPaid)
}

// withBank reports whether a bank may be deciding on a payment now. A renewal's invoice is a draft for its first hour,
// and longer while the operator has paused collection.
func (s *subscription) withBank() bool { return s.asked && s.underWay() }

// bankDecides is longer than a bank takes to decide on a debit: 14 business days, with holidays between them
// (https://docs.stripe.com/payments/sepa-debit).
const bankDecides = 28 * 24 * time.Hour

// leftWithBank reports whether a bank may be deciding at now on a payment for a subscription that was canceled
// meanwhile.
func (s *subscription) leftWithBank(now time.Time) bool {
	return s.asked && now.Sub(s.besideABank) < bankDecides
}

// over reports whether the subscription has ended for good.
func (s *subscription) over() bool {
	return models.SubscriptionOver(s.status)
}

// paid reports whether the subscription's status alone is enough to give its plan.
func (s *subscription) paid() bool {
	return s.status == models.SubscriptionActive || s.status == models.SubscriptionTrialing
}

// until is a sort key, in Unix seconds, for how long the subscription lasts: one that is not set to end lasts longest.
func (s *subscription) until() int64 {
	switch {
	case !s.ending:
		return math.MaxInt64
	case s.periodEnd == nil:
		return 0
	default:
		return s.periodEnd.Unix()
	}
}

// goesOn reports whether the subscription is for our product and has not ended: it charges, or may.
func (s *subscription) goesOn() bool { return s.ours && !s.over() }

// begun reports whether the subscription only waits for its first payment at a checkout of ours, with no bank still
// deciding.
func (s *subscription) begun() bool {
	return s.goesOn() && s.status == models.SubscriptionIncomplete && s.sold && !s.neverPaid
}

// unfinished reports whether a subscription goes on: another must not be sold beside it.
func unfinished(subs []subscription) bool {
	return slices.ContainsFunc(subs, func(s subscription) bool { return s.goesOn() })
}

// allBegun reports whether something is unfinished, and all of it was only begun.
func allBegun(subs []subscription) bool {
	return unfinished(subs) && !slices.ContainsFunc(subs, func(s subscription) bool { return s.goesOn() && !s.begun() })
}
