package sandbox

import (
	"cmp"
	"maps"
	"strings"
)

// base returns the URL below which the hosted pages are reached.
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

// pay does what the checkout page's button does: the customer pays with a card. It returns where to go next, or false
// if the card was declined. A session that is no longer open is not paid again.
func (s *Sandbox) pay(cs *session, card Card, email string) (next string, ok bool) {
	if cs.Status != sessionOpen {
		return cs.success(), cs.Status == sessionComplete
	}
	refused := card == CardDeclined || card == CardNone
	// An attempt without a customer, or with nothing to pay, begins no subscription.
	if total, currency := cs.total(s); refused && (cs.Customer == "" || total == 0) {
		p := &intent{Customer: cs.Customer, Amount: total, Currency: currency, Secret: s.newID("pi_", secretID), Status: intentNeedsCard}
		insert(s, &s.d.Intents, p, "pi_", longID)
		s.newCharge(p, &method{Card: card}, chargeFailed)
		return "", false
	}
	c, found := find[*customer](s, cs.Customer)
	if !found {
		c = &customer{Email: cmp.Or(cs.Email, email)}
		insert(s, &s.d.Customers, c, "cus_", shortID)
		s.emit("customer.created", c.render(s), nil)
		s.adopt(cs, c)
	}
	sub := s.tryToPay(cs, c, card, refused)
	if refused {
		return "", false
	}
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

// tryToPay makes the subscription and attempts the first payment. If the card is refused, the subscription stays
// incomplete and the session open: the next attempt pays for the same subscription. Stripe does so in API versions
// before 2025-03-31.
// https://docs.stripe.com/changelog/basil/2025-03-31/checkout-legacy-subscription-upgrade
func (s *Sandbox) tryToPay(cs *session, c *customer, card Card, refused bool) *subscription {
	var m *method
	if refused { // a card that does not pay is not kept
		m = &method{Card: card}
		insert(s, &s.d.Methods, m, "pm_", longID)
	} else {
		m = s.attach(c, card)
	}
	if sub, ok := find[*subscription](s, cs.Begun); ok && !sub.ended() {
		sub.Method = m.ID
		inv, _ := find[*invoice](s, sub.Latest)
		s.attempt(inv, true)
		return sub
	}
	sub := &subscription{
		Customer: c.ID, Items: s.itemsOf(cs), Method: m.ID, Description: cs.SubText, TrialEnd: cs.TrialEnd, TrialNoCard: cs.TrialNoCard,
	}
	sub.Metadata = maps.Clone(cs.SubMetadata)
	if cs.TrialDays > 0 {
		sub.TrialEnd = s.now() + cs.TrialDays*24*60*60
	}
	s.begin(sub, true, true)
	cs.Begun, s.dirty = sub.ID, true
	return sub
}

// adopt assigns a session without a customer the one that was made for it.
func (s *Sandbox) adopt(cs *session, c *customer) {
	cs.Customer = c.ID
	if s.d.Sessions.byOwner == nil {
		s.d.Sessions.byOwner = map[string][]*session{}
	}
	s.d.Sessions.byOwner[c.ID] = append(s.d.Sessions.byOwner[c.ID], cs)
}

// success returns where the customer goes after paying.
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

// settleSession updates the checkout of an invoice when its payment succeeded or failed.
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
