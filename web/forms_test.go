package web_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// A form that is refused says why beside the field that is wrong, in words that screen readers read at once, and keeps
// what was entered. Browsers offer addresses where one is asked for, and nothing where that would be wrong.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	for _, c := range []struct {
		who      *person
		path     string
		fields   []string
		name     string // of the field that is wrong
		complete string
	}{
		{h.person(), "/sign-in", []string{"email", "nobody"}, "email", "email"},
		{p, "/dashboard/account/email", []string{"email", "nobody"}, "email", "email"},
		{p, "/dashboard/keys", []string{"name", strings.Repeat("x", 101)}, "name", "off"},
	} {
		got := c.who.post(c.path, c.fields...)
		got.says(t, http.StatusUnprocessableEntity)
		tree, err := html.Parse(strings.NewReader(got.text))
		if err != nil {
			t.Fatal(err)
		}
		var field map[string]string
		roles := map[string]string{}
		for n := range tree.Descendants() {
			attributes := map[string]string{}
			for _, a := range n.Attr {
				attributes[a.Key] = a.Val
			}
			roles[attributes["id"]] = attributes["role"]
			if n.Data == "input" && attributes["name"] == c.name && attributes["type"] != "hidden" {
				field = attributes
			}
		}
		_, focused := field["autofocus"]
		_, required := field["required"]
		if field["aria-invalid"] != "true" || roles[field["aria-describedby"]] != "alert" || field["value"] != c.fields[1] || field["autocomplete"] != c.complete || !focused || !required {
			t.Errorf("%s: %v, described by a %q", c.path, field, roles[field["aria-describedby"]])
		}
	}
}
