package web

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// field is a field of a response, with the names of what it is in: draws[].date.
type field struct {
	Name, Type string
	Text       template.HTML
	Enum       []string
}

// readFields returns the fields of an object and of all objects in it.
func readFields(in string, s *openapi3.Schema) ([]field, error) {
	var out []field
	for _, base := range s.AllOf {
		inner, err := readFields(in, base.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	for _, name := range fieldNames(s) {
		p := s.Properties[name].Value
		text, err := markdown(operators, p.Description)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in+name, err)
		}
		out = append(out, field{Name: in + name, Type: typeOf(p), Text: text, Enum: enumOf(p)})
		name = in + name + "."
		if p.Items != nil {
			p, name = p.Items.Value, strings.TrimSuffix(name, ".")+"[]."
		}
		inner, err := readFields(name, p)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// fieldNames returns the names of an object's own fields: the required ones in the order in which the document requires
// them, which is that of the responses, and then the others.
func fieldNames(s *openapi3.Schema) []string {
	var names []string
	for _, name := range s.Required {
		if s.Properties[name] != nil {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// typeOf describes the type of a value: "integer", "date or null", "array of strings".
func typeOf(s *openapi3.Schema) string {
	if s.Type == nil {
		return "object"
	}
	types := slices.Clone(s.Type.Slice())
	switch {
	case s.Items != nil:
		return "array of " + typeOf(s.Items.Value) + "s"
	case strings.HasPrefix(s.Format, "date"):
		types[0] = s.Format
	}
	return strings.Join(types, " or ")
}

func enumOf(s *openapi3.Schema) []string {
	var out []string
	for _, v := range s.Enum {
		out = append(out, fmt.Sprint(v))
	}
	return out
}
