package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/gin-gonic/gin"

	"lottery/api/middleware"
	"lottery/api/openapi"
	"lottery/models/store/storetest"
)

func loadContract(t testing.TB) (*openapi3.T, routers.Router) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openapi.YAML())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatalf("openapi.yaml is not valid: %v", err)
	}
	doc.Servers = nil // answers are checked regardless of the test server's address
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// Routes and document match: every route is described, and every described path is routed, for GET; HEAD and
// OPTIONS come with every GET.
func TestRoutesAreTheDocuments(t *testing.T) {
	t.Parallel()
	doc, _ := loadContract(t)
	s := newMetered(t, 1000)
	engine, ok := s.handler.(interface{ Routes() gin.RoutesInfo })
	if !ok {
		t.Fatal("the handler does not tell its routes")
	}
	routed := map[string][]string{}
	for _, r := range engine.Routes() {
		path := strings.ReplaceAll(r.Path, ":date", "{date}")
		routed[path] = append(routed[path], r.Method)
	}
	for path, methods := range routed {
		slices.Sort(methods)
		if !slices.Equal(methods, []string{"GET", "HEAD", "OPTIONS"}) {
			t.Errorf("%s answers %v", path, methods)
		}
		if doc.Paths.Value(path) == nil {
			t.Errorf("%s is routed and not in openapi.yaml", path)
		}
	}
	for path := range doc.Paths.Map() {
		if routed[path] == nil {
			t.Errorf("%s is in openapi.yaml and not routed", path)
		}
	}
}

// Live answers, good and bad, of every endpoint validate against the document.
func TestAnswersAreTheDocuments(t *testing.T) {
	t.Parallel()
	doc, router := loadContract(t)
	storetest.AwayFromMidnight(t)
	s := newMetered(t, 1000)
	used := newMetered(t, 0)
	answered := map[string]map[int]bool{} // path → statuses seen
	for _, c := range []struct {
		path    string
		status  int
		headers map[string]string
	}{
		{path: "/v1/games"},
		{path: "/v1/games?game_type=pick3"},
		{path: "/v1/games?game_type=pick9", status: 400},
		{path: "/v1/games?x=1", status: 400},
		{path: "/v1/games", status: 406, headers: map[string]string{"Accept": "text/csv"}},
		{path: "/v1/games", status: 401, headers: map[string]string{"X-API-Key": ""}},
		{path: "/v1/draws/recent?game=ny-win-4"},
		{path: "/v1/draws/recent?game=ny-win-4&count=2"},
		{path: "/v1/draws/recent?game=ny-win-4&count=2&format=csv"},
		{path: "/v1/draws/recent?game=ny-win-4&count=2&format=ndjson"},
		{path: "/v1/draws/recent?game=ny-win-5", status: 404},
		{path: "/v1/draws/recent?count=0", status: 400},
		{path: "/v1/draws/recent?game=ny-win-4", status: 401, headers: map[string]string{"X-API-Key": "ldk_wrong"}},
		{path: "/v1/draws/recent?game=ny-win-4", status: 406, headers: map[string]string{"Accept": "image/png"}},
		{path: "/v1/draws/recent?game=ny-win-4&pad=" + strings.Repeat("x", 9000), status: 414},
		{path: "/v1/draws/recent?game=ny-win-4", status: 431, headers: map[string]string{"X-Pad": strings.Repeat("x", 40000)}},
		{path: "/v1/draws/date/2024-02-29"},
		{path: "/v1/draws/date/2024-02-29?game=ny-numbers&order=asc&tod=Evening"},
		{path: "/v1/draws/date/2023-02-29", status: 400},
		{path: "/v1/draws/date/2024-02-29?game=x", status: 404},
		{path: "/v1/draws/search?number=123"},
		{path: "/v1/draws/search?number=123&match=exact&limit=1"},
		{path: "/v1/draws/search?number=12a", status: 400},
		{path: "/v1/draws/search?number=123&game=X!", status: 404},
		{path: "/v1/draws/by-sum?sum=6&game=ny-numbers"},
		{path: "/v1/draws/by-sum?sum=91&game=ny-numbers", status: 400},
		{path: "/v1/draws/by-sum?sum=6&game=nope", status: 404},
		{path: "/v1/draws/by-pair?pair=12&game=ny-numbers"},
		{path: "/v1/draws/by-pair?pair=1&game=ny-numbers", status: 400},
		{path: "/v1/draws/by-pair?pair=12&game=nope", status: 404},
		{path: "/v1/draws/history?game=ny-numbers&year=2024"},
		{path: "/v1/draws/history?game=ny-numbers&year=1899", status: 400},
		{path: "/v1/draws/history?game=nope&year=2024", status: 404},
		{path: "/v1/stats?game=ny-numbers"},
		{path: "/v1/stats?game=ny-numbers&from=1990-01-01&to=1990-12-31"},
		{path: "/v1/stats?game=nope", status: 404},
		{path: "/v1/stats", status: 400},
		{path: "/v1/overview"},
		{path: "/v1/overview?game_type=pick4"},
		{path: "/v1/overview?game=ny-numbers", status: 400},
		{path: "/v1/usage"},
		{path: "/v1/usage?x=1", status: 400},
		{path: "/v1/usage", status: 401, headers: map[string]string{"X-API-Key": ""}},
		{path: "/v1/usage", status: 406, headers: map[string]string{"Accept": "text/csv"}},
		{path: "/openapi.yaml"},
		{path: "/openapi.json"},
		{path: "/healthz"},
		{path: "/readyz"},
	} {
		if c.status == 0 {
			c.status = http.StatusOK
		}
		res := s.get(t, c.path, c.headers)
		if res.Code != c.status {
			t.Errorf("%s: %d, want %d: %s", short(c.path), res.Code, c.status, res.Body)
			continue
		}
		path := validate(t, router, c.path, res)
		if answered[path] == nil {
			answered[path] = map[int]bool{}
		}
		answered[path][c.status] = true
		if c.status != http.StatusOK || !strings.HasPrefix(path, "/v1/") {
			continue
		}
		rateHeaders(t, c.path, res.Header())
		if path == "/v1/usage" {
			continue
		}
		if res = s.get(t, c.path, map[string]string{"If-None-Match": "*"}); res.Code != http.StatusNotModified {
			t.Errorf("%s with If-None-Match: %d", c.path, res.Code)
		}
		validate(t, router, c.path, res)
		rateHeaders(t, c.path, res.Header())
		if res = used.get(t, c.path, nil); res.Code != http.StatusTooManyRequests {
			t.Errorf("%s with no quota: %d", c.path, res.Code)
		}
		validate(t, router, c.path, res)
		rateHeaders(t, c.path, res.Header())
	}
	for path := range doc.Paths.Map() {
		if !answered[path][http.StatusOK] {
			t.Errorf("no good answer of %s was checked", path)
		}
		if strings.HasPrefix(path, "/v1/") && !answered[path][http.StatusBadRequest] {
			t.Errorf("no bad answer of %s was checked", path)
		}
	}
}

// What an overloaded server answers is in the document, for every path that may be refused that way.
func TestRefusalsForWantOfRoomAreTheDocuments(t *testing.T) {
	t.Parallel()
	doc, router := loadContract(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	front := middleware.NewFront(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/games" {
			close(entered)
			<-leave
		}
	}), 1, "http://localhost:8080", func(string) bool { return false }, nil)
	get := func(path string) *httptest.ResponseRecorder {
		res := httptest.NewRecorder()
		front.ServeHTTP(res, httptest.NewRequest(http.MethodGet, path, nil))
		return res
	}
	var held sync.WaitGroup
	defer held.Wait()
	defer close(leave)
	held.Go(func() { get("/v1/games") })
	<-entered
	for path := range doc.Paths.Map() {
		if path == "/healthz" {
			continue // always answered
		}
		path = strings.ReplaceAll(path, "{date}", "2024-07-01")
		res := get(path)
		if res.Code != http.StatusServiceUnavailable {
			t.Fatalf("%s: %d", path, res.Code)
		}
		validate(t, router, path, res)
	}
}

func rateHeaders(t *testing.T, path string, h http.Header) {
	t.Helper()
	for _, name := range []string{"RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		if h.Get(name) == "" {
			t.Errorf("%s: an answer to a valid key has no %s", path, name)
		}
	}
}

// Every answer has an example in the document; Validate checks the examples, but only those that exist.
func TestEveryAnswerHasAnExample(t *testing.T) {
	t.Parallel()
	doc, _ := loadContract(t)
	for path, item := range doc.Paths.Map() {
		for status, response := range item.Get.Responses.Map() {
			for kind, media := range response.Value.Content {
				if strings.HasSuffix(kind, "json") && kind != "application/x-ndjson" && path != "/openapi.json" && media.Example == nil {
					t.Errorf("%s %s %s has no example", path, status, kind)
				}
			}
		}
	}
}

// The refusals shown in the document are the server's, word for word.
func TestExamplesOfRefusals(t *testing.T) {
	t.Parallel()
	doc, _ := loadContract(t)
	s := newServer(t)
	const recent = "/v1/draws/recent?game="
	for name, c := range map[string]struct {
		path    string
		headers map[string]string
	}{
		"InvalidParameter": {path: recent + "ny-win-4&count=0"},
		"Unauthorized":     {path: "/v1/games", headers: map[string]string{"X-API-Key": ""}},
		"UnknownGame":      {path: recent + "ny-win4"},
		"NotAcceptable":    {path: "/v1/overview", headers: map[string]string{"Accept": "text/csv"}},
		"URITooLong":       {path: recent + strings.Repeat("y", 9000-len(recent))},
		"HeadersTooLarge":  {path: "/v1/games", headers: map[string]string{"X-Pad": strings.Repeat("a", 40_000-len("X-Pad: \r\nX-Api-Key: \r\n")-len(s.key))}},
	} {
		want, _ := doc.Components.Responses[name].Value.Content["application/problem+json"].Example.(map[string]any)
		var got map[string]any
		if err := json.Unmarshal(s.get(t, c.path, c.headers).Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		got["request_id"] = want["request_id"]
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the server says\n%v, the document\n%v", name, got, want)
		}
	}
}

// validate checks res against the document and returns the document's path.
func validate(t *testing.T, router routers.Router, path string, res *httptest.ResponseRecorder) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	route, params, err := router.FindRoute(r)
	if err != nil {
		t.Fatalf("%s: %v", short(path), err)
	}
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.FileBodyDecoder)
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 res.Code,
		Header:                 res.Header(),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	err = openapi3filter.ValidateResponse(context.Background(), input.SetBodyBytes(res.Body.Bytes()))
	if err != nil {
		t.Errorf("%s: %d does not match openapi.yaml: %v\n%s", short(path), res.Code, err, short(res.Body.String()))
	}
	documented := http.Header{}
	for name := range route.Operation.Responses.Status(res.Code).Value.Headers {
		documented.Set(name, "")
	}
	for name := range res.Header() {
		if _, ok := documented[name]; !ok && !slices.Contains(everyonesHeaders, name) {
			t.Errorf("%s: %d has a header that openapi.yaml does not: %s", short(path), res.Code, name)
		}
	}
	return route.Path
}

// everyonesHeaders are the headers of HTTP and browsers, which API documents do not list.
var everyonesHeaders = []string{"Content-Type", "Content-Length", "X-Content-Type-Options"}

func short(s string) string { return s[:min(len(s), 300)] }
