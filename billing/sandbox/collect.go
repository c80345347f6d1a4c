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
	p, _ := find[*intent](s, inv.Intent)
	m, ok := find[*method](s, s.methodOf(inv))
	switch {
	case !ok:
		s.failed(inv)
		return false
	case m.Card == CardOK, m.Card == CardFailsLater && atCheckout:
		inv.Charge = s.newCharge(p, m, chargeSucceeded).ID
		s.markPaid(inv)
		return true
	case m.Card.bank():
		inv.Charge = s.newCharge(p, m, chargePending).ID
		inv.SettlesAt = s.now() + settleAfter
		s.plan(inv)
		s.activate(inv)
		return false
	default:
		inv.Charge = s.newCharge(p, m, chargeFailed).ID
		s.failed(inv)
		return false
	}
}

// methodOf returns the payment method that pays an invoice: the subscription's, or else the customer's.
func (s *Sandbox) methodOf(inv *invoice) string {
	if sub, ok := find[*subscription](s, inv.Subscription); ok && sub.Method != "" {
		return sub.Method
	}
	c, _ := find[*customer](s, inv.Customer)
	return c.Method
}

func (s *Sandbox) cardOf(inv *invoice) Card {
	if ch, ok := find[*charge](s, inv.Charge); ok {
		return ch.Card
	}
	return CardNone
}

// settle applies the bank's decision on a pending payment.
func (s *Sandbox) settle(inv *invoice, paid bool) {
	inv.SettlesAt, s.dirty = 0, true
	p, _ := find[*intent](s, inv.Intent)
	ch, _ := find[*charge](s, inv.Charge)
	s.settleCharge(p, ch, paid)
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
	s.setDelinquent(inv.Customer, false)
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
	s.setDelinquent(inv.Customer, true)
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

func (s *Sandbox) setDelinquent(id string, delinquent bool) {
	if c, ok := find[*customer](s, id); ok && !c.Deleted && c.Delinquent != delinquent {
		s.change(c, "customer.updated", func() { c.Delinquent = delinquent })
	}
}

// void marks an invoice as a mistake that is not to be paid.
func (s *Sandbox) void(inv *invoice) {
	inv.Status, inv.VoidedAt, inv.NextAttempt, inv.SettlesAt, s.dirty = invoiceVoid, s.now(), 0, 0, true
	if p, ok := find[*intent](s, inv.Intent); ok {
		p.Status = intentCanceled
		s.emit("payment_intent.canceled", p.render(s), nil)
	}
	s.emit("invoice.voided", inv.render(s), nil)
}

func payInvoice(s *Sandbox, r *request) (object, error) {
	outOfBand := r.p.flag("paid_out_of_band")
	r.p.flag("off_session")
	inv, err := named[*invoice](s, r, "invoice")
	if err != nil {
		return nil, err
	}
	switch inv.Status {
	case invoicePaid:
		return nil, invalid("", "invoice_already_paid", "Invoice is already paid")
	case invoiceVoid:
		return nil, invalid("", "invoice_not_payable", "This invoice is void and can no longer be paid.")
	case invoiceDraft:
		s.finalize(inv)
	}
	if outOfBand {
		inv.OutOfBand = true
		s.markPaid(inv)
		return inv.render(s), nil
	}
	if inv.SettlesAt != 0 {
		return nil, invalid("", "payment_intent_unexpected_state", "This invoice's payment is already being processed.")
	}
	if !s.attempt(inv, false) && inv.SettlesAt == 0 {
		return nil, declined()
	}
	return inv.render(s), nil
}

func voidInvoice(s *Sandbox, r *request) (object, error) {
	inv, err := named[*invoice](s, r, "invoice")
	if err != nil {
		return nil, err
	}
	if inv.Status != invoiceOpen && inv.Status != invoiceLost {
		return nil, invalid("", "invoice_not_editable", "You can only pass in open or uncollectible invoices. This invoice is %s.", inv.Status)
	}
	s.void(inv)
	if sub, ok := find[*subscription](s, inv.Subscription); ok && sub.Status == statusIncomplete && sub.Latest == inv.ID {
		s.changeSub(sub, func() { sub.Status, sub.EndedAt = statusExpired, s.now() })
	}
	return inv.render(s), nil
}
