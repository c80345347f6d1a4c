package sandbox

// product is what is sold.
type product struct {
	head

	Name        string `json:"name"`
	Description string `json:"description"`
	Active      bool   `json:"active"`
	Updated     int64  `json:"updated"`
}

func (p *product) render(s *Sandbox) object {
	return object{
		"id": p.ID, "object": "product", "created": p.Created, "updated": p.Updated, "livemode": s.live, "metadata": meta(p.Metadata),
		"active": p.Active, "default_price": nil, "description": orNull(p.Description), "features": []any{},
		"images": []any{}, "name": p.Name, "package_dimensions": nil, "shippable": nil,
		"statement_descriptor": nil, "tax_code": nil, "unit_label": nil, "url": nil,
	}
}

func (p *product) read(q *params) {
	q.set("description", &p.Description)
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
	r.p.set("name", &next.Name)
	next.read(r.p)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	next.Updated = s.now()
	s.change(p, "product.updated", func() { *p = next })
	return p.render(s), nil
}
