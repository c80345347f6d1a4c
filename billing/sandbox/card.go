package sandbox

// Card is how a customer pays.
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
	Method string // Stripe's test payment method, the id under which the API names the card
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

// choice returns what the pages offer for the card; zero if there is no such card.
func (c Card) choice() cardChoice {
	for _, k := range cards {
		if k.Card == c {
			return k
		}
	}
	return cardChoice{}
}

// Valid reports whether there is such a card.
func (c Card) Valid() bool { return c == CardNone || c.choice().Card == c }

// method returns the card's id in the API, or null.
func (c Card) method() any { return orNull(c.choice().Method) }

func (c Card) last4() string {
	n := c.choice().Number
	return n[max(0, len(n)-4):]
}

func (c Card) bank() bool { return c == BankPays || c == BankFails }

func checks() object {
	return object{"address_line1_check": nil, "address_postal_code_check": nil, "cvc_check": "pass"}
}

func billingDetails() object {
	address := object{"city": nil, "country": nil, "line1": nil, "line2": nil, "postal_code": nil, "state": nil}
	return object{"address": address, "email": nil, "name": nil, "phone": nil}
}

// setCard makes a card pay for all of the customer's subscriptions from now on.
func (s *Sandbox) setCard(c *customer, card Card) {
	s.change(c, "customer.updated", func() { c.Card = card })
	for _, sub := range s.d.Subs.of(c.ID) {
		if !sub.ended() {
			s.changeSub(sub, func() { sub.Card = card })
		}
	}
}

// paysWith returns a customer's card, or that of the latest live subscription, since Stripe's checkout sets only the
// subscription's.
func (s *Sandbox) paysWith(c *customer) Card {
	card := c.Card
	for _, sub := range s.d.Subs.of(c.ID) {
		if c.Card == CardNone && !sub.ended() && sub.Card != CardNone {
			card = sub.Card
		}
	}
	return card
}
