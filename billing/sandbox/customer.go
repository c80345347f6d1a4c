package sandbox

import "strings"

// customer is a customer of the sandbox's account.
type customer struct {
	head

	Email    string `json:"email"`
	Name     string `json:"name"`
	Card     Card   `json:"card"`
	Deleted  bool   `json:"deleted"`
	Invoices int64  `json:"invoices"` // made so far
}

func (c *customer) render(s *Sandbox) object {
	if c.Deleted {
		return object{"id": c.ID, "object": "customer", "deleted": true}
	}
	return object{
		"id": c.ID, "object": "customer", "created": c.Created, "livemode": s.live, "metadata": meta(c.Metadata),
		"address": nil, "balance": 0, "currency": nil, "default_source": nil, "delinquent": false,
		"description": nil, "discount": nil, "email": orNull(c.Email),
		"invoice_prefix": c.prefix(),
		"invoice_settings": object{
			"custom_fields": nil, "default_payment_method": c.Card.method(), "footer": nil, "rendering_options": nil,
		},
		"name": orNull(c.Name), "next_invoice_sequence": c.Invoices + 1, "phone": nil,
		"preferred_locales": []any{}, "shipping": nil, "tax_exempt": "none", "test_clock": nil,
	}
}

// prefix returns what the numbers of the customer's invoices begin with.
func (c *customer) prefix() string { return strings.ToUpper(c.ID[len(c.ID)-8:]) }

// customer returns the customer with an id, if it exists and was not deleted.
func (s *Sandbox) customer(id, param string) (*customer, error) {
	c, err := need[*customer](s, "customer", id, param)
	if err == nil && c.Deleted {
		return nil, missing("customer", id, param)
	}
	return c, err
}

// read applies the parameters that create and update share.
func (c *customer) read(p *params) {
	p.set("email", &c.Email)
	p.set("name", &c.Name)
	if !isEmail(c.Email) {
		p.fail(invalid("email", "email_invalid", "Invalid email address: %s", c.Email))
	}
	c.Metadata = p.metadata(c.Metadata)
}

// isEmail reports whether the sandbox accepts an address. It refuses those with characters outside ASCII, even though
// mail may reach them, since other payment services refuse them.
func isEmail(s string) bool {
	unwritten := func(r rune) bool { return r <= ' ' || r > '~' }
	return s == "" || strings.Contains(s, "@") && !strings.ContainsFunc(s, unwritten)
}

func createCustomer(s *Sandbox, r *request) (object, error) {
	c := &customer{}
	c.read(r.p)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	insert(s, &s.d.Customers, c, "cus_", shortID)
	o := c.render(s)
	s.emit("customer.created", o, nil)
	return o, nil
}

func updateCustomer(s *Sandbox, r *request) (object, error) {
	c, err := s.customer(r.id, "")
	if err != nil {
		return nil, err
	}
	next := *c
	next.read(r.p)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	s.change(c, "customer.updated", func() { *c = next })
	return c.render(s), nil
}

// removeCustomer ends the customer's subscriptions at once and leaves a tombstone.
func (s *Sandbox) removeCustomer(c *customer) {
	for _, sub := range s.d.Subs.of(c.ID) {
		if !sub.ended() {
			s.end(sub, "cancellation_requested")
		}
	}
	for _, cs := range s.d.Sessions.of(c.ID) {
		if cs.Status == sessionOpen {
			s.expire(cs)
		}
	}
	o := c.render(s)
	c.Deleted, c.Card, s.dirty = true, CardNone, true
	s.emit("customer.deleted", o, nil)
}

func listCustomers(s *Sandbox, r *request) (object, error) {
	email, byEmail := r.p.opt("email")
	return list(s, r, "customer", s.d.Customers.rows, func(c *customer) bool { return !c.Deleted && (!byEmail || c.Email == email) })
}
