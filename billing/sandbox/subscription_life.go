package sandbox

import "time"

const (
	reasonCreate = "subscription_create"
	reasonCycle  = "subscription_cycle"

	incompleteFor = 23 * time.Hour // https://docs.stripe.com/billing/subscriptions/overview#subscription-lifecycle
)

// begin starts a subscription: its first period, its first invoice and, if pay is set, the first attempt to collect it.
// The subscription is incomplete until that is paid, even if that happens immediately.
func (s *Sandbox) begin(sub *subscription, pay, atCheckout bool) {
	now := s.now()
	sub.ID = s.newID("sub_1", longID-1)
	sub.Created, sub.PeriodStart = now, now
	p := sub.price(s)
	sub.Currency = p.Currency
	trial := sub.TrialEnd > now
	if trial {
		sub.Status, sub.TrialStart, sub.Anchor, sub.PeriodEnd = statusTrialing, now, sub.TrialEnd, sub.TrialEnd
	} else {
		sub.Status, sub.Anchor, sub.PeriodEnd = statusIncomplete, now, nextPeriod(now, now, p)
	}
	inv := s.newInvoice(sub, reasonCreate, trial)
	sub.Latest = inv.ID
	insert(s, &s.d.Subs, sub, "", 0)
	s.emit("customer.subscription.created", sub.render(s), nil)
	s.emit("invoice.created", inv.render(s), nil)
	s.finalize(inv)
	if pay || trial {
		s.attempt(inv, atCheckout)
	}
}

func (sub *subscription) due(s *Sandbox) int64 {
	at := int64(0)
	sooner := func(t int64) {
		if t != 0 && (at == 0 || t < at) {
			at = t
		}
	}
	switch sub.Status {
	case statusIncomplete:
		if inv, ok := find[*invoice](s, sub.Latest); !ok || inv.SettlesAt == 0 {
			sooner(sub.Created + int64(incompleteFor/time.Second))
		}
	case statusTrialing:
		sooner(sub.TrialEnd)
	case statusActive, statusPastDue, statusUnpaid:
		sooner(sub.PeriodEnd)
	default:
		return 0
	}
	sooner(sub.CancelAt)
	return at
}

func (sub *subscription) run(s *Sandbox) {
	now := s.now()
	switch {
	case sub.CancelAt != 0 && sub.CancelAt <= now, sub.AtPeriodEnd && sub.PeriodEnd <= now && sub.Status != statusIncomplete:
		s.end(sub, sub.Reason)
	case sub.Status == statusIncomplete:
		s.changeSub(sub, func() { sub.Status, sub.EndedAt = statusExpired, now })
		if inv, ok := find[*invoice](s, sub.Latest); ok && inv.Status == invoiceOpen {
			s.void(inv)
		}
	default:
		s.renew(sub)
	}
}

// changeSub applies f to a subscription and emits the event about what differs.
func (s *Sandbox) changeSub(sub *subscription, f func()) {
	s.change(sub, "customer.subscription.updated", f)
}

// end cancels a subscription immediately. What it still owes is no longer collected. One that was never paid becomes
// incomplete_expired, and is updated rather than deleted: https://github.com/dj-stripe/dj-stripe/issues/1168.
func (s *Sandbox) end(sub *subscription, reason string) {
	now := s.now()
	first := sub.Status == statusIncomplete
	for _, inv := range s.d.Invoices.of(sub.Customer) {
		if inv.Subscription != sub.ID || inv.Status != invoiceOpen {
			continue
		}
		inv.NextAttempt = 0
		if first {
			s.void(inv)
		}
	}
	status, event := statusCanceled, "customer.subscription.deleted"
	if first {
		status, event = statusExpired, "customer.subscription.updated"
	}
	sub.Status, sub.EndedAt, sub.Reason, s.dirty = status, now, reason, true
	if sub.CanceledAt == 0 {
		sub.CanceledAt = now
	}
	s.emit(event, sub.render(s), nil)
}

// renew begins the next period, or the first after a trial, and bills it.
func (s *Sandbox) renew(sub *subscription) {
	var inv *invoice
	s.changeSub(sub, func() {
		sub.PeriodStart = sub.PeriodEnd
		sub.PeriodEnd = nextPeriod(sub.Anchor, sub.PeriodStart, sub.price(s))
		if sub.Status == statusTrialing {
			sub.Status = statusActive
		}
		inv = s.newInvoice(sub, reasonCycle, false)
		sub.Latest = inv.ID
	})
	s.emit("invoice.created", inv.render(s), nil)
	if sub.Status == statusUnpaid {
		return // a draft that nobody collects
	}
	s.finalize(inv)
	s.attempt(inv, false)
}
