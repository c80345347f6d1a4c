package sandbox

import (
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
func (s *Sandbox) pay(cs *session, card Card) (next string, ok bool) {
	if cs.Status != sessionOpen {
		return cs.success(), cs.Status == sessionComplete
	}
	if card == CardNone {
		return "", false
	}
	sub := s.tryToPay(cs, card)
	if card == CardDeclined {
		return "", false
	}
	inv, _ := find[*invoice](s, sub.Latest)
	cs.Status, cs.Sub, cs.Invoice, s.dirty = sessionComplete, sub.ID, inv.ID, true
	if inv.Status == invoicePaid {
		cs.Payment = payPaid
	}
	s.emit("checkout.session.completed", cs.render(s), nil)
	return cs.success(), true
}

// tryToPay makes the subscription and attempts the first payment. If the card is refused, the subscription stays
// incomplete and the session open: the next attempt pays for the same subscription. Stripe does so in API versions
// before 2025-03-31.
// https://docs.stripe.com/changelog/basil/2025-03-31/checkout-legacy-subscription-upgrade
func (s *Sandbox) tryToPay(cs *session, card Card) *subscription {
	if sub, ok := find[*subscription](s, cs.Begun); ok && !sub.ended() {
		if inv, _ := find[*invoice](s, sub.Latest); inv.Status == invoiceOpen { // not yet paid in the portal
			sub.Card = card
			s.attempt(inv, true)
		}
		return sub
	}
	sub := &subscription{Customer: cs.Customer, Items: s.itemsOf(cs), Card: card}
	sub.Metadata = maps.Clone(cs.SubMetadata)
	s.begin(sub, true, true)
	cs.Begun, s.dirty = sub.ID, true
	return sub
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
