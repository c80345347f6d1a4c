package sandbox

// Card is how a customer's payment method behaves.
type Card string

// The cards, with the numbers that Stripe gives them (https://docs.stripe.com/testing).
const (
	CardNone       Card = ""               // no payment method
	CardOK         Card = "ok"             // 4242 4242 4242 4242: always pays
	CardDeclined   Card = "declined"       // 4000 0000 0000 0002: never pays
	CardFailsLater Card = "fails_later"    // 4000 0000 0000 0341: pays at checkout, then never again
	BankPays       Card = "bank_pays"      // bank account 000123456789: pays settleAfter later
	BankFails      Card = "bank_fails"     // bank account 000111111116: fails settleAfter later
	settleAfter         = 3 * 24 * 60 * 60 // seconds until a bank decides by itself
)

// cardChoice is a card that the pages offer.
type cardChoice struct {
	Card   Card
	Method string // Stripe's test payment method
	Number string
	Means  string
}

var cards = []cardChoice{
	{CardOK, "pm_card_visa", "4242 4242 4242 4242", "pays"},
	{CardDeclined, "pm_card_chargeDeclined", "4000 0000 0000 0002", "is declined"},
	{BankPays, "pm_usBankAccount", "000123456789", "a bank account: the money comes days later"},
	{CardFailsLater, "pm_card_chargeCustomerFail", "4000 0000 0000 0341", "pays at checkout, fails at the next renewal"},
	{BankFails, "pm_usBankAccount_insufficientFunds", "000111111116", "a bank account: the payment fails days later"},
}

func cardOf(method string) Card {
	for _, c := range cards {
		if c.Method == method {
			return c.Card
		}
	}
	return CardNone
}

// Valid reports whether there is such a card.
func (c Card) Valid() bool { return c == CardNone || c.number() != "" }

func (c Card) number() string {
	for _, k := range cards {
		if k.Card == c {
			return k.Number
		}
	}
	return ""
}

func (c Card) last4() string {
	n := c.number()
	return n[max(0, len(n)-4):]
}

func (c Card) bank() bool { return c == BankPays || c == BankFails }

// method is a payment method of a customer.
type method struct {
	head

	Customer string `json:"customer"`
	Card     Card   `json:"card"`
}

func (m *method) owner() string { return m.Customer }

func (m *method) render(s *Sandbox) object {
	o := object{
		"id": m.ID, "object": "payment_method", "created": m.Created, "livemode": s.live, "metadata": meta(m.Metadata),
		"billing_details": billingDetails(), "customer": orNull(m.Customer),
	}
	if m.Card.bank() {
		o["type"] = "us_bank_account"
		o["us_bank_account"] = object{
			"account_holder_type": "individual", "account_type": "checking", "bank_name": "STRIPE TEST BANK", "financial_connections_account": nil,
			"fingerprint": "sandboxbank", "last4": m.Card.last4(), "networks": nil, "routing_number": "110000000", "status_details": nil,
		}
		return o
	}
	o["type"] = "card"
	o["card"] = object{
		"brand": "visa", "checks": checks(), "country": "US", "display_brand": "visa", "exp_month": 12, "exp_year": 2040,
		"fingerprint": "sandboxcard", "funding": "credit", "generated_from": nil, "last4": m.Card.last4(),
		"networks":             object{"available": []any{"visa"}, "preferred": nil},
		"three_d_secure_usage": object{"supported": true}, "wallet": nil,
	}
	return o
}

func checks() object {
	return object{"address_line1_check": nil, "address_postal_code_check": nil, "cvc_check": "pass"}
}

func billingDetails() object {
	address := object{"city": nil, "country": nil, "line1": nil, "line2": nil, "postal_code": nil, "state": nil}
	return object{"address": address, "email": nil, "name": nil, "phone": nil}
}

// attach adds a payment method to a customer.
func (s *Sandbox) attach(c *customer, card Card) *method {
	m := &method{Customer: c.ID, Card: card}
	insert(s, &s.d.Methods, m, "pm_", longID)
	s.emit("payment_method.attached", m.render(s), nil)
	return m
}

// setCard makes a new payment method pay for all of the customer's subscriptions from now on.
func (s *Sandbox) setCard(c *customer, card Card) {
	id := ""
	if card != CardNone {
		id = s.attach(c, card).ID
	}
	s.change(c, "customer.updated", func() { c.Method = id })
	for _, sub := range s.d.Subs.of(c.ID) {
		if !sub.ended() {
			s.changeSub(sub, func() { sub.Method = id })
		}
	}
}

// paysWith returns a customer's default payment method, or that of the latest live subscription, since Stripe's
// checkout sets only the subscription's.
func (s *Sandbox) paysWith(c *customer) (*method, bool) {
	id := c.Method
	for _, sub := range s.d.Subs.of(c.ID) {
		if c.Method == "" && !sub.ended() && sub.Method != "" {
			id = sub.Method
		}
	}
	return find[*method](s, id)
}

func listCustomerMethods(s *Sandbox, r *request) (object, error) {
	if _, err := s.customer(r.id, ""); err != nil {
		return nil, err
	}
	kind := r.p.str("type")
	return list(s, r, "PaymentMethod", s.d.Methods.of(r.id), func(m *method) bool {
		return kind == "" || (kind == "us_bank_account") == m.Card.bank()
	})
}
