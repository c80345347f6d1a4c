package openapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// What generators of clients go by, beyond what makes the document valid. A number without a format is a float32 in
// some clients, and loses digits of a share. A YAML body with a schema of its own is something that others cannot
// read, and they refuse the whole document. An object without a name is a type without one.
func TestGeneratorsReadTheDocument(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(YAML())
	if err != nil {
		t.Fatal(err)
	}
	numbers := 0
	for name, s := range doc.Components.Schemas {
		walk(name, s, func(at string, s *openapi3.Schema) {
			if s.Items != nil && s.Items.Ref == "" && len(s.Items.Value.Properties) > 0 {
				t.Errorf("%s is a list of objects without a name", at)
			}
			if s.Type.Is("number") {
				numbers++
				if s.Format != "double" {
					t.Errorf("%s is a number of the format %q, not double", at, s.Format)
				}
			}
		})
	}
	if numbers == 0 {
		t.Error("no number was seen")
	}
	for path, item := range doc.Paths.Map() {
		if item.Get.Description == "" {
			t.Errorf("%s has no description", path)
		}
		for kind, body := range item.Get.Responses.Value("200").Value.Content {
			if strings.HasSuffix(kind, "yaml") && body.Schema != nil && body.Schema.Value.Type != nil {
				t.Errorf("%s: %s has a type", path, kind)
			}
		}
	}
}

// Generators name a type, or a file, after each parameter. A name of one word may be that of a schema but for its case
// (gameType and GameType are one file on some systems), or one that a language keeps for itself (number, date, from).
func TestNamesOfParameters(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(YAML())
	if err != nil {
		t.Fatal(err)
	}
	for name := range doc.Components.Parameters {
		if !strings.HasSuffix(name, "Parameter") {
			t.Errorf("%s does not end in Parameter", name)
		}
	}
}

// Answers leave out only what the document says they may: a property that is not required is optional in every client.
func TestPropertiesAreRequired(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(YAML())
	if err != nil {
		t.Fatal(err)
	}
	var optional []string
	for name, s := range doc.Components.Schemas {
		walk(name, s, func(at string, s *openapi3.Schema) {
			for property := range s.Properties {
				if !slices.Contains(s.Required, property) {
					optional = append(optional, at+"."+property)
				}
			}
		})
	}
	slices.Sort(optional)
	if want := []string{"DrawList.next_cursor", "Envelope.next_cursor", "Problem.errors", "Readiness.reason", "SearchList.next_cursor"}; !slices.Equal(slices.Compact(optional), want) {
		t.Errorf("%q may be left out, not only %q", optional, want)
	}
}

// walk calls f for a schema and for all schemas in it.
func walk(at string, ref *openapi3.SchemaRef, f func(string, *openapi3.Schema)) {
	s := ref.Value
	f(at, s)
	for name, inner := range s.Properties {
		walk(at+"."+name, inner, f)
	}
	if s.Items != nil {
		walk(at+"[]", s.Items, f)
	}
	for _, inner := range s.AllOf {
		walk(at, inner, f)
	}
}
