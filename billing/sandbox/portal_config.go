package sandbox

import "cmp"

// portalConfig says what the customer may do in the portal.
type portalConfig struct {
	head

	Active    bool   `json:"active"`
	Default   bool   `json:"is_default"`
	Updated   int64  `json:"updated"`
	ReturnURL string `json:"default_return_url"`
	Headline  string `json:"headline"`
	Privacy   string `json:"privacy_policy_url"`
	Terms     string `json:"terms_of_service_url"`
	LoginPage bool   `json:"login_page"`

	CustomerUpdate bool     `json:"customer_update"`
	AllowedUpdates []string `json:"allowed_updates"`
	InvoiceHistory bool     `json:"invoice_history"`
	MethodUpdate   bool     `json:"payment_method_update"`
	Cancel         bool     `json:"subscription_cancel"`
	CancelMode     string   `json:"cancel_mode"`
	CancelProrate  string   `json:"cancel_proration"`
	CancelReasons  bool     `json:"cancel_reasons"`
	ReasonOptions  []string `json:"reason_options"`
	Pause          bool     `json:"subscription_pause"`
	PlanUpdate     bool     `json:"subscription_update"`
	PlanProducts   any      `json:"plan_products"`
	PlanAllowed    []string `json:"plan_allowed"`
	PlanProrate    string   `json:"plan_proration"`
}

func (g *portalConfig) render(s *Sandbox) object {
	update := object{"enabled": g.PlanUpdate, "default_allowed_updates": anys(g.PlanAllowed), "proration_behavior": cmp.Or(g.PlanProrate, "none")}
	if g.PlanProducts != nil {
		update["products"] = g.PlanProducts
	}
	return object{
		"id": g.ID, "object": "billing_portal.configuration", "created": g.Created, "updated": g.Updated, "livemode": s.live,
		"metadata": meta(g.Metadata), "active": g.Active, "application": nil, "is_default": g.Default, "default_return_url": orNull(g.ReturnURL),
		"business_profile": object{"headline": orNull(g.Headline), "privacy_policy_url": orNull(g.Privacy), "terms_of_service_url": orNull(g.Terms)},
		"login_page":       object{"enabled": g.LoginPage, "url": nil},
		"features": object{
			"customer_update":       object{"allowed_updates": anys(g.AllowedUpdates), "enabled": g.CustomerUpdate},
			"invoice_history":       object{"enabled": g.InvoiceHistory},
			"payment_method_update": object{"enabled": g.MethodUpdate},
			"subscription_cancel": object{
				"enabled": g.Cancel, "mode": cmp.Or(g.CancelMode, "at_period_end"), "proration_behavior": cmp.Or(g.CancelProrate, "none"),
				"cancellation_reason": object{"enabled": g.CancelReasons, "options": anys(g.ReasonOptions)},
			},
			"subscription_pause":  object{"enabled": g.Pause},
			"subscription_update": update,
		},
	}
}

// read applies the parameters that create and update share.
func (g *portalConfig) read(p *params) {
	if v, ok := p.opt("default_return_url"); ok {
		g.ReturnURL = v
	}
	if q := p.sub("business_profile"); q != nil {
		for key, to := range map[string]*string{"headline": &g.Headline, "privacy_policy_url": &g.Privacy, "terms_of_service_url": &g.Terms} {
			if v, ok := q.opt(key); ok {
				*to = v
			}
		}
	}
	if q := p.sub("login_page"); q != nil {
		g.LoginPage = q.flag("enabled")
	}
	g.Metadata = p.metadata(g.Metadata)
	if q := p.sub("features"); q != nil {
		g.readFeatures(q)
	}
}

func (g *portalConfig) readFeatures(p *params) {
	enabled := func(q *params, to *bool) {
		if v, ok := q.bool("enabled"); ok {
			*to = v
		}
	}
	texts := func(q *params, key string, to *[]string) {
		if v, ok := q.strs(key); ok {
			*to = v
		}
	}
	if q := p.sub("customer_update"); q != nil {
		enabled(q, &g.CustomerUpdate)
		texts(q, "allowed_updates", &g.AllowedUpdates)
	}
	if q := p.sub("invoice_history"); q != nil {
		enabled(q, &g.InvoiceHistory)
	}
	if q := p.sub("payment_method_update"); q != nil {
		enabled(q, &g.MethodUpdate)
	}
	if q := p.sub("subscription_pause"); q != nil {
		enabled(q, &g.Pause)
	}
	if q := p.sub("subscription_cancel"); q != nil {
		enabled(q, &g.Cancel)
		g.CancelMode = q.enum("mode", cmp.Or(g.CancelMode, "at_period_end"), "at_period_end", "immediately")
		g.CancelProrate = q.enum("proration_behavior", cmp.Or(g.CancelProrate, "none"), "none", "create_prorations", "always_invoice")
		if reason := q.sub("cancellation_reason"); reason != nil {
			enabled(reason, &g.CancelReasons)
			texts(reason, "options", &g.ReasonOptions)
		}
	}
	if q := p.sub("subscription_update"); q != nil {
		enabled(q, &g.PlanUpdate)
		texts(q, "default_allowed_updates", &g.PlanAllowed)
		g.PlanProrate = q.enum("proration_behavior", cmp.Or(g.PlanProrate, "none"), "none", "create_prorations", "always_invoice")
		var products []any
		for _, one := range q.list("products") {
			prices, _ := one.strs("prices")
			products = append(products, object{"product": one.need("product"), "prices": anys(prices)})
		}
		if products != nil {
			g.PlanProducts = products
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
	isDefault, byDefault := r.p.bool("is_default")
	return list(s, r, "configuration", s.d.Configs.rows, func(g *portalConfig) bool {
		return (!byActive || g.Active == active) && (!byDefault || g.Default == isDefault)
	})
}
