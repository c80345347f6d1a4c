package sandbox

import (
	"slices"
	"strings"
)

// expandable lists, by kind of object, the fields that hold an id and can be expanded to the object.
var expandable = map[string][]string{
	"checkout.session": {"customer", "subscription", "invoice"},
	"subscription":     {"customer", "latest_invoice"},
	"invoice":          {"customer", "subscription", "charge"},
	"charge":           {"customer", "invoice"},
	"dispute":          {"charge"},
}

// expandAll replaces the ids at the paths with their objects.
func (s *Sandbox) expandAll(o object, paths []string) error {
	slices.Sort(paths) // a parent before its children
	for _, path := range paths {
		if err := s.expand(o, strings.Split(path, "."), path); err != nil {
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
	if kind == "checkout.session" && field == "line_items" { // which it has only when asked for
		id, _ := o["id"].(string)
		cs, _ := find[*session](s, id)
		o[field] = sublist("/v1/checkout/sessions/"+id+"/line_items", s.lineItems(cs))
		return nil
	}
	known := slices.Contains(expandable[kind], field)
	switch v := o[field].(type) {
	case object, []any:
		return nil
	case string:
		if r, ok := s.byID[v]; ok && known {
			o[field] = r.render(s)
		}
	}
	if !known {
		return invalid("expand", "", "This property cannot be expanded (%s).", path)
	}
	return nil
}
