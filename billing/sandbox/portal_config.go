package sandbox

import "cmp"

// portalConfig says what the customer may do in the portal.
type portalConfig struct {
	head

	Active    bool   `json:"active"`
	Updated   int64  `json:"updated"`
	ReturnURL string `json:"default_return_url"`
	Headline  string `json:"headline"`
	Privacy   string `json:"privacy_policy_url"`
	Terms     string `json:"terms_of_service_url"`

	CustomerUpdate bool     `json:"customer_update"`
	AllowedUpdates []string `json:"allowed_updates"`
	InvoiceHistory bool     `json:"invoice_history"`
	MethodUpdate   bool     `json:"payment_method_update"`
	Cancel         bool     `json:"subscription_cancel"`
	CancelMode     string   `json:"cancel_mode"`
}

func (g *portalConfig) render(s *Sandbox) object {
	return object{
		"id": g.ID, "object": "billing_portal.configuration", "created": g.Created, "updated": g.Updated, "livemode": s.live,
		"metadata": meta(g.Metadata), "active": g.Active, "application": nil, "is_default": false, "default_return_url": orNull(g.ReturnURL),
		"business_profile": object{"headline": orNull(g.Headline), "privacy_policy_url": orNull(g.Privacy), "terms_of_service_url": orNull(g.Terms)},
		"login_page":       object{"enabled": false, "url": nil},
		"features": object{
			"customer_update":       object{"allowed_updates": anys(g.AllowedUpdates), "enabled": g.CustomerUpdate},
			"invoice_history":       object{"enabled": g.InvoiceHistory},
			"payment_method_update": object{"enabled": g.MethodUpdate},
			"subscription_cancel": object{
				"enabled": g.Cancel, "mode": cmp.Or(g.CancelMode, "at_period_end"), "proration_behavior": "none",
				"cancellation_reason": object{"enabled": false, "options": []any{}},
			},
			"subscription_pause":  object{"enabled": false},
			"subscription_update": object{"enabled": false, "default_allowed_updates": []any{}, "proration_behavior": "none"},
		},
	}
}

// read applies the parameters that create and update share.
func (g *portalConfig) read(p *params) {
	p.set("default_return_url", &g.ReturnURL)
	if q := p.sub("business_profile"); q != nil {
		q.set("headline", &g.Headline)
		q.set("privacy_policy_url", &g.Privacy)
		q.set("terms_of_service_url", &g.Terms)
	}
	g.Metadata = p.metadata(g.Metadata)
	features := p.sub("features")
	if features == nil {
		return
	}
	for name, to := range map[string]*bool{
		"customer_update": &g.CustomerUpdate, "invoice_history": &g.InvoiceHistory, "payment_method_update": &g.MethodUpdate, "subscription_cancel": &g.Cancel,
	} {
		q := features.sub(name)
		if q == nil {
			continue
		}
		if v, ok := q.bool("enabled"); ok {
			*to = v
		}
		switch name {
		case "customer_update":
			if v, ok := q.strs("allowed_updates"); ok {
				g.AllowedUpdates = v
			}
		case "subscription_cancel":
			g.CancelMode = q.enum("mode", cmp.Or(g.CancelMode, "at_period_end"), "at_period_end", "immediately")
		}
	}
}

func createConfig(s *Sandbox, r *request) (object, error) {
	g := &portalConfig{Active: true, Updated: s.now()}
	for _, must := range []string{"business_profile", "features"} {
		if r.p.sub(must) == nil {
			r.p.fail(invalid(must, "parameter_missing", "Missing required param: %s.", must))
		}
	}
	g.read(r.p)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	insert(s, &s.d.Configs, g, "bpc_", longID)
	o := g.render(s)
	s.emit("billing_portal.configuration.created", o, nil)
	return o, nil
}

func updateConfig(s *Sandbox, r *request) (object, error) {
	g, err := need[*portalConfig](s, "configuration", r.id, "")
	if err != nil {
		return nil, err
	}
	next := *g
	if v, ok := r.p.bool("active"); ok {
		next.Active = v
	}
	next.read(r.p)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	next.Updated = s.now()
	s.change(g, "billing_portal.configuration.updated", func() { *g = next })
	return g.render(s), nil
}

func listConfigs(s *Sandbox, r *request) (object, error) {
	active, byActive := r.p.bool("active")
	return list(s, r, "configuration", s.d.Configs.rows, func(g *portalConfig) bool { return !byActive || g.Active == active })
}
