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
		for attribute, want := range map[string]string{
			"aria-invalid": "true", "value": c.fields[1], "autocomplete": c.complete, "autofocus": "", "required": "",
		} {
			if got, there := field[attribute]; !there || got != want {
				t.Errorf("%s: %s is %q (there: %t), want %q", c.path, attribute, got, there, want)
			}
		}
		if role := roles[field["aria-describedby"]]; role != "alert" {
			t.Errorf("%s: described by %q, whose role is %q", c.path, field["aria-describedby"], role)
		}
	}
}
