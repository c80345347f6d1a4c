package sandbox

import (
	"slices"
	"strings"
)

// expandable lists, by kind of object, the fields that hold an id and can be expanded to the object.
var expandable = map[string][]string{
	"customer":               {"invoice_settings", "default_payment_method"},
	"product":                {"default_price"},
	"price":                  {"product"},
	"checkout.session":       {"customer", "subscription", "invoice", "payment_intent"},
	"subscription":           {"customer", "latest_invoice", "default_payment_method"},
	"invoice":                {"customer", "subscription", "charge", "payment_intent", "default_payment_method"},
	"line_item":              {"subscription", "subscription_item"},
	"payment_intent":         {"customer", "invoice", "latest_charge", "payment_method"},
	"charge":                 {"customer", "invoice", "payment_intent"},
	"refund":                 {"charge", "payment_intent"},
	"dispute":                {"charge", "payment_intent"},
	"billing_portal.session": {"configuration"},
}

const deepest = 4 // levels, Stripe's limit

// expandAll replaces the ids at the paths with their objects.
func (s *Sandbox) expandAll(o object, paths []string) error {
	slices.Sort(paths) // a parent before its children
	for _, path := range paths {
		fields := strings.Split(path, ".")
		if len(fields) > deepest+1 || fields[0] != "data" && len(fields) > deepest {
			return invalid("expand", "", "You cannot expand more than 4 levels of a property (%s).", path)
		}
		if err := s.expand(o, fields, path); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sandbox) expand(value any, fields []string, path string) error {
	if len(fields) == 0 {
		return nil
	}
	if list, ok := value.([]any); ok {
		for _, v := range list {
			if err := s.expand(v, fields, path); err != nil {
				return err
			}
		}
		return nil
	}
	o, ok := value.(object)
	if !ok {
		return nil // null, or the id of a deleted object
	}
	field := fields[0]
	if kind, _ := o["object"].(string); kind != "" && kind != "list" {
		if err := s.open(o, kind, field, path); err != nil {
			return err
		}
	}
	return s.expand(o[field], fields[1:], path)
}

// open expands one field of an object, unless it already holds nested data.
func (s *Sandbox) open(o object, kind, field, path string) error {
	if s.include(o, kind, field) {
		return nil
	}
	switch v := o[field].(type) {
	case object, []any:
		return nil
	case string:
		if !slices.Contains(expandable[kind], field) {
			break
		}
		if r, ok := s.byID[v]; ok {
			o[field] = r.render(s)
		}
		return nil
	case nil:
		if slices.Contains(expandable[kind], field) {
			return nil
		}
	}
	return invalid("expand", "", "This property cannot be expanded (%s).", path)
}

// include adds a field that an object has only when it is asked for.
func (s *Sandbox) include(o object, kind, field string) bool {
	id, _ := o["id"].(string)
	switch kind + "." + field {
	case "checkout.session.line_items":
		if cs, ok := find[*session](s, id); ok {
			o[field] = sublist("/v1/checkout/sessions/"+id+"/line_items", s.lineItems(cs))
		}
	case "customer.subscriptions":
		var data []any
		for _, sub := range s.d.Subs.of(id) {
			if sub.Status != statusCanceled {
				data = append([]any{sub.render(s)}, data...)
			}
		}
		o[field] = sublist("/v1/customers/"+id+"/subscriptions", nonNil(data))
	case "charge.refunds":
		if ch, ok := find[*charge](s, id); ok {
			o[field] = sublist("/v1/charges/"+id+"/refunds", s.refundsOf(ch))
		}
	default:
		return false
	}
	return true
}

func nonNil(data []any) []any {
	if data == nil {
		return []any{}
	}
	return data
}
