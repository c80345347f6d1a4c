package billing

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// subscription is what counts of a Stripe subscription.
type subscription struct {
	id           string
	status       string
	created      int64
	periodEnd    *time.Time  // or, if ending, its own end
	ending       bool        // it is set to end: with its period, or on a date
	plan         models.Plan // that its price gives; "" = none
	priceID      string
	ours         bool      // to our product, whether or not the price is known
	pastDueSince time.Time // of one that is past due: when its oldest unpaid invoice was due, or its period began
	owes         bool      // its latest invoice is not paid, and would be charged by itself
	sold         bool      // by a checkout of ours, not made by hand
	neverPaid    bool      // it has invoices to pay, and none of them ever was
	paidLate     string    // its latest invoice, if that was paid when the subscription had ended; "" if not
}

// lastSecond is the last of the year 9999: databases hold no later time.
const lastSecond = 253402300799

// read takes what counts out of sub. A period's end that Stripe left out is none, not 1970. One that is cancelled on a
// date ends then, wherever its periods end.
func read(sub *stripe.Subscription, prices map[string]models.KnownPrice) subscription {
	out := subscription{
		id: sub.ID, status: string(sub.Status), created: sub.Created, ending: sub.CancelAtPeriodEnd || sub.CancelAt > 0, sold: sub.Metadata[accountKey] != "",
		owes: sub.CollectionMethod != stripe.SubscriptionCollectionMethodSendInvoice && sub.LatestInvoice != nil && owed(sub.LatestInvoice.Status),
	}
	if paidLate(sub) {
		out.paidLate = sub.LatestInvoice.ID
	}
	if at := cmp.Or(sub.CancelAt, sub.CurrentPeriodEnd); at > 0 && at <= lastSecond {
		end := time.Unix(at, 0).UTC()
		out.periodEnd = &end
	}
	if at := sub.CurrentPeriodStart; at > 0 && at <= lastSecond { // where no invoice says better
		out.pastDueSince = time.Unix(at, 0).UTC()
	}
	if sub.Items == nil {
		return out
	}
	for _, item := range sub.Items.Data {
		if item.Price == nil {
			continue
		}
		if known, ok := prices[item.Price.ID]; ok {
			out.plan, out.priceID, out.ours = known.Plan, known.PriceID, true
			return out
		}
		for _, known := range prices {
			if item.Price.Product != nil && item.Price.Product.ID == known.ProductID {
				out.priceID, out.ours = item.Price.ID, true
			}
		}
	}
	return out
}

// owed tells whether an invoice in a state is not paid. One that is void is not to be paid.
func owed(status stripe.InvoiceStatus) bool {
	return status == stripe.InvoiceStatusDraft || status == stripe.InvoiceStatusOpen || status == stripe.InvoiceStatusUncollectible
}

// paidLate tells whether money for a period came when the subscription had ended: cancelling does not call a debit back
// that a bank decides on. What Stripe bills because of the end is not meant.
func paidLate(sub *stripe.Subscription) bool {
	inv := sub.LatestInvoice
	return sub.EndedAt > 0 && inv != nil && inv.AmountPaid > 0 && inv.StatusTransitions != nil && inv.StatusTransitions.PaidAt > sub.EndedAt &&
		(inv.BillingReason == stripe.InvoiceBillingReasonSubscriptionCreate || inv.BillingReason == stripe.InvoiceBillingReasonSubscriptionCycle)
}

// unclear tells whether only the invoices say what the subscription gives: one that is past due may have been paid before,
// and one whose latest invoice is not paid may be active at Stripe before any was.
func (s *subscription) unclear() bool {
	return s.plan != "" && (s.status == models.SubscriptionPastDue || s.status == models.SubscriptionActive && s.owes)
}

// waits takes for unfinished what Stripe calls active while a bank decides on the first debit: nothing was paid for it yet.
func (s *subscription) waits() {
	if s.neverPaid && s.status == models.SubscriptionActive {
		s.status = models.SubscriptionIncomplete
	}
}

// underWay tells whether a bank may be deciding on a payment, the first or that of a renewal.
func (s *subscription) underWay() bool {
	return s.owes && (s.status == models.SubscriptionActive || s.status == models.SubscriptionIncomplete && s.neverPaid)
}

// over tells whether nothing can come of the subscription any more.
func (s *subscription) over() bool {
	return models.SubscriptionOver(s.status)
}

// paid tells whether the subscription gives its plan without further question.
func (s *subscription) paid() bool {
	return s.status == models.SubscriptionActive || s.status == models.SubscriptionTrialing
}

// until orders subscriptions by how long they last: those that go on before those that are set to end.
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

// standing is what an account's subscriptions come to.
type standing struct {
	plan        *models.Plan  // that they give; nil = none
	chosen      *subscription // the one that gives it, or else the one to tell of; nil = there never was one
	graceEndsAt *time.Time    // when the plan ends unless the payment comes; nil unless past due in grace
	surplus     []subscription
	several     []subscription // unfinished or set to end beside the chosen one, but not paid twice
	unknown     []subscription // paid, to our product, at a price that gives no plan
	idle        []subscription // to our product at such a price as well, neither paid nor over
	late        []subscription // ended, and paid after that
}

// sorted puts aside what gives no plan and is told of all the same; candidates are those at a price that gives one.
func sorted(subs []subscription) (out standing, candidates []subscription) {
	for _, s := range subs {
		if s.ours && s.paidLate != "" {
			out.late = append(out.late, s)
		}
		switch {
		case s.plan != "":
			candidates = append(candidates, s)
		case s.ours && s.paid():
			out.unknown = append(out.unknown, s)
		case s.ours && !s.over():
			out.idle = append(out.idle, s)
		}
	}
	return out, candidates
}

// judge decides. All subscriptions of the customer come in, of every status; those to other products do not count.
//
// Active and trialing give the plan; past due gives it for the time of grace, if it was ever paid; unpaid, canceled,
// incomplete, incomplete_expired and paused give nothing. Of several paid ones that go on the oldest stays; one that is set
// to end was replaced by them, or ends as it is.
// https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
func judge(subs []subscription, grace time.Duration, now time.Time) standing {
	out, candidates := sorted(subs)
	rank := func(s *subscription) int {
		switch {
		case s.paid():
			return 0
		case s.status == models.SubscriptionPastDue && !s.neverPaid && now.Before(s.pastDueSince.Add(grace)):
			return 1
		case !s.over():
			return 2
		default:
			return 3
		}
	}
	slices.SortFunc(candidates, func(a, b subscription) int {
		ra, rb := rank(&a), rank(&b)
		if ra == 3 && rb == 3 {
			return cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(b.id, a.id)) // of the ended, the last
		}
		return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(b.until(), a.until()), cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
	})
	if len(candidates) == 0 {
		return out
	}
	out.chosen = &candidates[0]
	for i := range candidates[1:] {
		other := &candidates[1+i]
		switch {
		case other.over():
		case other.paid() && out.chosen.paid() && !other.ending:
			out.surplus = append(out.surplus, *other)
		default:
			out.several = append(out.several, *other)
		}
	}
	switch rank(out.chosen) {
	case 0:
		out.plan = &out.chosen.plan
	case 1:
		out.plan = &out.chosen.plan
		end := out.chosen.pastDueSince.Add(grace)
		out.graceEndsAt = &end
	}
	return out
}

// unfinished tells whether a subscription goes on, or may: another one must not be sold beside it.
func unfinished(subs []subscription) bool {
	return slices.ContainsFunc(subs, func(s subscription) bool { return s.ours && !s.over() })
}

// begun tells whether all that is unfinished was begun by a checkout and waits for its first payment, on which no bank
// decides.
func begun(subs []subscription) bool {
	return unfinished(subs) && !slices.ContainsFunc(subs, func(s subscription) bool {
		return s.ours && !s.over() && (s.status != models.SubscriptionIncomplete || !s.sold || s.neverPaid)
	})
}
