package sandbox

import "strings"

// base is where the hosted pages are reached.
func (s *Sandbox) base() string {
	if s.opts.URL != "" {
		return strings.TrimSuffix(s.opts.URL, "/")
	}
	return "http://" + s.origin
}

func (s *Sandbox) expire(cs *session) {
	cs.Status, s.dirty = sessionExpired, true
	s.emit("checkout.session.expired", cs.render(s), nil)
}

// pay is what the button of the checkout page does: the customer pays with a card. It tells where to go next, or
// that the card was declined; a session that is not open any more is not paid again.
func (s *Sandbox) pay(cs *session, card Card, email string) (next string, ok bool) {
	if cs.Status != sessionOpen {
		return cs.success(), cs.Status == sessionComplete
	}
	if card == CardDeclined || card == CardNone {
		total, currency := cs.total(s)
		p := &intent{Customer: cs.Customer, Amount: total, Currency: currency, Secret: s.newID("pi_", secretID), Status: intentNeedsCard}
		insert(s, &s.d.Intents, p, "pi_", longID)
		s.newCharge(p, &method{Card: card}, chargeFailed)
		return "", false
	}
	c, found := find[*customer](s, cs.Customer)
	if !found {
		c = &customer{Email: cmpOr(cs.Email, email)}
		insert(s, &s.d.Customers, c, "cus_", shortID)
		s.emit("customer.created", c.render(s), nil)
		s.adopt(cs, c)
	}
	m := s.attach(c, card)
	sub := &subscription{
		Customer: c.ID, Items: s.itemsOf(cs), Method: m.ID, Description: cs.SubText, TrialEnd: cs.TrialEnd, TrialNoCard: cs.TrialNoCard,
	}
	sub.Metadata = clone(cs.SubMetadata)
	if cs.TrialDays > 0 {
		sub.TrialEnd = s.now() + cs.TrialDays*24*60*60
	}
	s.begin(sub, true, true)
	inv, _ := find[*invoice](s, sub.Latest)
	cs.Status, cs.Sub, cs.Invoice, s.dirty = sessionComplete, sub.ID, inv.ID, true
	switch {
	case inv.Total == 0:
		cs.Payment = payNone
	case inv.Status == invoicePaid:
		cs.Payment = payPaid
	}
	s.emit("checkout.session.completed", cs.render(s), nil)
	return cs.success(), true
}

// adopt gives a session without a customer the one that was made for it.
func (s *Sandbox) adopt(cs *session, c *customer) {
	cs.Customer = c.ID
	if s.d.Sessions.byOwner == nil {
		s.d.Sessions.byOwner = map[string][]*session{}
	}
	s.d.Sessions.byOwner[c.ID] = append(s.d.Sessions.byOwner[c.ID], cs)
}

// success is where the customer goes after paying.
func (cs *session) success() string {
	return strings.NewReplacer("{CHECKOUT_SESSION_ID}", cs.ID, "%7BCHECKOUT_SESSION_ID%7D", cs.ID).Replace(cs.SuccessURL)
}

func (s *Sandbox) itemsOf(cs *session) []item {
	items := make([]item, 0, len(cs.Lines))
	for _, l := range cs.Lines {
		it := item{Price: l.Price, Quantity: l.Quantity}
		it.ID, it.Created = s.newID("si_", shortID), s.now()
		items = append(items, it)
	}
	return items
}

// settleSession tells the checkout that its payment came, or did not.
func (s *Sandbox) settleSession(inv *invoice, paid bool) {
	for _, cs := range s.d.Sessions.of(inv.Customer) {
		if cs.Invoice != inv.ID {
			continue
		}
		event := "checkout.session.async_payment_failed"
		if paid {
			cs.Payment, event = payPaid, "checkout.session.async_payment_succeeded"
		}
		s.emit(event, cs.render(s), nil)
	}
}
