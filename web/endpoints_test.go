package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"lottery/api/openapi"
)

// The reference names, and explains, every code that a refused request may get.
func TestReferenceNamesTheCodes(t *testing.T) {
	t.Parallel()
	text := open(t, nil).person().get("/docs/reference").text
	for _, code := range []string{"missing_api_key", "invalid_api_key", "revoked_api_key", "expired_api_key", "account_suspended", "quota_exceeded", "rate_limited", "unknown_game", "unavailable"} {
		link := `<a href="/docs/errors/` + code + `"><code>` + code + `</code></a>`
		if n, bare := strings.Count(text, link), strings.Count(text, "<code>"+code+"</code>"); n == 0 || n != bare {
			t.Errorf("%s: %d links, of %d times that it is named", code, n, bare)
		}
	}
	if strings.Contains(text, "</code></a><a href") {
		t.Error("a code is named twice")
	}
}

// The home page and /llms.txt list every endpoint of the API, and the home page leads to its place in the reference.
func TestEveryEndpointIsListed(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(openapi.YAML())
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, nil).person()
	home, llms := p.get("/"), p.get("/llms.txt")
	home.says(t, http.StatusOK)
	llms.says(t, http.StatusOK)
	for path, item := range doc.Paths.Map() {
		if !strings.HasPrefix(path, "/v1/") {
			continue
		}
		if !strings.Contains(llms.text, "`GET "+path) || !strings.Contains(home.text, `/docs/reference#`+item.Get.OperationID+`"`) {
			t.Errorf("%s (%s) is missing from endpoints in home.go", path, item.Get.OperationID)
		}
	}
}
