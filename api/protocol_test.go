package api_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"lottery/models/secret"
)

// refusal is the part of a problem that tests look at.
type refusal struct {
	Type      string
	Status    int
	Detail    string
	Code      string
	RequestID string `json:"request_id"`
	Errors    []struct{ Parameter, Code, Detail string }
}

func (s *server) refused(t *testing.T, method, path string, headers map[string]string) refusal {
	t.Helper()
	res := s.do(t, method, path, headers)
	var p refusal
	if err := json.Unmarshal(res.Body.Bytes(), &p); err != nil {
		t.Fatalf("%s %s: %d, no problem: %v: %s", method, short(path), res.Code, err, res.Body)
	}
	if ct := res.Header().Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("%s %s: Content-Type %q", method, short(path), ct)
	}
	if p.Status != res.Code || p.Type != "http://localhost:8080/docs/errors/"+p.Code || p.RequestID != res.Header().Get("X-Request-Id") ||
		res.Header().Get("Cache-Control") != "no-store" || res.Header().Get("ETag") != "" {
		t.Errorf("%s %s: %+v %v", method, short(path), p, res.Header())
	}
	return p
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	wrong := secret.NewKey()
	none := map[string]string{"X-API-Key": ""}
	for _, c := range []struct {
		name, method, path string
		headers            map[string]string
		status             int
		code               string
		errors             []string // parameter:code
		detail             string   // a part of it
	}{
		{name: "missing", path: "/v1/draws/recent", status: 400, code: "invalid_parameter", errors: []string{"game:missing"}},
		{name: "empty", path: "/v1/draws/recent?game=", status: 400, code: "invalid_parameter", errors: []string{"game:missing"}},
		{name: "empty optional", path: "/v1/draws/recent?game=ny-win-4&count=", status: 400, code: "invalid_parameter", errors: []string{"count:malformed"}},
		{name: "repeated", path: "/v1/draws/recent?game=ny-win-4&count=1&count=1", status: 400, code: "invalid_parameter", errors: []string{"count:repeated"}},
		{name: "repeated to", path: "/v1/draws/by-sum?game=ny-win-4&sum=3&from=2020-02-01&to=2020-01-01&to=2020-03-01", status: 400, code: "invalid_parameter", errors: []string{"to:repeated"}},
		{name: "repeated game", path: "/v1/draws/recent?game=ny-win-4&game=x", status: 400, code: "invalid_parameter", errors: []string{"game:repeated"}},
		{name: "repeated game that does not exist", path: "/v1/draws/recent?game=x&game=x", status: 400, code: "invalid_parameter", errors: []string{"game:repeated"}},
		{name: "unknown parameter", path: "/v1/draws/recent?game=ny-win-4&cuont=1", status: 400, code: "invalid_parameter", errors: []string{"cuont:unknown"}, detail: `did you mean "count"?`},
		{name: "upper-case parameter", path: "/v1/draws/recent?game=ny-win-4&Count=1", status: 400, code: "invalid_parameter", errors: []string{"Count:unknown"}, detail: `did you mean "count"?`},
		{name: "format where there is none", path: "/v1/games?format=csv", status: 400, code: "invalid_parameter", errors: []string{"format:unknown"}},
		{name: "all at once", path: "/v1/draws/by-sum?sum=x&game=nope&tod=evening&from=2024-01-02&to=2024-01-01&limit=1001&order=up&extra=1", status: 400, code: "invalid_parameter",
			errors: []string{"extra:unknown", "sum:malformed", "game:unknown", "tod:malformed", "order:malformed", "from:out_of_range", "limit:out_of_range"}},
		{name: "too few", path: "/v1/draws/recent?game=ny-win-4&count=0", status: 400, code: "invalid_parameter", errors: []string{"count:out_of_range"}},
		{name: "negative", path: "/v1/draws/recent?game=ny-win-4&count=-1", status: 400, code: "invalid_parameter", errors: []string{"count:out_of_range"}},
		{name: "too many", path: "/v1/draws/recent?game=ny-win-4&count=1001", status: 400, code: "invalid_parameter", errors: []string{"count:out_of_range"}},
		{name: "huge", path: "/v1/draws/recent?game=ny-win-4&count=99999999999999999999", status: 400, code: "invalid_parameter", errors: []string{"count:out_of_range"}},
		{name: "fraction", path: "/v1/draws/recent?game=ny-win-4&count=1.5", status: 400, code: "invalid_parameter", errors: []string{"count:malformed"}},
		{name: "plus is a blank", path: "/v1/draws/recent?game=ny-win-4&count=+1", status: 400, code: "invalid_parameter", errors: []string{"count:malformed"}},
		{name: "broken escape", path: "/v1/draws/recent?game=ny-win-4&count=%zz", status: 400, code: "invalid_parameter", errors: []string{"count:malformed"}},
		{name: "impossible date", path: "/v1/draws/date/2023-02-29", status: 400, code: "invalid_parameter", errors: []string{"date:malformed"}},
		{name: "date of another form", path: "/v1/draws/date/02-29-2024", status: 400, code: "invalid_parameter", errors: []string{"date:malformed"}},
		{name: "from after to", path: "/v1/stats?game=ny-win-4&from=2024-02-02&to=2024-02-01", status: 400, code: "invalid_parameter", errors: []string{"from:out_of_range"}},
		{name: "impossible from", path: "/v1/stats?game=ny-win-4&from=2024-02-30", status: 400, code: "invalid_parameter", errors: []string{"from:malformed"}},
		{name: "from beside an impossible to", path: "/v1/stats?game=ny-win-4&from=2024-02-01&to=2024-02-30", status: 400, code: "invalid_parameter", errors: []string{"to:malformed"}},
		{name: "to beside an impossible from", path: "/v1/stats?game=ny-win-4&from=x&to=1900-01-01", status: 400, code: "invalid_parameter", errors: []string{"from:malformed"}},
		{name: "date before all dates", path: "/v1/draws/date/1899-12-31", status: 400, code: "invalid_parameter", errors: []string{"date:out_of_range"}},
		{name: "to after all dates", path: "/v1/stats?game=ny-win-4&to=2101-01-01", status: 400, code: "invalid_parameter", errors: []string{"to:out_of_range"}},
		{name: "type of no game", path: "/v1/overview?game_type=pick5", status: 400, code: "invalid_parameter", errors: []string{"game_type:unknown"}, detail: "pick3, pick4"},
		{name: "number too long", path: "/v1/draws/search?number=12345678901", status: 400, code: "invalid_parameter", errors: []string{"number:out_of_range"}},
		{name: "number with a blank", path: "/v1/draws/search?number=12%203", status: 400, code: "invalid_parameter", errors: []string{"number:malformed"}},
		{name: "number in other digits", path: "/v1/draws/search?number=%D9%A1%D9%A2%D9%A3", status: 400, code: "invalid_parameter", errors: []string{"number:malformed"}},
		{name: "long pair", path: "/v1/draws/by-pair?pair=123&game=ny-win-4", status: 400, code: "invalid_parameter", errors: []string{"pair:out_of_range"}},
		{name: "position", path: "/v1/draws/by-pair?pair=12&game=ny-win-4&position=middle", status: 400, code: "invalid_parameter", errors: []string{"position:malformed"}},
		{name: "sum", path: "/v1/draws/by-sum?sum=91&game=ny-win-4", status: 400, code: "invalid_parameter", errors: []string{"sum:out_of_range"}},
		{name: "year", path: "/v1/draws/history?game=ny-win-4&year=2101", status: 400, code: "invalid_parameter", errors: []string{"year:out_of_range"}},
		{name: "format", path: "/v1/draws/recent?game=ny-win-4&format=xml", status: 400, code: "invalid_parameter", errors: []string{"format:malformed"}},
		{name: "cursor", path: "/v1/draws/recent?game=ny-win-4&cursor=zzz", status: 400, code: "invalid_parameter", errors: []string{"cursor:malformed"}},
		{name: "game", path: "/v1/draws/recent?game=ny-win4", status: 404, code: "unknown_game", errors: []string{"game:unknown"}, detail: "did you mean ny-win-4"},
		{name: "game's name", path: "/v1/draws/recent?game=New+York+Win+4", status: 404, code: "unknown_game", errors: []string{"game:unknown"}, detail: "did you mean ny-win-4?"},
		{name: "part of a game's id", path: "/v1/draws/recent?game=win-4", status: 404, code: "unknown_game", errors: []string{"game:unknown"}, detail: "did you mean ny-win-4?"},
		{name: "type as game", path: "/v1/draws/recent?game=pick4", status: 404, code: "unknown_game", errors: []string{"game:unknown"}, detail: "did you mean ny-win-4"},
		{name: "game without draws", path: "/v1/draws/recent?game=va-pick-3", status: 404, code: "unknown_game", errors: []string{"game:unknown"}},
		{name: "malformed game", path: "/v1/draws/recent?game=%00%FF", status: 404, code: "unknown_game", errors: []string{"game:unknown"}},
		{name: "game with a broken escape", path: "/v1/draws/recent?game=%zz", status: 404, code: "unknown_game", errors: []string{"game:unknown"}},
		{name: "very long game", path: "/v1/draws/recent?game=" + strings.Repeat("y", 5000), status: 404, code: "unknown_game", errors: []string{"game:unknown"}},
		{name: "upper-case game", path: "/v1/draws/recent?game=NY-WIN-4", status: 404, code: "unknown_game", errors: []string{"game:unknown"}},
		{name: "game beside another", path: "/v1/draws/recent?game=x&count=0", status: 400, code: "invalid_parameter", errors: []string{"game:unknown", "count:out_of_range"}},
		{name: "path", path: "/v1/draws", headers: none, status: 404, code: "not_found"},
		{name: "trailing slash", path: "/v1/games/", headers: none, status: 404, code: "not_found"},
		{name: "two slashes", path: "//v1/games", headers: none, status: 404, code: "not_found"},
		{name: "date left out", path: "/v1/draws/date/", headers: none, status: 404, code: "not_found"},
		{name: "upper-case path", path: "/V1/games", headers: none, status: 404, code: "not_found"},
		{name: "options of no path", method: "OPTIONS", path: "/v1/x", headers: none, status: 404, code: "not_found"},
		{name: "method", method: "POST", path: "/v1/games", headers: none, status: 405, code: "method_not_allowed"},
		{name: "unheard-of method", method: "BREW", path: "/v1/games", headers: none, status: 405, code: "method_not_allowed"},
		{name: "no key", path: "/v1/draws/recent", headers: none, status: 401, code: "missing_api_key", detail: "X-API-Key"},
		{name: "bearer", path: "/v1/games", headers: map[string]string{"X-API-Key": "", "Authorization": "Bearer " + s.key}, status: 401, code: "missing_api_key", detail: "X-API-Key"},
		{name: "key in the address", path: "/v1/games?api_key=" + s.key, headers: none, status: 401, code: "missing_api_key", detail: "X-API-Key"},
		{name: "mistyped key", path: "/v1/games", headers: map[string]string{"X-API-Key": s.key[:41] + "!"}, status: 401, code: "invalid_api_key"},
		{name: "unknown key", path: "/v1/games", headers: map[string]string{"X-API-Key": wrong}, status: 401, code: "invalid_api_key"},
		{name: "accept", path: "/v1/overview", headers: map[string]string{"Accept": "text/csv"}, status: 406, code: "not_acceptable"},
		{name: "accept before parameters", path: "/v1/draws/recent?count=0", headers: map[string]string{"Accept": "image/png"}, status: 406, code: "not_acceptable"},
		{name: "key before accept", path: "/v1/overview", headers: map[string]string{"X-API-Key": "", "Accept": "image/png"}, status: 401, code: "missing_api_key"},
		{name: "nothing at all accepted", path: "/v1/overview", headers: map[string]string{"Accept": "*/*;q=0"}, status: 406, code: "not_acceptable"},
		{name: "target", path: "/v1/games?" + strings.Repeat("a", 8200), status: 414, code: "uri_too_long"},
		{name: "headers", path: "/v1/games", headers: map[string]string{"X-Pad": strings.Repeat("a", 33000)}, status: 431, code: "headers_too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.method == "" {
				c.method = http.MethodGet
			}
			p := s.refused(t, c.method, c.path, c.headers)
			var found []string
			for _, e := range p.Errors {
				found = append(found, e.Parameter+":"+e.Code)
				if e.Detail == "" {
					t.Errorf("%s has no detail", e.Parameter)
				}
			}
			if p.Status != c.status || p.Code != c.code || !slices.Equal(found, c.errors) || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("%d %s %v %q\nwant %d %s %v %q", p.Status, p.Code, found, p.Detail, c.status, c.code, c.errors, c.detail)
			}
			if strings.Contains(p.Detail, s.key) || strings.Contains(p.Detail, wrong) {
				t.Error("the answer repeats a key")
			}
		})
	}
}

// However many parameters there are that do not exist, what is said of them is short.
func TestManyUnknownParameters(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	query := "number=&aa&aa"
	for i := range 1000 {
		query += fmt.Sprintf("&p%d=1", i)
	}
	p := s.refused(t, http.MethodGet, "/v1/draws/search?"+query, nil)
	if p.Status != http.StatusBadRequest || len(p.Errors) != 11 || p.Errors[0].Parameter != "aa" || p.Errors[10].Parameter != "number" ||
		!strings.HasSuffix(p.Detail, "; and 991 more that are not known here") || len(p.Detail) > 2000 {
		t.Errorf("%d, %d errors: %s", p.Status, len(p.Errors), p.Detail)
	}
}

func TestHeadersOfRefusals(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if h := s.do(t, http.MethodGet, "/v1/games", map[string]string{"X-API-Key": ""}).Header(); h.Get("WWW-Authenticate") != "ApiKey" {
		t.Errorf("401 has WWW-Authenticate %q", h.Get("WWW-Authenticate"))
	}
	allow := strings.Split(s.do(t, http.MethodPut, "/v1/draws/date/2024-02-29", nil).Header().Get("Allow"), ", ")
	slices.Sort(allow)
	if !slices.Equal(allow, []string{"GET", "HEAD", "OPTIONS"}) {
		t.Errorf("405 has Allow %v", allow)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for sent, kept := range map[string]bool{
		"my-id.1:2/3": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "two words": false, "a\"b": false, "é": false,
		"ldk_0123456789ABCDEFGHIJKLMNOPQRSTUV0OueG9": false,
	} {
		got := s.get(t, "/healthz", map[string]string{"X-Request-Id": sent}).Header().Get("X-Request-Id")
		if (got == sent) != kept || got == "" {
			t.Errorf("X-Request-Id %q came back as %q", sent, got)
		}
	}
	a, b := s.get(t, "/healthz", nil).Header().Get("X-Request-Id"), s.get(t, "/healthz", nil).Header().Get("X-Request-Id")
	if a == b || len(a) < 16 {
		t.Errorf("two requests have the ids %q and %q", a, b)
	}
}

// A key in the wrong place is not repeated: errors are logged and shown to others.
func TestKeysAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	key := secret.NewKey()
	for _, path := range []string{
		"/v1/draws/recent?game=KEY", "/v1/draws/recent?game_type=KEY", "/v1/draws/recent?tod=KEY", "/v1/draws/recent?format=KEY", "/v1/draws/recent?count=KEY",
		"/v1/draws/recent?cursor=KEY", "/v1/draws/recent?KEY=1", "/v1/draws/recent?xKEY", "/v1/draws/recent?count=%xKEY", "/v1/draws/date/KEY", "/v1/draws/search?number=KEY",
		"/v1/draws/by-sum?sum=KEY", "/v1/draws/by-pair?pair=KEY&order=KEY", "/v1/draws/history?year=KEY", "/v1/stats?game=a&from=KEY", "/v1/KEY", "/KEY",
	} {
		res := s.get(t, strings.ReplaceAll(path, "KEY", key), nil)
		if res.Code < 400 || strings.Contains(res.Body.String(), key[:20]) {
			t.Errorf("%s: %d %s", path, res.Code, res.Body)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	origin := map[string]string{"Origin": "https://example.com"}
	if h := s.get(t, "/v1/games", nil).Header(); h.Get("Access-Control-Allow-Origin") != "" {
		t.Error("an answer to a request without Origin allows one")
	}
	for _, path := range []string{"/v1/games", "/v1/nothing", "/v1/draws/recent?count=0", "/openapi.json"} {
		h := s.get(t, path, origin).Header()
		if h.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s allows %q", path, h.Get("Access-Control-Allow-Origin"))
		}
		for _, want := range []string{"X-Request-Id", "ETag", "Link", "X-Total-Count", "Retry-After", "RateLimit", "X-RateLimit-Remaining"} {
			if !strings.Contains(h.Get("Access-Control-Expose-Headers"), want) {
				t.Errorf("%s does not expose %s", path, want)
			}
		}
	}
	for _, path := range []string{"/v1/draws/date/2024-02-29", "/v1/nothing", "/v1/games/"} { // that there is no such path can be read then
		res := s.do(t, http.MethodOptions, path, map[string]string{
			"X-API-Key": "", "Origin": "https://example.com", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key",
		})
		if res.Code != http.StatusNoContent || res.Body.Len() != 0 || res.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("preflight of %s: %d %v", path, res.Code, res.Header())
		}
		for _, want := range []string{"X-API-Key", "If-None-Match", "X-Request-Id"} {
			if !strings.Contains(res.Header().Get("Access-Control-Allow-Headers"), want) {
				t.Errorf("preflight of %s does not allow %s", path, want)
			}
		}
	}
}

func TestETag(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v1/draws/recent?game=ny-win-4"
	first := s.get(t, path, nil)
	tag := first.Header().Get("ETag")
	if tag == "" || first.Header().Get("Cache-Control") != "private, no-cache" || first.Header().Get("Vary") == "" {
		t.Fatalf("%v", first.Header())
	}
	for _, sent := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
		res := s.get(t, path, map[string]string{"If-None-Match": sent})
		if res.Code != http.StatusNotModified || res.Body.Len() != 0 || res.Header().Get("ETag") != tag || res.Header().Get("Content-Length") != "" {
			t.Errorf("If-None-Match %s: %d %v", sent, res.Code, res.Header())
		}
	}
	if res := s.get(t, path, map[string]string{"If-None-Match": `"other"`}); res.Code != http.StatusOK {
		t.Errorf("another tag: %d", res.Code)
	}
	if res := s.get(t, path+"&count=0", map[string]string{"If-None-Match": "*"}); res.Code != http.StatusBadRequest {
		t.Errorf("a wrong request with If-None-Match *: %d", res.Code)
	}
	for _, other := range []string{path + "&count=9", path + "&format=csv", "/v1/games"} {
		if s.get(t, other, nil).Header().Get("ETag") == tag {
			t.Errorf("%s has the same tag", other)
		}
	}
	if s.get(t, path, map[string]string{"Accept": "text/csv"}).Header().Get("ETag") == tag {
		t.Error("CSV has the tag of JSON")
	}
	v := s.live.Load().Version()
	v.Token = "newer"
	s.live.Swap(goldenCatalog(t, s.store, v))
	if s.get(t, path, map[string]string{"If-None-Match": tag}).Code != http.StatusOK {
		t.Error("the tag outlives the data version")
	}
}

func TestHEADIsGETWithoutABody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, path := range []string{"/v1/games", "/v1/draws/recent?game=ny-win-4", "/v1/draws/recent?game=ny-win-4&format=csv", "/v1/stats?game=ny-win-4", "/openapi.json", "/healthz"} {
		get, head := s.get(t, path, nil), s.do(t, http.MethodHead, path, nil)
		if head.Code != get.Code {
			t.Errorf("%s: HEAD %d, GET %d", path, head.Code, get.Code)
		}
		for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Link", "X-Total-Count"} {
			if head.Header().Get(name) != get.Header().Get(name) {
				t.Errorf("%s: %s is %q for HEAD, %q for GET", path, name, head.Header().Get(name), get.Header().Get(name))
			}
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v1/draws/recent?game=ny-numbers&count=2"
	const csv = "date,tod,numbers,number_str,normalized,digits_sum,game,game_name,game_type,pairs_2dp\r\n" +
		"2024-03-02,Midday,7 7 7,777,777,21,ny-numbers,New York Numbers,pick3,77\r\n" +
		"2024-02-29,Evening,3 2 1,321,123,6,ny-numbers,New York Numbers,pick3,12 13 23\r\n"
	for _, c := range []struct{ path, accept, contentType string }{
		{path, "", "application/json"},
		{path, "*/*", "application/json"},
		{path, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json"},
		{path, "text/csv", "text/csv"},
		{path, "text/*", "text/csv"},
		{path, "application/json;q=0.5, text/csv", "text/csv"},
		{path, "text/csv;q=0.5, application/json", "application/json"},
		{path, "application/x-ndjson", "application/x-ndjson"},
		{path, "application/json;q=0, */*", "text/csv"},
		{path, "TEXT/CSV", "text/csv"},
		{path + "&format=csv", "application/json", "text/csv"},
		{path + "&format=ndjson", "image/png", "application/x-ndjson"},
		{path + "&format=json", "text/csv", "application/json"},
	} {
		res := s.get(t, c.path, map[string]string{"Accept": c.accept})
		if res.Code != http.StatusOK || !strings.HasPrefix(res.Header().Get("Content-Type"), c.contentType) {
			t.Errorf("%s Accept %q: %d %s", c.path, c.accept, res.Code, res.Header().Get("Content-Type"))
		}
		if c.contentType == "application/json" {
			continue
		}
		if res.Header().Get("X-Total-Count") != "4" || !strings.HasSuffix(res.Header().Get("Link"), `>; rel="next"`) {
			t.Errorf("%s Accept %q: %v", c.path, c.accept, res.Header())
		}
		if c.contentType == "text/csv" && res.Body.String() != csv {
			t.Errorf("%q", res.Body)
		}
		if lines := strings.Split(strings.TrimSuffix(res.Body.String(), "\n"), "\n"); c.contentType == "application/x-ndjson" && (len(lines) != 2 || !json.Valid([]byte(lines[0]))) {
			t.Errorf("%q", res.Body)
		}
	}
	search := s.get(t, "/v1/draws/search?number=321&game=ny-numbers&format=csv", nil).Body.String()
	if !strings.HasPrefix(search, "date,tod,numbers,number_str,normalized,digits_sum,game,game_name,game_type,pairs_2dp,match\r\n") || !strings.Contains(search, ",12 13 23,exact\r\n") {
		t.Errorf("%q", search)
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const long, small = "/v1/stats?game=ny-numbers", "/v1/draws/recent?game=ny-numbers&count=1"
	plain := s.get(t, long, nil)
	for _, c := range []struct{ path, accept, want string }{
		{long, "gzip", "gzip"},
		{long, "zstd", "zstd"},
		{long, "gzip, deflate, br, zstd", "gzip"},
		{long, "gzip;q=0.5, zstd", "zstd"},
		{long, "gzip;q=1, zstd;q=0.5", "gzip"},
		{long, "gzip;q=0", ""},
		{long, "identity;q=1, gzip;q=0.1, zstd;q=0.5", ""},
		{long, "identity;q=0.5, gzip", "gzip"},
		{long, "*;q=0.5, identity;q=0.1", "gzip"},
		{long, "br", ""},
		{long, "*", "gzip"},
		{small, "gzip", ""},
	} {
		res := s.get(t, c.path, map[string]string{"Accept-Encoding": c.accept})
		if got := res.Header().Get("Content-Encoding"); got != c.want {
			t.Errorf("%s Accept-Encoding %q: %q, want %q", c.path, c.accept, got, c.want)
			continue
		}
		var r io.Reader = res.Body
		switch c.want {
		case "gzip":
			z, err := gzip.NewReader(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			r = z
		case "zstd":
			z, err := zstd.NewReader(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			r = z
		}
		body, err := io.ReadAll(r)
		if err != nil || (c.path == long && string(body) != plain.Body.String()) {
			t.Errorf("%s Accept-Encoding %q: %v, %d bytes", c.path, c.accept, err, len(body))
		}
		if !strings.Contains(res.Header().Get("Vary"), "Accept-Encoding") {
			t.Errorf("Vary %q", res.Header().Get("Vary"))
		}
	}
}

func TestWalkByCursor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	whole := s.get(t, "/v1/draws/search?number=123&order=asc", nil)
	var all struct{ Draws []json.RawMessage }
	if err := json.Unmarshal(whole.Body.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	var walked []json.RawMessage
	path, pages := "/v1/draws/search?number=123&order=asc&limit=1", 0
	for path != "" {
		res := s.get(t, path, nil)
		var page struct {
			Draws      []json.RawMessage
			Total      int
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal(res.Body.Bytes(), &page); err != nil || page.Total != len(all.Draws) || pages > 10 {
			t.Fatalf("%s: %v %s", path, err, res.Body)
		}
		walked = append(walked, page.Draws...)
		link := res.Header().Get("Link")
		if (link == "") != (page.NextCursor == "") {
			t.Errorf("Link %q, next_cursor %q", link, page.NextCursor)
		}
		path = strings.TrimSuffix(strings.TrimPrefix(link, "<http://localhost:8080"), `>; rel="next"`)
		if path != "" && !strings.Contains(path, page.NextCursor) {
			t.Errorf("Link %q does not hold %q", link, page.NextCursor)
		}
		pages++
	}
	if !slices.EqualFunc(walked, all.Draws, func(a, b json.RawMessage) bool { return string(a) == string(b) }) || pages != len(all.Draws) {
		t.Errorf("walked %s in %d pages\nwant %s", walked, pages, all.Draws)
	}
}

// Whatever way a client writes the cursor's name, the next address has one cursor; and a cursor is one text only.
func TestCursorsAsWritten(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v1/draws/search?number=123&order=asc&limit=1"
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	if err := json.Unmarshal(s.get(t, path, nil).Body.Bytes(), &page); err != nil || page.NextCursor == "" {
		t.Fatal(err, page)
	}
	res := s.get(t, path+"&%63ursor="+page.NextCursor, nil)
	next := strings.TrimSuffix(strings.TrimPrefix(res.Header().Get("Link"), "<http://localhost:8080"), `>; rel="next"`)
	if res.Code != http.StatusOK || next == "" || s.get(t, next, nil).Code != http.StatusOK {
		t.Errorf("%d, next %q", res.Code, next)
	}
	for _, cursor := range []string{page.NextCursor[:5] + "%0A" + page.NextCursor[5:], page.NextCursor + "%0D%0A", page.NextCursor + "="} {
		if res := s.get(t, path+"&cursor="+cursor, nil); res.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", cursor, res.Code)
		}
	}
	if res := s.get(t, "/v1/draws/by-sum?game=ny-numbers&sum=-0", nil); res.Code != http.StatusBadRequest {
		t.Errorf("sum -0: %d", res.Code)
	}
}

func TestCursorBelongsToItsRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	res := s.get(t, "/v1/draws/by-pair?pair=12&game=ny-numbers&limit=1", nil)
	if err := json.Unmarshal(res.Body.Bytes(), &page); err != nil || page.NextCursor == "" {
		t.Fatalf("%v %s", err, res.Body)
	}
	cursor := "&cursor=" + page.NextCursor
	for path, want := range map[string]int{
		"/v1/draws/by-pair?pair=12&game=ny-numbers&limit=5" + cursor:                           200,
		"/v1/draws/by-pair?game=ny-numbers&pair=12&position=any&order=desc" + cursor:           200,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&order=asc" + cursor:                         400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&tod=Evening" + cursor:                       400,
		"/v1/draws/by-pair?pair=12&game=nc-pick-3" + cursor:                                    400,
		"/v1/draws/by-pair?pair=21&game=ny-numbers" + cursor:                                   400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&from=2000-01-01" + cursor:                   400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&format=csv" + cursor:                        400,
		"/v1/draws/recent?game=ny-numbers" + cursor:                                            400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers" + cursor[:len(cursor)-2]:                   400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&cursor=" + strings.Repeat("A", len(cursor)): 400,
	} {
		if res := s.get(t, path, nil); res.Code != want {
			t.Errorf("%s: %d, want %d", path, res.Code, want)
		}
	}
}

// The document of the API is compressed like its answers.
func TestOpenAPICodings(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, path := range []string{"/openapi.json", "/openapi.yaml"} {
		plain := s.get(t, path, map[string]string{"Accept-Encoding": "identity"})
		for coding, decode := range map[string]func(io.Reader) (io.Reader, error){
			"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
			"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		} {
			res := s.get(t, path, map[string]string{"Accept-Encoding": coding})
			size := res.Body.Len()
			r, err := decode(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil || string(text) != plain.Body.String() || 3*size > len(text) {
				t.Errorf("%s by %s: %d bytes of %d, %v", path, coding, size, len(text), err)
			}
			if h := res.Header(); h.Get("Content-Encoding") != coding || h.Get("ETag") != plain.Header().Get("ETag") || h.Get("Vary") != "Accept-Encoding, Origin" {
				t.Errorf("%s by %s: %v", path, coding, h)
			}
		}
	}
}
