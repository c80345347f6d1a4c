package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// do runs f with s.mu held; it runs what is due before and after.
func (s *Sandbox) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	f()
	s.dirty = true
	s.catchUp()
	s.saveSoon()
}

// try is do for an f that can fail.
func (s *Sandbox) try(f func() error) (err error) {
	s.do(func() { err = f() })
	return err
}

// with calls f, as try does, with the record that has the id.
func with[T record](s *Sandbox, id string, f func(T) error) error {
	return s.try(func() error {
		r, ok := find[T](s, id)
		if !ok {
			return fmt.Errorf("the sandbox has no such object: %q", id)
		}
		return f(r)
	})
}

// Pay pays an open checkout session as its page does, and returns where the page then leads. ok is false if the card
// was declined or the session has expired.
func (s *Sandbox) Pay(id string, card Card) (next string, ok bool, err error) {
	err = with(s, id, func(cs *session) error {
		next, ok = s.pay(cs, card)
		return nil
	})
	return next, ok, err
}

// SetCard changes how a customer's payment method behaves from now on.
func (s *Sandbox) SetCard(customerID string, card Card) error {
	return with(s, customerID, func(c *customer) error {
		if !card.Valid() || c.Deleted {
			return fmt.Errorf("no such card, or the customer is deleted: %q", card)
		}
		s.setCard(c, card)
		return nil
	})
}

// NewSubscription makes a subscription to a price without a checkout, in any of the eight states. Its first invoice is
// paid, except in the states incomplete and incomplete_expired.
func (s *Sandbox) NewSubscription(customerID, priceID, status string, metadata map[string]string) (id string, err error) {
	err = with(s, customerID, func(c *customer) error {
		if _, ok := find[*price](s, priceID); !ok || c.Deleted || !slices.Contains(statuses, status) {
			return fmt.Errorf("no such price or status, or the customer is deleted: %q, %q", priceID, status)
		}
		it := item{Price: priceID, Quantity: 1}
		it.ID, it.Created = s.newID("si_", shortID), s.now()
		sub := &subscription{Customer: c.ID, Items: []item{it}}
		sub.Metadata = maps.Clone(metadata)
		if status == statusTrialing || status == statusPaused {
			sub.TrialEnd = s.now() + 14*24*60*60
		}
		pays := status != statusIncomplete && status != statusExpired
		if pays && sub.TrialEnd == 0 {
			sub.Card = CardOK
		}
		s.begin(sub, pays, true)
		id = sub.ID
		s.force(sub, status)
		return nil
	})
	return id, err
}

// SetStatus puts a subscription into any of the eight states, whatever its current one, and emits what Stripe would.
func (s *Sandbox) SetStatus(subscriptionID, status string) error {
	return with(s, subscriptionID, func(sub *subscription) error {
		if c, _ := find[*customer](s, sub.Customer); c.Deleted || !slices.Contains(statuses, status) {
			return fmt.Errorf("no such status, or the customer is deleted: %q", status)
		}
		s.force(sub, status)
		return nil
	})
}

func (s *Sandbox) force(sub *subscription, status string) {
	switch {
	case sub.Status == status:
	case status == statusCanceled:
		sub.Status = statusActive // an incomplete one would not become canceled
		s.end(sub, "cancellation_requested")
	case status == statusExpired:
		s.changeSub(sub, func() { sub.Status, sub.EndedAt = status, s.now() })
	default:
		s.changeSub(sub, func() {
			sub.Status, sub.EndedAt = status, 0
			if status == statusTrialing {
				sub.TrialEnd = max(sub.TrialEnd, sub.PeriodEnd)
			}
		})
		if status == statusPaused {
			s.emit("customer.subscription.paused", sub.render(s), nil)
		}
	}
}

// Cancel ends a subscription immediately, as the operator would in Stripe's dashboard.
func (s *Sandbox) Cancel(subscriptionID string) error {
	return with(s, subscriptionID, func(sub *subscription) error {
		if sub.ended() {
			return fmt.Errorf("%s has ended already", sub.ID)
		}
		s.end(sub, "cancellation_requested")
		return nil
	})
}

// CancelAtPeriodEnd schedules a subscription to end with its period, or undoes that.
func (s *Sandbox) CancelAtPeriodEnd(subscriptionID string, end bool) error {
	return with(s, subscriptionID, func(sub *subscription) error {
		if sub.ended() {
			return fmt.Errorf("%s has ended already", sub.ID)
		}
		s.changeSub(sub, func() { sub.schedule(s, end) })
		return nil
	})
}

// Renew ends the current period now: the next begins, or the subscription ends if that was scheduled.
func (s *Sandbox) Renew(subscriptionID string) error {
	return with(s, subscriptionID, func(sub *subscription) error {
		if sub.ended() || sub.Status == statusPaused || sub.Status == statusIncomplete {
			return fmt.Errorf("%s is %s and has no renewal", sub.ID, sub.Status)
		}
		sub.PeriodEnd, sub.Anchor = s.now(), s.now()
		if sub.Status == statusTrialing {
			sub.TrialEnd = s.now()
		}
		sub.run(s)
		return nil
	})
}

// RetryPayment tries to collect a subscription's latest invoice now, if it is open.
func (s *Sandbox) RetryPayment(subscriptionID string) error {
	return with(s, subscriptionID, func(sub *subscription) error {
		inv, ok := find[*invoice](s, sub.Latest)
		if !ok || inv.Status != invoiceOpen || inv.SettlesAt != 0 {
			return fmt.Errorf("%s has no open invoice", sub.ID)
		}
		s.attempt(inv, false)
		return nil
	})
}

// SetPrice changes the price of a subscription's first item, as the operator would in Stripe's dashboard.
func (s *Sandbox) SetPrice(subscriptionID, priceID string) error {
	return with(s, subscriptionID, func(sub *subscription) error {
		if _, ok := find[*price](s, priceID); !ok {
			return fmt.Errorf("no such price: %q", priceID)
		}
		items := slices.Clone(sub.Items)
		items[0].Price = priceID
		s.changeSub(sub, func() { sub.Items = items })
		return nil
	})
}

// Settle applies the bank's decision on the pending payment of a checkout session, subscription or invoice.
func (s *Sandbox) Settle(id string, paid bool) error {
	return s.try(func() error {
		if cs, ok := find[*session](s, id); ok {
			id = cs.Invoice
		}
		if sub, ok := find[*subscription](s, id); ok {
			id = sub.Latest
		}
		inv, ok := find[*invoice](s, id)
		if !ok || inv.SettlesAt == 0 {
			return fmt.Errorf("no payment of %q is pending", id)
		}
		s.settle(inv, paid)
		return nil
	})
}

// charged returns the charge that an id leads to: the charge itself, an invoice's, or a subscription's latest.
func (s *Sandbox) charged(id string) (*charge, error) {
	if sub, ok := find[*subscription](s, id); ok {
		for _, inv := range s.d.Invoices.of(sub.Customer) {
			if inv.Subscription == sub.ID && inv.Charge != "" {
				id = inv.Charge
			}
		}
	}
	if inv, ok := find[*invoice](s, id); ok {
		id = inv.Charge
	}
	c, ok := find[*charge](s, id)
	if !ok {
		return nil, fmt.Errorf("nothing was charged for %q", id)
	}
	return c, nil
}

// Refund refunds cents of a charge, an invoice or a subscription's latest charge; 0 = all that is left.
func (s *Sandbox) Refund(id string, cents int64) error {
	return s.try(func() error {
		c, err := s.charged(id)
		if err != nil {
			return err
		}
		return s.giveBack(c, cents)
	})
}

// Dispute opens a dispute, or only an inquiry, about a charge, an invoice or a subscription's latest charge.
func (s *Sandbox) Dispute(id string, inquiry bool) (disputeID string, err error) {
	err = s.try(func() error {
		c, err := s.charged(id)
		if err != nil {
			return err
		}
		disputeID = s.dispute(c, inquiry).ID
		return nil
	})
	return disputeID, err
}

// CloseDispute ends a dispute: "won", "lost" or, for an inquiry, "warning_closed".
func (s *Sandbox) CloseDispute(disputeID, status string) error {
	return with(s, disputeID, func(d *dispute) error {
		if d.closed() || !slices.Contains([]string{disputeWon, disputeLost, inquiryClosed}, status) {
			return fmt.Errorf("%s is %s and cannot be closed as %q", d.ID, d.Status, status)
		}
		s.closeAs(d, status)
		return nil
	})
}

// DeleteCustomer deletes a customer, as the operator would in Stripe's dashboard.
func (s *Sandbox) DeleteCustomer(customerID string) error {
	return with(s, customerID, func(c *customer) error {
		if c.Deleted {
			return fmt.Errorf("%s is deleted already", c.ID)
		}
		s.removeCustomer(c)
		return nil
	})
}

// SetEmail changes a customer's address, as the customer can in the portal.
func (s *Sandbox) SetEmail(customerID, email string) error {
	return with(s, customerID, func(c *customer) error {
		s.change(c, "customer.updated", func() { c.Email = email })
		return nil
	})
}

// SetDunning changes what happens after a failed renewal.
func (s *Sandbox) SetDunning(d Dunning) { s.do(func() { s.d.Dunning = d }) }

// SetEventVersion gives every later event this API version, whatever its endpoint wants: in NewVersion's payloads,
// stripe-go v76 finds no period and no subscription. "" = each endpoint's own version again. Responses of the API
// always have the version that the request asks for.
func (s *Sandbox) SetEventVersion(version string) { s.do(func() { s.d.Version = version }) }

// RollSecret gives an endpoint a new secret. Until overlap is over, deliveries are signed with both.
func (s *Sandbox) RollSecret(endpointID string, overlap time.Duration) (secret string, err error) {
	err = with(s, endpointID, func(e *endpoint) error {
		e.OldSecret, e.OldUntil = e.Secret, s.now()+int64(overlap.Seconds())
		e.Secret = s.newID("whsec_", secretID)
		secret = e.Secret
		return nil
	})
	return secret, err
}

// Resend sends an event again to an endpoint, or to all that it went to if endpointID is "". It does not wait.
func (s *Sandbox) Resend(eventID, endpointID string) error {
	return with(s, eventID, func(e *event) error {
		for _, to := range s.d.Endpoints.rows {
			if to.ID == endpointID || endpointID == "" && to.wants(e.Type) {
				d := &delivery{Event: e.ID, Endpoint: to.ID, State: deliveryPending, Copies: 1, Next: s.now()}
				insert(s, &s.d.Deliveries, d, "dlv_", longID)
				s.enqueue(d)
			}
		}
		return nil
	})
}
