package sandbox

// product is what is sold.
type product struct {
	head

	Name        string `json:"name"`
	Description string `json:"description"`
	Active      bool   `json:"active"`
	Updated     int64  `json:"updated"`
	URL         string `json:"url"`
	UnitLabel   string `json:"unit_label"`
	Statement   string `json:"statement_descriptor"`
	TaxCode     string `json:"tax_code"`
	Default     string `json:"default_price"`
}

func (p *product) render(s *Sandbox) object {
	return object{
		"id": p.ID, "object": "product", "created": p.Created, "updated": p.Updated, "livemode": s.live, "metadata": meta(p.Metadata),
		"active": p.Active, "default_price": orNull(p.Default), "description": orNull(p.Description), "features": []any{},
		"images": []any{}, "name": p.Name, "package_dimensions": nil, "shippable": nil,
		"statement_descriptor": orNull(p.Statement), "tax_code": orNull(p.TaxCode), "unit_label": orNull(p.UnitLabel), "url": orNull(p.URL),
	}
}

func (p *product) read(q *params) {
	for key, to := range map[string]*string{
		"description": &p.Description, "url": &p.URL, "unit_label": &p.UnitLabel, "statement_descriptor": &p.Statement, "tax_code": &p.TaxCode,
	} {
		if v, ok := q.opt(key); ok {
			*to = v
		}
	}
	if v, ok := q.bool("active"); ok {
		p.Active = v
	}
	p.Metadata = q.metadata(p.Metadata)
}

func createProduct(s *Sandbox, r *request) (object, error) {
	p := &product{Active: true, Updated: s.now()}
	p.Name = r.p.need("name")
	p.ID = r.p.str("id")
	p.read(r.p)
	if _, taken := s.byID[p.ID]; taken {
		r.p.fail(invalid("id", "resource_already_exists", "Product already exists."))
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	insert(s, &s.d.Products, p, "prod_", shortID)
	o := p.render(s)
	s.emit("product.created", o, nil)
	return o, nil
}

func updateProduct(s *Sandbox, r *request) (object, error) {
	p, err := need[*product](s, "product", r.id, "")
	if err != nil {
		return nil, err
	}
	next := *p
	if v, ok := r.p.opt("name"); ok {
		next.Name = v
	}
	if v, ok := r.p.opt("default_price"); ok {
		if pr, found := find[*price](s, v); v != "" && (!found || pr.Product != p.ID) {
			r.p.fail(missing("price", v, "default_price"))
		}
		next.Default = v
	}
	next.read(r.p)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	next.Updated = s.now()
	s.change(p, "product.updated", func() { *p = next })
	return p.render(s), nil
}

func listProducts(s *Sandbox, r *request) (object, error) {
	active, byActive := r.p.bool("active")
	ids, byID := r.p.strs("ids")
	created := r.p.span("created")
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	return list(s, r, "product", s.d.Products.rows, func(p *product) bool {
		return created(p.Created) && (!byActive || p.Active == active) && (!byID || wanted[p.ID])
	})
}
