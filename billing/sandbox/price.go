package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// price is an amount and an interval.
type price struct {
	head

	Product   string `json:"product"`
	Active    bool   `json:"active"`
	Currency  string `json:"currency"`
	Amount    int64  `json:"amount"` // in cents
	Interval  string `json:"interval"`
	Count     int64  `json:"interval_count"`
	LookupKey string `json:"lookup_key"`
}

func (p *price) render(s *Sandbox) object {
	kind, recurring := "one_time", any(nil)
	if p.Interval != "" {
		kind = "recurring"
		recurring = object{"aggregate_usage": nil, "interval": p.Interval, "interval_count": p.Count, "usage_type": "licensed"}
	}
	return object{
		"id": p.ID, "object": "price", "created": p.Created, "livemode": s.live, "metadata": meta(p.Metadata),
		"active": p.Active, "billing_scheme": "per_unit", "currency": p.Currency, "custom_unit_amount": nil,
		"lookup_key": orNull(p.LookupKey), "nickname": nil, "product": p.Product, "recurring": recurring,
		"tax_behavior": "unspecified", "tiers_mode": nil, "transform_quantity": nil, "type": kind,
		"unit_amount": p.Amount, "unit_amount_decimal": strconv.FormatInt(p.Amount, 10),
	}
}

// readShared applies the parameters that create and update share; moved is the price that loses its lookup key to this
// one.
func (p *price) readShared(s *Sandbox, q *params) (moved *price) {
	if v, ok := q.bool("active"); ok {
		p.Active = v
	}
	p.Metadata = q.metadata(p.Metadata)
	transfer, _ := q.bool("transfer_lookup_key")
	key, ok := q.opt("lookup_key")
	if !ok {
		return nil
	}
	p.LookupKey = key
	for _, other := range s.d.Prices.rows {
		if key == "" || other.LookupKey != key || other.ID == p.ID {
			continue
		}
		if transfer {
			return other
		}
		q.fail(invalid("lookup_key", "", "A price (`%s`) already uses that lookup key.", other.ID))
	}
	return nil
}

func createPrice(s *Sandbox, r *request) (object, error) {
	p := &price{Active: true, Count: 1}
	p.Currency = strings.ToLower(r.p.need("currency"))
	if len(p.Currency) != 3 {
		r.p.fail(invalid("currency", "", "Invalid currency: %s.", p.Currency))
	}
	amount, sent := r.p.int("unit_amount")
	if !sent {
		r.p.fail(invalid("unit_amount", "parameter_missing", "Prices require an `unit_amount` or `unit_amount_decimal` parameter to be set."))
	}
	if p.Amount = amount; amount < 0 {
		r.p.fail(invalid("unit_amount", "parameter_invalid_integer", "This value must be greater than or equal to 0."))
	}
	if q := r.p.sub("recurring"); q != nil {
		q.need("interval")
		p.Interval = q.enum("interval", "month", "year")
		if n, ok := q.int("interval_count"); ok {
			p.Count = n
		}
		if p.Count < 1 {
			q.fail(invalid("recurring[interval_count]", "parameter_invalid_integer", "This value must be greater than or equal to 1."))
		}
	}
	p.Product = r.p.need("product")
	if _, err := need[*product](s, "product", p.Product, "product"); err != nil {
		r.p.fail(err)
	}
	moved := p.readShared(s, r.p)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	s.takeKey(moved)
	insert(s, &s.d.Prices, p, "price_", longID)
	o := p.render(s)
	s.emit("price.created", o, nil)
	return o, nil
}

// takeKey removes the lookup key from a price.
func (s *Sandbox) takeKey(p *price) {
	if p != nil {
		s.change(p, "price.updated", func() { p.LookupKey = "" })
	}
}

func updatePrice(s *Sandbox, r *request) (object, error) {
	p, err := need[*price](s, "price", r.id, "")
	if err != nil {
		return nil, err
	}
	next := *p
	moved := next.readShared(s, r.p)
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	s.takeKey(moved)
	s.change(p, "price.updated", func() { *p = next })
	return p.render(s), nil
}

func listPrices(s *Sandbox, r *request) (object, error) {
	active, byActive := r.p.bool("active")
	keys, byKey := r.p.strs("lookup_keys")
	return list(s, r, "price", s.d.Prices.rows, func(p *price) bool {
		return (!byActive || p.Active == active) && (!byKey || p.LookupKey != "" && slices.Contains(keys, p.LookupKey))
	})
}
