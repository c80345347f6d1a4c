package sandbox

import (
	"cmp"
	"slices"
)

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
			pr, err := need[*price](s, "price", id, q.name("price"))
			switch {
			case err != nil:
				q.fail(err)
			case !pr.Active:
				q.fail(invalid(q.name("price"), "", "The price specified is inactive. This field only accepts active prices."))
			case pr.Interval == "":
				q.fail(invalid(q.name("price"), "", "The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`."))
			}
			it.Price = id
		}
		if n, ok := q.int("quantity"); ok {
			it.Quantity = n
		}
		it.Metadata = q.metadata(it.Metadata)
		switch {
		case q.flag("deleted") && at >= 0:
			items = slices.Delete(items, at, at+1)
		case at >= 0:
			items[at] = it
		default:
			it.ID, it.Created = s.newID("si_", shortID), s.now()
			items = append(items, it)
		}
	}
	if len(items) == 0 {
		p.fail(invalid("items", "parameter_missing", "Missing required param: items."))
	}
	return items
}

// readShared applies the parameters that create and update share.
func (sub *subscription) readShared(s *Sandbox, p *params) {
	sub.Metadata = p.metadata(sub.Metadata)
	if v, ok := p.opt("description"); ok {
		sub.Description = v
	}
	if v, ok := p.opt("default_payment_method"); ok {
		if m, found := find[*method](s, v); v != "" && (!found || m.Customer != sub.Customer) {
			p.fail(missing("PaymentMethod", v, "default_payment_method"))
		}
		sub.Method = v
	}
	if v, ok := p.bool("cancel_at_period_end"); ok {
		sub.schedule(s, v)
	}
	if v, ok := p.opt("cancel_at"); ok {
		sub.CancelAt, _ = p.int("cancel_at")
		if sub.CancelAt != 0 && sub.CancelAt <= s.now() {
			p.fail(invalid("cancel_at", "", "`cancel_at` must be a unix timestamp in the future. To cancel a subscription immediately, use the cancel endpoint."))
		}
		if v != "" {
			sub.CanceledAt, sub.Reason = s.now(), "cancellation_requested"
		} else {
			sub.CanceledAt, sub.Reason = 0, ""
		}
	}
	if q := p.sub("trial_settings"); q != nil {
		if e := q.sub("end_behavior"); e != nil {
			sub.TrialNoCard = e.enum("missing_payment_method", "create_invoice", "cancel", "pause")
		}
	}
	p.enum("proration_behavior", "create_prorations", "none", "always_invoice") // nothing is prorated here
	p.enum("collection_method", "charge_automatically")
	p.flag("off_session")
	sub.readCancellation(p)
}

func (sub *subscription) readCancellation(p *params) {
	if q := p.sub("cancellation_details"); q != nil {
		if v, ok := q.opt("comment"); ok {
			sub.Comment = v
		}
		if v, ok := q.opt("feedback"); ok {
			sub.Feedback = v
		}
	}
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
	sub.readShared(s, r.p)
	s.readTrial(r.p, sub)
	behavior := r.p.enum("payment_behavior", "allow_incomplete", "default_incomplete", "error_if_incomplete")
	if q := r.p.sub("payment_settings"); q != nil {
		q.enum("save_default_payment_method", "off", "on_subscription")
		q.strs("payment_method_types")
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	m, hasMethod := find[*method](s, cmp.Or(sub.Method, c.Method))
	if !hasMethod && behavior != "default_incomplete" && sub.TrialEnd == 0 {
		return nil, invalid("", "resource_missing", "This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.")
	}
	if behavior == "error_if_incomplete" && sub.TrialEnd == 0 && m.Card != CardOK {
		return nil, declined()
	}
	s.begin(sub, behavior != "default_incomplete", false)
	return sub.render(s), nil
}

// readTrial reads trial_end or trial_period_days.
func (s *Sandbox) readTrial(p *params, sub *subscription) {
	if days, ok := p.int("trial_period_days"); ok && days > 0 {
		sub.TrialEnd = s.now() + days*24*60*60
	}
	if v := p.str("trial_end"); v != "" && v != "now" {
		sub.TrialEnd, _ = p.int("trial_end")
		if sub.TrialEnd <= s.now() {
			p.fail(invalid("trial_end", "", "Invalid timestamp: must be an integer Unix timestamp in the future."))
		}
	}
}

func updateSubscription(s *Sandbox, r *request) (object, error) {
	sub, err := need[*subscription](s, "subscription", r.id, "")
	if err != nil {
		return nil, err
	}
	next := *sub
	if sub.ended() {
		next.Metadata = r.p.metadata(next.Metadata)
		next.readCancellation(r.p)
		if err := r.p.finish(); err != nil {
			return nil, invalid("", "", "A canceled subscription can only update its cancellation_details and metadata.")
		}
		s.changeSub(sub, func() { *sub = next })
		return sub.render(s), nil
	}
	next.Items = s.readItems(r.p, sub)
	next.readShared(s, r.p)
	r.p.enum("payment_behavior", "allow_incomplete", "error_if_incomplete")
	next.readPause(r.p)
	if v, ok := r.p.opt("trial_end"); ok && v == "now" && sub.Status == statusTrialing {
		next.TrialEnd = s.now()
		next.PeriodEnd = next.TrialEnd
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	was := sub.price(s)
	if is := next.price(s); is.Interval != was.Interval || is.Count != was.Count { // a new cycle begins now
		next.Anchor, next.PeriodStart = s.now(), s.now()
		next.PeriodEnd = nextPeriod(next.Anchor, next.PeriodStart, is)
	}
	s.changeSub(sub, func() { *sub = next })
	return sub.render(s), nil
}

func (sub *subscription) readPause(p *params) {
	q := p.sub("pause_collection")
	if q == nil {
		return
	}
	sub.Pause, sub.ResumesAt = "", 0
	if len(q.kids) > 0 {
		sub.Pause = q.need("behavior")
		if !slices.Contains([]string{"keep_as_draft", "mark_uncollectible", "void"}, sub.Pause) {
			q.fail(invalid("pause_collection[behavior]", "", "Invalid pause_collection[behavior]: must be one of keep_as_draft, mark_uncollectible, or void"))
		}
		sub.ResumesAt, _ = q.int("resumes_at")
	}
}

func cancelSubscription(s *Sandbox, r *request) (object, error) {
	sub, err := need[*subscription](s, "subscription", r.id, "")
	if err != nil {
		return nil, err
	}
	next := *sub
	next.readCancellation(r.p)
	r.p.flag("invoice_now")
	r.p.flag("prorate")
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	if sub.ended() {
		return nil, missing("subscription", r.id, "")
	}
	sub.Comment, sub.Feedback = next.Comment, next.Feedback
	s.end(sub, "cancellation_requested")
	return sub.render(s), nil
}

func resumeSubscription(s *Sandbox, r *request) (object, error) {
	r.p.enum("billing_cycle_anchor", "now", "unchanged")
	r.p.enum("proration_behavior", "create_prorations", "none", "always_invoice")
	sub, err := named[*subscription](s, r, "subscription")
	if err != nil {
		return nil, err
	}
	if sub.Status != statusPaused {
		return nil, invalid("", "", "Only paused subscriptions can be resumed.")
	}
	s.resume(sub)
	return sub.render(s), nil
}
