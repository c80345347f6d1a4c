package sandbox_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/spec"
)

// document is Stripe's own OpenAPI document of 2023-10-16, as contained in stripe-mock.
var document = sync.OnceValue(func() *spec.Spec {
	var s spec.Spec
	if err := json.Unmarshal(embedded.OpenAPISpec, &s); err != nil {
		panic(err)
	}
	return &s
})

// validateAnswer checks a response against the schema of its operation.
func validateAnswer(method, path string, answer any) []string {
	parts := strings.Split(path, "/")
	var best *spec.Operation
	fixed := -1
	for pattern, verbs := range document().Paths {
		want := strings.Split(string(pattern), "/")
		op := verbs[spec.HTTPVerb(strings.ToLower(method))]
		if op == nil || len(want) != len(parts) {
			continue
		}
		same := 0
		for i := range want {
			switch {
			case want[i] == parts[i]:
				same++
			case !strings.HasPrefix(want[i], "{"):
				same = -1000
			}
		}
		if same > fixed {
			best, fixed = op, same
		}
	}
	if best == nil {
		return []string{"Stripe has no such operation"}
	}
	return check("", best.Responses["200"].Content["application/json"].Schema, answer)
}

// validate checks a value against a named schema.
func validate(name string, value any) []string {
	return check(name, document().Components.Schemas[name], value)
}

// check returns where a value violates a schema. It is stricter than the document: an undocumented field is an error.
func check(at string, s *spec.Schema, value any) []string {
	for s.Ref != "" {
		s = document().Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	if value == nil {
		if s.Nullable {
			return nil
		}
		return []string{at + " is null"}
	}
	if len(s.AnyOf) > 0 {
		return checkAny(at, s.AnyOf, value)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		return []string{fmt.Sprintf("%s is %v, not one of %v", at, value, s.Enum)}
	}
	ok := true
	switch s.Type {
	case "string":
		_, ok = value.(string)
	case "boolean":
		_, ok = value.(bool)
	case "number":
		_, ok = value.(float64)
	case "integer":
		f, isNumber := value.(float64)
		ok = isNumber && f == float64(int64(f))
	case "array":
		list, isList := value.([]any)
		if !isList {
			return []string{at + " is no array"}
		}
		var out []string
		for i, v := range list {
			out = append(out, check(fmt.Sprintf("%s[%d]", at, i), s.Items, v)...)
		}
		return out
	case "object", "":
		return checkObject(at, s, value)
	}
	if !ok {
		return []string{fmt.Sprintf("%s is %T, not %s", at, value, s.Type)}
	}
	return nil
}

// checkAny checks against the alternative that fits best: the one that names the object's kind, if there is one.
func checkAny(at string, kinds []*spec.Schema, value any) []string {
	var best []string
	for i, s := range kinds {
		problems := check(at, s, value)
		if len(problems) == 0 {
			return nil
		}
		if i == 0 || len(problems) < len(best) {
			best = problems
		}
	}
	return best
}

func checkObject(at string, s *spec.Schema, value any) []string {
	o, ok := value.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s is %T, not an object", at, value)}
	}
	var out []string
	for _, k := range s.Required {
		if _, ok := o[k]; !ok {
			out = append(out, at+"."+k+" is missing")
		}
	}
	for k, v := range o {
		switch p, known := s.Properties[k]; {
		case known:
			out = append(out, check(at+"."+k, p, v)...)
		case s.AdditionalProperties != nil:
			out = append(out, check(at+"."+k, s.AdditionalProperties, v)...)
		case len(s.Properties) > 0:
			out = append(out, at+"."+k+" is unknown to Stripe")
		}
	}
	return out
}

// lacking returns the fields that stripe-mock's response has and the sandbox's lacks, where both have an object.
func lacking(at string, want, got any) []string {
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) == 0 || len(g) == 0 {
			return nil
		}
		return lacking(at+"[]", w[0], g[0])
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || g["deleted"] == true || word(w, "object") != word(g, "object") || word(w, "type") != word(g, "type") && w["object"] == nil {
			return nil
		}
		var out []string
		for k, v := range w {
			if strings.HasSuffix(at, "metadata") || strings.HasSuffix(at, ".data.object") {
				continue // ours, and of an event whatever it is about
			}
			if w["object"] == "line_item" && k == "invoice_item" || w["object"] == "charge" && k == "refunds" {
				continue // of lines that no subscription made; since 2022-11-15 only if expanded
			}
			if _, has := g[k]; !has {
				out = append(out, at+"."+k)
				continue
			}
			out = append(out, lacking(at+"."+k, v, g[k])...)
		}
		return out
	}
	return nil
}

func word(o map[string]any, key string) string {
	s, _ := o[key].(string)
	return s
}
