package sandbox

// attempt tries to collect an open invoice and applies the consequences. atCheckout means that the customer is paying
// on the hosted page. It reports whether the invoice is paid.
func (s *Sandbox) attempt(inv *invoice, atCheckout bool) bool {
	inv.NextAttempt, s.dirty = 0, true
	if inv.Total == 0 {
		s.markPaid(inv)
		return true
	}
	inv.Attempts++
	card := s.cardOf(inv)
	switch {
	case card == CardOK, card == CardFailsLater && atCheckout:
		s.charge(inv, card, chargeSucceeded)
		s.markPaid(inv)
		return true
	case card.bank():
		s.charge(inv, card, chargePending)
		inv.SettlesAt = s.now() + settleAfter
		s.plan(inv)
		s.activate(inv)
	default:
		if card != CardNone {
			s.charge(inv, card, chargeFailed)
		}
		s.failed(inv)
	}
	return false
}

// cardOf returns the card that pays an invoice: the subscription's, or else the customer's.
func (s *Sandbox) cardOf(inv *invoice) Card {
	if sub, ok := find[*subscription](s, inv.Subscription); ok && sub.Card != CardNone {
		return sub.Card
	}
	c, _ := find[*customer](s, inv.Customer)
	return c.Card
}

// settle applies the bank's decision on the pending payment of an invoice.
func (s *Sandbox) settle(inv *invoice, paid bool) {
	inv.SettlesAt, s.dirty = 0, true
	ch, _ := find[*charge](s, inv.Charge)
	ch.Status = chargeFailed
	if paid {
		ch.Status = chargeSucceeded
	}
	s.emit("charge."+ch.Status, ch.render(s), nil)
	if paid {
		s.markPaid(inv)
	} else {
		s.failed(inv)
	}
	s.settleSession(inv, paid)
	if sub, ok := find[*subscription](s, inv.Subscription); ok {
		s.plan(sub) // if it was made incomplete meanwhile, its 23 hours may be over
	}
}

// activate makes an incomplete subscription active once its first payment is under way: Stripe does not wait days for a
// bank's decision, and leaves the invoice open. The description of payment_behavior promises it:
// https://docs.stripe.com/api/subscriptions/create#create_subscription-payment_behavior
func (s *Sandbox) activate(inv *invoice) {
	if sub, ok := find[*subscription](s, inv.Subscription); ok && sub.Latest == inv.ID && sub.Status == statusIncomplete {
		s.changeSub(sub, func() { sub.Status = statusActive })
	}
}

// markPaid closes an invoice; the subscription whose latest it is becomes active.
func (s *Sandbox) markPaid(inv *invoice) {
	inv.Status, inv.PaidAt, inv.NextAttempt, s.dirty = invoicePaid, s.now(), 0, true
	s.emit("invoice.paid", inv.render(s), nil)
	s.emit("invoice.payment_succeeded", inv.render(s), nil)
	sub, ok := find[*subscription](s, inv.Subscription)
	if !ok || sub.Latest != inv.ID {
		return
	}
	switch sub.Status {
	case statusIncomplete, statusPastDue, statusUnpaid:
		s.changeSub(sub, func() { sub.Status = statusActive })
	}
}

// failed applies the consequences of a failed attempt. The invoice of an incomplete subscription is not retried: Stripe
// waits 23 hours for the customer. A subscription that a first debit made active is treated like a failed renewal.
func (s *Sandbox) failed(inv *invoice) {
	sub, ok := find[*subscription](s, inv.Subscription)
	retry := ok && !sub.ended() && (inv.Reason != reasonCreate || sub.Status != statusIncomplete)
	last := inv.Attempts > len(s.d.Dunning.Retries)
	if retry && !last {
		inv.NextAttempt = s.now() + int64(s.d.Dunning.Retries[max(1, inv.Attempts)-1].Seconds())
	}
	s.plan(inv)
	s.emit("invoice.payment_failed", inv.render(s), nil)
	if !retry {
		return
	}
	status := statusPastDue
	if last {
		status = s.d.Dunning.End
	}
	if status == statusCanceled {
		s.end(sub, "payment_failed")
		return
	}
	if sub.Status == statusActive || sub.Status == statusPastDue || sub.Status == statusTrialing {
		s.changeSub(sub, func() { sub.Status = status })
	}
}

// void marks an invoice as not to be paid.
func (s *Sandbox) void(inv *invoice) {
	inv.Status, inv.VoidedAt, inv.NextAttempt, inv.SettlesAt, s.dirty = invoiceVoid, s.now(), 0, 0, true
	s.emit("invoice.voided", inv.render(s), nil)
}
