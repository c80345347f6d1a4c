package sandbox

// intent is a payment intent: all attempts to collect one amount.
type intent struct {
	head

	Customer string `json:"customer"`
	Invoice  string `json:"invoice"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
	Charge   string `json:"charge"` // the latest
	Method   string `json:"method"`
	Declined bool   `json:"declined"`
	Secret   string `json:"secret"`
}

// charge is one attempt.
type charge struct {
	head

	Customer string `json:"customer"`
	Invoice  string `json:"invoice"`
	Intent   string `json:"intent"`
	Amount   int64  `json:"amount"`
	Refunded int64  `json:"refunded"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
	Method   string `json:"method"`
	Card     Card   `json:"card"`
	Disputed bool   `json:"disputed"`
}

// The states of charges and intents that occur here.
const (
	chargeSucceeded  = "succeeded"
	chargePending    = "pending"
	chargeFailed     = "failed"
	intentNeedsCard  = "requires_payment_method"
	intentProcessing = "processing"
	intentSucceeded  = "succeeded"
	intentCanceled   = "canceled"
)

func (p *intent) owner() string { return p.Customer }
func (c *charge) owner() string { return c.Customer }

func (p *intent) render(s *Sandbox) object {
	received, lastError := int64(0), any(nil)
	if p.Status == intentSucceeded {
		received = p.Amount
	}
	if p.Declined {
		lastError = object{"type": cardError, "code": "card_declined", "decline_code": "generic_decline", "message": "Your card was declined.", "charge": p.Charge}
	}
	return object{
		"id": p.ID, "object": "payment_intent", "created": p.Created, "livemode": s.live, "metadata": meta(p.Metadata),
		"amount": p.Amount, "amount_capturable": 0, "amount_details": object{"tip": object{}}, "amount_received": received,
		"application": nil, "application_fee_amount": nil, "automatic_payment_methods": nil, "canceled_at": nil, "cancellation_reason": nil,
		"capture_method": "automatic", "client_secret": p.Secret, "confirmation_method": "automatic", "currency": p.Currency,
		"customer": orNull(p.Customer), "description": "Subscription creation", "invoice": orNull(p.Invoice), "last_payment_error": lastError,
		"latest_charge": orNull(p.Charge), "next_action": nil, "on_behalf_of": nil, "payment_method": orNull(p.Method),
		"payment_method_configuration_details": nil, "payment_method_options": object{}, "payment_method_types": []any{"card"},
		"processing": nil, "receipt_email": nil, "review": nil, "setup_future_usage": "off_session", "shipping": nil,
		"statement_descriptor": nil, "statement_descriptor_suffix": nil, "status": p.Status, "transfer_data": nil, "transfer_group": nil,
	}
}

func (c *charge) render(s *Sandbox) object {
	captured := int64(0)
	if c.Status == chargeSucceeded {
		captured = c.Amount
	}
	o := object{
		"id": c.ID, "object": "charge", "created": c.Created, "livemode": s.live, "metadata": meta(c.Metadata),
		"amount": c.Amount, "amount_captured": captured, "amount_refunded": c.Refunded, "application": nil, "application_fee": nil,
		"application_fee_amount": nil, "balance_transaction": nil, "billing_details": billingDetails(), "calculated_statement_descriptor": nil,
		"captured": captured > 0, "currency": c.Currency, "customer": orNull(c.Customer), "description": "Subscription creation",
		"disputed": c.Disputed, "failure_balance_transaction": nil, "failure_code": nil, "failure_message": nil, "fraud_details": object{},
		"invoice": orNull(c.Invoice), "on_behalf_of": nil, "outcome": object{
			"network_status": "approved_by_network", "reason": nil, "risk_level": "normal", "seller_message": "Payment complete.", "type": "authorized",
		},
		"paid": captured > 0, "payment_intent": orNull(c.Intent), "payment_method": orNull(c.Method), "payment_method_details": c.details(),
		"receipt_email": nil, "receipt_number": nil, "receipt_url": nil, "refunded": captured > 0 && c.Refunded == c.Amount,
		"review": nil, "shipping": nil, "source_transfer": nil, "statement_descriptor": nil, "statement_descriptor_suffix": nil,
		"status": c.Status, "transfer_data": nil, "transfer_group": nil,
	}
	if c.Status == chargeFailed {
		o["failure_code"], o["failure_message"] = "card_declined", "Your card was declined."
		o["outcome"] = object{
			"network_status": "declined_by_network", "reason": "generic_decline", "risk_level": "normal",
			"seller_message": "The bank did not return any further details with this decline.", "type": "issuer_declined",
		}
	}
	return o
}

func (c *charge) details() object {
	if c.Card.bank() {
		return object{"type": "us_bank_account", "us_bank_account": object{
			"account_holder_type": "individual", "account_type": "checking", "bank_name": "STRIPE TEST BANK", "fingerprint": "sandboxbank",
			"last4": c.Card.last4(), "routing_number": "110000000",
		}}
	}
	return object{"type": "card", "card": object{
		"amount_authorized": c.Amount, "brand": "visa", "checks": checks(), "country": "US", "exp_month": 12, "exp_year": 2040,
		"fingerprint": "sandboxcard", "funding": "credit", "installments": nil, "last4": c.Card.last4(), "mandate": nil, "network": "visa",
		"three_d_secure": nil, "wallet": nil, "network_token": object{"used": false},
		"extended_authorization": object{"status": "disabled"}, "incremental_authorization": object{"status": "unavailable"},
		"multicapture": object{"status": "unavailable"}, "overcapture": object{"maximum_amount_capturable": c.Amount, "status": "unavailable"},
	}}
}

// newIntent makes the payment intent of an invoice.
func (s *Sandbox) newIntent(inv *invoice) *intent {
	p := &intent{Customer: inv.Customer, Invoice: inv.ID, Amount: inv.Total, Currency: inv.Currency, Status: intentNeedsCard}
	p.ID = s.newID("pi_", longID)
	p.Secret = p.ID + "_secret_" + s.newID("", longID+1)
	insert(s, &s.d.Intents, p, "", 0)
	s.emit("payment_intent.created", p.render(s), nil)
	return p
}

// newCharge records one attempt of an intent with its result.
func (s *Sandbox) newCharge(p *intent, m *method, status string) *charge {
	c := &charge{Customer: p.Customer, Invoice: p.Invoice, Intent: p.ID, Amount: p.Amount, Currency: p.Currency, Status: status, Method: m.ID, Card: m.Card}
	insert(s, &s.d.Charges, c, "ch_", longID)
	p.Charge, p.Method, p.Declined, s.dirty = c.ID, m.ID, status == chargeFailed, true
	switch status {
	case chargeSucceeded:
		p.Status = intentSucceeded
	case chargePending:
		p.Status = intentProcessing
	default:
		p.Status = intentNeedsCard
	}
	s.tellCharge(p, c)
	return c
}

// settleCharge decides a pending charge.
func (s *Sandbox) settleCharge(p *intent, c *charge, paid bool) {
	c.Status, p.Status, p.Declined = chargeFailed, intentNeedsCard, !paid
	if paid {
		c.Status, p.Status = chargeSucceeded, intentSucceeded
	}
	s.dirty = true
	s.tellCharge(p, c)
}

func (s *Sandbox) tellCharge(p *intent, c *charge) {
	s.emit("charge."+c.Status, c.render(s), nil)
	event := map[string]string{
		chargeSucceeded: "payment_intent.succeeded", chargePending: "payment_intent.processing", chargeFailed: "payment_intent.payment_failed",
	}[c.Status]
	s.emit(event, p.render(s), nil)
}

func getIntent(s *Sandbox, r *request) (object, error) {
	r.p.str("client_secret")
	p, err := named[*intent](s, r, "payment_intent")
	if err != nil {
		return nil, err
	}
	return p.render(s), nil
}

func listIntents(s *Sandbox, r *request) (object, error) {
	created := r.p.span("created")
	return list(s, r, "payment_intent", s.d.Intents.of(r.p.str("customer")), func(p *intent) bool { return created(p.Created) })
}

func listCharges(s *Sandbox, r *request) (object, error) {
	created, pi := r.p.span("created"), r.p.str("payment_intent")
	return list(s, r, "charge", s.d.Charges.of(r.p.str("customer")), func(c *charge) bool {
		return created(c.Created) && (pi == "" || c.Intent == pi)
	})
}
