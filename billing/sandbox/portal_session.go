package sandbox

import (
	"cmp"
	"slices"
)

// portalSession gives a customer access to the portal.
type portalSession struct {
	head

	Customer  string `json:"customer"`
	Config    string `json:"configuration"`
	ReturnURL string `json:"return_url"`
	URL       string `json:"url"`
	Secret    string `json:"secret"` // the last part of the address
}

// portalFor is how long a portal page lives.
const portalFor = 60 * 60

func (ps *portalSession) owner() string { return ps.Customer }

func (ps *portalSession) render(s *Sandbox) object {
	return object{
		"id": ps.ID, "object": "billing_portal.session", "created": ps.Created, "livemode": s.live, "configuration": ps.Config,
		"customer": ps.Customer, "flow": nil, "locale": nil, "on_behalf_of": nil, "return_url": orNull(ps.ReturnURL), "url": ps.URL,
	}
}

func createPortal(s *Sandbox, r *request) (object, error) {
	ps := &portalSession{Customer: r.p.need("customer"), Config: r.p.str("configuration"), ReturnURL: r.p.str("return_url")}
	if _, err := s.customer(ps.Customer, "customer"); err != nil {
		r.p.fail(err)
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	if ps.Config == "" {
		return nil, invalid("", "", "No configuration provided and your test mode default configuration has not been created. Provide a configuration or create your default by saving your customer portal settings in test mode at https://dashboard.stripe.com/test/settings/billing/portal.")
	}
	g, err := need[*portalConfig](s, "configuration", ps.Config, "configuration")
	if err != nil {
		return nil, err
	}
	if !g.Active {
		return nil, invalid("configuration", "", "The configuration %s is not active and cannot be used to create a session.", g.ID)
	}
	ps.ReturnURL = cmp.Or(ps.ReturnURL, g.ReturnURL)
	ps.Secret = s.newID("", secretID)
	ps.URL = s.base() + "/p/session/" + ps.Secret
	insert(s, &s.d.Portals, ps, "bps_", longID)
	s.emit("billing_portal.session.created", ps.render(s), nil)
	return ps.render(s), nil
}

// portal returns the session with the secret, and whether there is one that has not expired.
func (s *Sandbox) portal(secret string) (*portalSession, bool) {
	for _, ps := range slices.Backward(s.d.Portals.rows) {
		if ps.Secret == secret {
			return ps, s.now() < ps.Created+portalFor
		}
	}
	return nil, false
}
