package sandbox

import "errors"

// charge is one attempt to collect an invoice. The sandbox has no payment intents: billing does not read them.
type charge struct {
	head

	Customer string `json:"customer"`
	Invoice  string `json:"invoice"`
	Amount   int64  `json:"amount"`
	Refunded int64  `json:"refunded"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
	Card     Card   `json:"card"`
	Disputed bool   `json:"disputed"`
}

// The states of charges.
const (
	chargeSucceeded = "succeeded"
	chargePending   = "pending"
	chargeFailed    = "failed"
)

func (c *charge) owner() string { return c.Customer }

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
		"paid": captured > 0, "payment_intent": nil, "payment_method": c.Card.method(), "payment_method_details": c.details(),
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

// charge makes an attempt to pay an invoice with a card, with the given result.
func (s *Sandbox) charge(inv *invoice, card Card, status string) {
	c := &charge{Customer: inv.Customer, Invoice: inv.ID, Amount: inv.Total, Currency: inv.Currency, Status: status, Card: card}
	insert(s, &s.d.Charges, c, "ch_", longID)
	inv.Charge = c.ID
	s.emit("charge."+status, c.render(s), nil)
}

var errNotLeft = errors.New("the charge has not that much to refund")

// giveBack refunds part of a charge, or all that is left of it if amount is 0.
func (s *Sandbox) giveBack(c *charge, amount int64) error {
	left := c.Amount - c.Refunded
	if amount == 0 {
		amount = left
	}
	if c.Status != chargeSucceeded || left == 0 || amount < 0 || amount > left {
		return errNotLeft
	}
	s.change(c, "charge.refunded", func() { c.Refunded += amount })
	return nil
}
