package sandbox

import "strings"

// session is a checkout: a hosted page that sells one subscription.
type session struct {
	head

	Customer    string            `json:"customer"`
	Reference   string            `json:"client_reference_id"`
	Lines       []item            `json:"lines"`
	SuccessURL  string            `json:"success_url"`
	CancelURL   string            `json:"cancel_url"`
	Status      string            `json:"status"`
	Payment     string            `json:"payment_status"`
	ExpiresAt   int64             `json:"expires_at"`
	URL         string            `json:"url"`
	Sub         string            `json:"subscription"`
	Begun       string            `json:"begun"` // the subscription that the first attempt to pay made, whether or not it paid
	Invoice     string            `json:"invoice"`
	SubMetadata map[string]string `json:"subscription_metadata"`
}

const (
	sessionOpen     = "open"
	sessionComplete = "complete"
	sessionExpired  = "expired"

	payPaid = "paid"
	payNot  = "unpaid"
)

func (cs *session) owner() string { return cs.Customer }

func (cs *session) due(_ *Sandbox) int64 {
	if cs.Status != sessionOpen {
		return 0
	}
	return cs.ExpiresAt
}

func (cs *session) run(s *Sandbox) { s.expire(cs) }

func (cs *session) total(s *Sandbox) (cents int64, currency string) {
	for _, l := range cs.Lines {
		p, _ := find[*price](s, l.Price)
		cents, currency = cents+p.Amount*l.Quantity, p.Currency
	}
	return cents, currency
}

func (cs *session) render(s *Sandbox) object {
	total, currency := cs.total(s)
	url := orNull(cs.URL)
	if cs.Status != sessionOpen {
		url = nil
	}
	c, _ := find[*customer](s, cs.Customer)
	details := object{"address": nil, "email": orNull(c.Email), "name": nil, "phone": nil, "tax_exempt": "none", "tax_ids": []any{}}
	return object{
		"id": cs.ID, "object": "checkout.session", "created": cs.Created, "livemode": s.live, "metadata": meta(cs.Metadata),
		"after_expiration": nil, "allow_promotion_codes": nil, "amount_subtotal": total, "amount_total": total,
		"automatic_tax": object{"enabled": false, "liability": nil, "status": nil}, "billing_address_collection": nil,
		"cancel_url": orNull(cs.CancelURL), "client_reference_id": orNull(cs.Reference), "client_secret": nil, "consent": nil,
		"consent_collection": nil, "currency": currency, "currency_conversion": nil, "custom_fields": []any{},
		"custom_text": object{"after_submit": nil, "shipping_address": nil, "submit": nil, "terms_of_service_acceptance": nil},
		"customer":    cs.Customer, "customer_creation": nil, "customer_details": details, "customer_email": nil,
		"expires_at": cs.ExpiresAt, "invoice": orNull(cs.Invoice), "invoice_creation": nil, "locale": nil, "mode": "subscription",
		"payment_intent": nil, "payment_link": nil, "payment_method_collection": "always", "payment_method_configuration_details": nil,
		"payment_method_options": object{}, "payment_method_types": []any{"card"}, "payment_status": cs.Payment,
		"phone_number_collection": object{"enabled": false}, "recovered_from": nil, "setup_intent": nil, "shipping_address_collection": nil,
		"shipping_cost": nil, "shipping_details": nil, "shipping_options": []any{}, "status": cs.Status, "submit_type": nil,
		"subscription": orNull(cs.Sub), "success_url": orNull(cs.SuccessURL),
		"total_details": object{"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0}, "ui_mode": "hosted", "url": url,
	}
}

// lineItems returns the line_items of a session.
func (s *Sandbox) lineItems(cs *session) []any {
	data := make([]any, 0, len(cs.Lines))
	for _, l := range cs.Lines {
		p, _ := find[*price](s, l.Price)
		prod, _ := find[*product](s, p.Product)
		total := p.Amount * l.Quantity
		data = append(data, object{
			"id": l.ID, "object": "item", "amount_discount": 0, "amount_subtotal": total, "amount_tax": 0, "amount_total": total,
			"currency": p.Currency, "description": prod.Name, "price": p.render(s), "quantity": l.Quantity,
		})
	}
	return data
}

func createSession(s *Sandbox, r *request) (object, error) {
	p := r.p
	cs := &session{Status: sessionOpen, Payment: payNot}
	if mode := p.need("mode"); mode != "" && mode != "subscription" {
		p.fail(invalid("mode", "", "The sandbox has mode=subscription only."))
	}
	cs.Customer = p.need("customer")
	if _, err := s.customer(cs.Customer, "customer"); err != nil {
		p.fail(err)
	}
	if cs.Reference = p.str("client_reference_id"); len(cs.Reference) > 200 {
		p.fail(invalid("client_reference_id", "parameter_invalid_string_too_long", "Invalid string: must be at most 200 characters"))
	}
	for _, q := range p.list("line_items") {
		l := item{Quantity: 1, Price: q.need("price")}
		l.ID = s.newID("li_", longID)
		s.checkPrice(q, l.Price)
		if n, ok := q.int("quantity"); ok {
			l.Quantity = n
		}
		cs.Lines = append(cs.Lines, l)
	}
	if len(cs.Lines) == 0 {
		p.fail(invalid("line_items", "parameter_missing", "Missing required param: line_items."))
	}
	cs.SuccessURL, cs.CancelURL = p.need("success_url"), p.str("cancel_url")
	for _, u := range []string{cs.SuccessURL, cs.CancelURL} {
		if u != "" && !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "http://") {
			p.fail(invalid("success_url", "url_invalid", "Not a valid URL"))
		}
	}
	cs.Metadata = p.metadata(nil)
	if q := p.sub("subscription_data"); q != nil {
		cs.SubMetadata = q.metadata(nil)
	}
	cs.ExpiresAt = s.now() + 24*60*60
	if err := p.finish(); err != nil {
		return nil, err
	}
	if err := s.oneCurrency(cs); err != nil {
		return nil, err
	}
	prefix := "cs_test_"
	if s.live {
		prefix = "cs_live_"
	}
	cs.ID = s.newID(prefix, sessID)
	cs.URL = s.base() + "/c/pay/" + cs.ID
	insert(s, &s.d.Sessions, cs, "", 0)
	return cs.render(s), nil
}

// oneCurrency returns an error if the customer is bound to another currency than that of a new session.
func (s *Sandbox) oneCurrency(cs *session) error {
	_, currency := cs.total(s)
	var bound []string
	for _, sub := range s.d.Subs.of(cs.Customer) {
		if !sub.ended() {
			bound = append(bound, sub.Currency)
		}
	}
	for _, other := range s.d.Sessions.of(cs.Customer) {
		if _, c := other.total(s); other.Status == sessionOpen {
			bound = append(bound, c)
		}
	}
	for _, c := range bound {
		if c != currency {
			return invalid("", "", "You cannot combine currencies on a single customer. This customer has an active subscription, "+
				"subscription schedule, discount, quote, invoice item or active subscription mode checkout session with currency %s.", c)
		}
	}
	return nil
}

func (s *Sandbox) checkPrice(q *params, id string) {
	pr, err := need[*price](s, "price", id, q.name("price"))
	if err != nil {
		q.fail(err)
		return
	}
	prod, _ := find[*product](s, pr.Product)
	switch {
	case !prod.Active:
		q.fail(invalid(q.name("price"), "", "Price `%s` is not available to be purchased because its product is not active.", id))
	case !pr.Active:
		q.fail(invalid(q.name("price"), "", "The price specified is inactive. This field only accepts active prices."))
	case pr.Interval == "":
		q.fail(invalid(q.name("price"), "", "The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`."))
	}
}

func listSessions(s *Sandbox, r *request) (object, error) {
	return list(s, r, "checkout.session", s.d.Sessions.of(r.p.str("customer")), func(*session) bool { return true })
}

func expireSession(s *Sandbox, r *request) (object, error) {
	cs, err := named[*session](s, r, "checkout.session")
	if err != nil {
		return nil, err
	}
	if cs.Status != sessionOpen {
		return nil, invalid("", "", "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status of `%s`.", cs.Status)
	}
	s.expire(cs)
	return cs.render(s), nil
}
