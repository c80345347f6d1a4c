package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"lottery/api/openapi"
)

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
