package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// A parameter that is left out means what the document gives as its default, and the document's numbers are those that
// cut a list.
func TestDefaultsAreTheDocuments(t *testing.T) {
	t.Parallel()
	doc, _ := loadContract(t)
	s := newServer(t)
	b := catalog.NewBuilder(models.DataVersion{Number: 1, Token: "defaults"})
	game := b.Game(models.Game{ID: "many", Name: "Many", Digits: 3, Jurisdiction: "XX", Timezone: "UTC"})
	for i := range 300 {
		if err := game.Add(models.NewDate(2010, 1, 1)+models.Date(i), models.Evening, 1, []byte([]string{"123", "231", "312"}[i%3])); err != nil {
			t.Fatal(err)
		}
	}
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s.live.Swap(cat)
	ask := func(uri string) (body string, draws int) {
		t.Helper()
		res := s.get(t, uri, nil)
		var list struct{ Draws []json.RawMessage }
		if err := json.Unmarshal(res.Body.Bytes(), &list); res.Code != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %v", uri, res.Code, err)
		}
		return res.Body.String(), len(list.Draws)
	}
	// Each finds more draws than a list without a limit has.
	required := map[string]string{
		"/v1/draws/recent": "game=many", "/v1/draws/date/{date}": "tod=Evening", "/v1/draws/search": "number=123", "/v1/draws/by-sum": "game=many&sum=6",
		"/v1/draws/by-pair": "game=many&pair=12", "/v1/draws/history": "game=many&year=2010",
	}
	tried := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for _, ref := range item.Get.Parameters {
			p := ref.Value
			if p.In != "query" || p.Schema.Value.Default == nil {
				continue
			}
			query := required[path]
			if query == "" {
				t.Errorf("%s has a default for %s: say in this test what the path needs besides", path, p.Name)
				continue
			}
			tried[p.Name] = true
			uri := strings.ReplaceAll(path, "{date}", "2010-03-04") + "?" + query
			without, draws := ask(uri)
			if with, _ := ask(fmt.Sprintf("%s&%s=%v", uri, p.Name, p.Schema.Value.Default)); with != without {
				t.Errorf("%s does not take %s=%v, as the document says, if it is left out", uri, p.Name, p.Schema.Value.Default)
			}
			if number, ok := p.Schema.Value.Default.(float64); ok && draws != int(number) {
				t.Errorf("%s lists %d draws; the document says %v, and the test needs as many", uri, draws, number)
			}
		}
	}
	for _, name := range []string{"order", "count", "limit", "match", "position", "format"} {
		if !tried[name] {
			t.Errorf("%s has no default in the document", name)
		}
	}
}
