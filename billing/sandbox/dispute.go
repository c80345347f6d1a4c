package sandbox

import "strings"

// dispute is a claim by a customer's bank to get the money back or, with a warning_… status, only an inquiry.
type dispute struct {
	head

	Charge   string `json:"charge"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
}

const (
	disputeOpen    = "needs_response"
	disputeInquiry = "warning_needs_response"
	disputeLost    = "lost"
	disputeWon     = "won"
	inquiryClosed  = "warning_closed"
)

func (d *dispute) closed() bool {
	return d.Status == disputeLost || d.Status == disputeWon || d.Status == inquiryClosed
}

func (d *dispute) render(s *Sandbox) object {
	evidence := object{}
	for field := range strings.FieldsSeq(`access_activity_log billing_address cancellation_policy cancellation_policy_disclosure
		cancellation_rebuttal customer_communication customer_email_address customer_name customer_purchase_ip customer_signature
		duplicate_charge_documentation duplicate_charge_explanation duplicate_charge_id product_description receipt refund_policy
		refund_policy_disclosure refund_refusal_explanation service_date service_documentation shipping_address shipping_carrier
		shipping_date shipping_documentation shipping_tracking_number uncategorized_file uncategorized_text`) {
		evidence[field] = nil
	}
	return object{
		"id": d.ID, "object": "dispute", "created": d.Created, "livemode": s.live, "metadata": meta(d.Metadata), "amount": d.Amount,
		"balance_transactions": []any{}, "charge": d.Charge, "currency": d.Currency, "evidence": evidence,
		"evidence_details":     object{"due_by": d.Created + 7*24*60*60, "has_evidence": false, "past_due": false, "submission_count": 0},
		"is_charge_refundable": strings.HasPrefix(d.Status, "warning_"), "payment_intent": nil,
		"payment_method_details": object{"type": "card", "card": object{"brand": "visa", "network_reason_code": "10.4"}},
		"reason":                 "fraudulent", "status": d.Status,
	}
}

// dispute opens a dispute of a charge, or an inquiry.
func (s *Sandbox) dispute(c *charge, inquiry bool) *dispute {
	d := &dispute{Charge: c.ID, Amount: c.Amount, Currency: c.Currency, Status: disputeOpen}
	if inquiry {
		d.Status = disputeInquiry
	}
	insert(s, &s.d.Disputes, d, "dp_", longID)
	s.change(c, "charge.updated", func() { c.Disputed = true })
	s.emit("charge.dispute.created", d.render(s), nil)
	if !inquiry {
		s.emit("charge.dispute.funds_withdrawn", d.render(s), nil)
	}
	return d
}

// closeAs ends a dispute.
func (s *Sandbox) closeAs(d *dispute, status string) {
	d.Status, s.dirty = status, true
	if status == disputeWon {
		s.emit("charge.dispute.funds_reinstated", d.render(s), nil)
	}
	s.emit("charge.dispute.closed", d.render(s), nil)
}
