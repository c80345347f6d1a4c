package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// requiredOf holds what a path needs besides the parameter that is tried. Of many draws, each finds more than a list
// without a limit has.
var requiredOf = map[string]string{
	"/v1/draws/recent": "game=ny-numbers", "/v1/draws/date/{date}": "tod=Evening", "/v1/draws/search": "number=123", "/v1/draws/by-sum": "game=ny-numbers&sum=6",
	"/v1/draws/by-pair": "game=ny-numbers&pair=12", "/v1/draws/history": "game=ny-numbers&year=2010", "/v1/stats": "game=ny-numbers",
}

// digitsOf matches the pattern of a string of so many digits, as the document writes it.
var digitsOf = regexp.MustCompile(`^\^\[0-9\]\{(\d+)(?:,(\d+))?\}\$$`)

// Numbers and lengths within the document's bounds, and each word that it lists, are taken; the next number is not.
func TestBoundsAreTheDocuments(t *testing.T) {
	t.Parallel()
	doc, _ := loadContract(t)
	s := newServer(t)
	unbound := []string{"game", "game_type", "cursor", "from", "to"} // depend on the data, or stand in refusals_test.go
	for path, item := range doc.Paths.Map() {
		for _, ref := range item.Get.Parameters {
			p := ref.Value
			if p.In != "query" || slices.Contains(unbound, p.Name) {
				continue
			}
			want := map[string]int{}
			if schema := p.Schema.Value; schema.Min != nil && schema.Max != nil {
				least, most := int(*schema.Min), int(*schema.Max)
				want = map[string]int{fmt.Sprint(least - 1): 400, fmt.Sprint(least): 200, fmt.Sprint(most): 200, fmt.Sprint(most + 1): 400}
			} else if schema.Enum != nil {
				for _, word := range schema.Enum {
					want[fmt.Sprint(word)] = 200
				}
				want["other"] = 400
			} else if lengths := digitsOf.FindStringSubmatch(schema.Pattern); lengths != nil {
				least, _ := strconv.Atoi(lengths[1])
				most, _ := strconv.Atoi(cmp.Or(lengths[2], lengths[1]))
				for n := least - 1; n <= most+1; n++ {
					want[strings.Repeat("1", n)] = 200
				}
				want[strings.Repeat("1", least-1)], want[strings.Repeat("1", most+1)] = 400, 400
			} else {
				t.Errorf("%s: %s has no bounds in the document", path, p.Name)
			}
			for value, status := range want {
				query, err := url.ParseQuery(requiredOf[path])
				if err != nil {
					t.Fatal(err)
				}
				query.Set(p.Name, value)
				uri := strings.ReplaceAll(path, "{date}", "2024-02-29") + "?" + query.Encode()
				if res := s.get(t, uri, nil); res.Code != status {
					t.Errorf("%s: %d, the document says %d", uri, res.Code, status)
				}
			}
		}
	}
}

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
	required := func(path string) string { return strings.ReplaceAll(requiredOf[path], "ny-numbers", "many") }
	tried := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for _, ref := range item.Get.Parameters {
			p := ref.Value
			if p.In != "query" || p.Schema.Value.Default == nil {
				continue
			}
			query := required(path)
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
