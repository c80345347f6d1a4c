package sandbox

import "slices"

// refund is money given back.
type refund struct {
	head

	Charge   string `json:"charge"`
	Intent   string `json:"intent"`
	Customer string `json:"customer"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Reason   string `json:"reason"`
}

func (f *refund) owner() string { return f.Customer }

func (f *refund) render(_ *Sandbox) object {
	return object{
		"id": f.ID, "object": "refund", "created": f.Created, "metadata": meta(f.Metadata), "amount": f.Amount, "balance_transaction": nil,
		"charge": f.Charge, "currency": f.Currency, "destination_details": object{"type": "card", "card": object{"type": "refund"}},
		"payment_intent": orNull(f.Intent), "reason": orNull(f.Reason), "receipt_number": nil, "source_transfer_reversal": nil,
		"status": "succeeded", "transfer_reversal": nil,
	}
}

// giveBack refunds part of a charge, or all that is left of it if amount is 0.
func (s *Sandbox) giveBack(c *charge, amount int64, reason string, metadata map[string]string) (*refund, error) {
	left := c.Amount - c.Refunded
	if amount == 0 {
		amount = left
	}
	switch {
	case c.Status != chargeSucceeded:
		return nil, invalid("charge", "charge_not_refundable", "This charge cannot be refunded: its status is %s.", c.Status)
	case left == 0:
		return nil, invalid("charge", "charge_already_refunded", "Charge %s has already been refunded.", c.ID)
	case amount < 0 || amount > left:
		return nil, invalid("amount", "amount_too_large", "Refund amount (%s) is greater than unrefunded amount on charge (%s)", money(amount, c.Currency), money(left, c.Currency))
	}
	f := &refund{Charge: c.ID, Intent: c.Intent, Customer: c.Customer, Amount: amount, Currency: c.Currency, Reason: reason}
	f.Metadata = metadata
	insert(s, &s.d.Refunds, f, "re_", longID)
	s.change(c, "charge.refunded", func() { c.Refunded += amount })
	return f, nil
}

func (s *Sandbox) refundsOf(c *charge) []any {
	data := []any{}
	for _, f := range slices.Backward(s.d.Refunds.rows) {
		if f.Charge == c.ID {
			data = append(data, f.render(s))
		}
	}
	return data
}

func createRefund(s *Sandbox, r *request) (object, error) {
	id, pi := r.p.str("charge"), r.p.str("payment_intent")
	amount, sent := r.p.int("amount")
	reason := r.p.enum("reason", "", "duplicate", "fraudulent", "requested_by_customer")
	metadata := r.p.metadata(nil)
	if sent && amount < 1 {
		r.p.fail(invalid("amount", "parameter_invalid_integer", "This value must be greater than or equal to 1."))
	}
	if id == "" && pi == "" {
		r.p.fail(invalid("", "parameter_missing", "One of the following params should be provided for this request: payment_intent or charge."))
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	if id == "" {
		p, err := need[*intent](s, "payment_intent", pi, "payment_intent")
		if err != nil {
			return nil, err
		}
		id = p.Charge
	}
	c, err := need[*charge](s, "charge", id, "charge")
	if err != nil {
		return nil, err
	}
	f, err := s.giveBack(c, amount, reason, metadata)
	if err != nil {
		return nil, err
	}
	return f.render(s), nil
}

func updateRefund(s *Sandbox, r *request) (object, error) {
	f, err := need[*refund](s, "refund", r.id, "")
	if err != nil {
		return nil, err
	}
	metadata := r.p.metadata(f.Metadata)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	s.change(f, "charge.refund.updated", func() { f.Metadata = metadata })
	return f.render(s), nil
}

func listRefunds(s *Sandbox, r *request) (object, error) {
	id, pi, created := r.p.str("charge"), r.p.str("payment_intent"), r.p.span("created")
	return list(s, r, "refund", s.d.Refunds.rows, func(f *refund) bool {
		return created(f.Created) && (id == "" || f.Charge == id) && (pi == "" || f.Intent == pi)
	})
}
