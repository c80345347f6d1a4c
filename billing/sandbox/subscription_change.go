package sandbox

import "slices"

// readItems reads items[] for a new subscription, or for a change of sub.
func (s *Sandbox) readItems(p *params, sub *subscription) []item {
	items := slices.Clone(sub.Items)
	for _, q := range p.list("items") {
		it := item{Quantity: 1}
		at := -1
		if id := q.str("id"); id != "" {
			at = slices.IndexFunc(items, func(x item) bool { return x.ID == id })
			if at < 0 {
				q.fail(missing("subscription_item", id, q.name("id")))
				continue
			}
			it = items[at]
		}
		if id := q.str("price"); id != "" || at < 0 {
			s.checkPrice(q, id)
			it.Price = id
		}
		if n, ok := q.int("quantity"); ok {
			it.Quantity = n
		}
		if at >= 0 {
			items[at] = it
			continue
		}
		it.ID, it.Created = s.newID("si_", shortID), s.now()
		items = append(items, it)
	}
	if len(items) == 0 {
		p.fail(invalid("items", "parameter_missing", "Missing required param: items."))
	}
	return items
}

// schedule sets or undoes the end with the period.
func (sub *subscription) schedule(s *Sandbox, end bool) {
	switch {
	case end && !sub.AtPeriodEnd:
		sub.AtPeriodEnd, sub.CancelAt, sub.CanceledAt, sub.Reason = true, 0, s.now(), "cancellation_requested"
	case !end && sub.AtPeriodEnd:
		sub.AtPeriodEnd, sub.CanceledAt, sub.Reason = false, 0, ""
	}
}

func createSubscription(s *Sandbox, r *request) (object, error) {
	sub := &subscription{Customer: r.p.need("customer")}
	c, err := s.customer(sub.Customer, "customer")
	if err != nil {
		r.p.fail(err)
	}
	sub.Items = s.readItems(r.p, sub)
	sub.Metadata = r.p.metadata(nil)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	if c.Card == CardNone {
		return nil, invalid("", "resource_missing", "This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.")
	}
	s.begin(sub, true, false)
	return sub.render(s), nil
}

func updateSubscription(s *Sandbox, r *request) (object, error) {
	sub, err := need[*subscription](s, "subscription", r.id, "")
	if err != nil {
		return nil, err
	}
	if sub.ended() {
		return nil, invalid("", "", "A canceled subscription can only update its cancellation_details and metadata.")
	}
	next := *sub
	next.Items = s.readItems(r.p, sub)
	next.Metadata = r.p.metadata(sub.Metadata)
	if v, ok := r.p.bool("cancel_at_period_end"); ok {
		next.schedule(s, v)
	}
	if at, ok := r.p.int("cancel_at"); ok {
		if at <= s.now() {
			r.p.fail(invalid("cancel_at", "", "`cancel_at` must be a unix timestamp in the future. To cancel a subscription immediately, use the cancel endpoint."))
		}
		next.CancelAt, next.CanceledAt, next.Reason = at, s.now(), "cancellation_requested"
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	s.changeSub(sub, func() { *sub = next })
	return sub.render(s), nil
}

func cancelSubscription(s *Sandbox, r *request) (object, error) {
	comment := ""
	if q := r.p.sub("cancellation_details"); q != nil {
		comment = q.str("comment")
	}
	sub, err := named[*subscription](s, r, "subscription")
	if err != nil {
		return nil, err
	}
	if sub.ended() {
		return nil, missing("subscription", r.id, "")
	}
	sub.Comment = comment
	s.end(sub, "cancellation_requested")
	return sub.render(s), nil
}
