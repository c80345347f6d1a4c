package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lottery/models/secret"
)

// refusal is the part of a problem that tests check.
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
		detail             string   // a substring
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
		{name: "two wrong parameters", path: "/v1/draws/recent?game=ny-win-4&cuont=1&tod=noon", status: 400, code: "invalid_parameter", errors: []string{"cuont:unknown", "tod:malformed"}, detail: `did you mean "count"? tod `},
		{name: "format where there is none", path: "/v1/games?format=csv", status: 400, code: "invalid_parameter", errors: []string{"format:unknown"}},
		{name: "all at once", path: "/v1/draws/by-sum?sum=x&game=nope&tod=evening&from=2024-01-02&to=2024-01-01&limit=1001&order=up&extra=1", status: 400, code: "invalid_parameter",
			errors: []string{"extra:unknown", "sum:malformed", "game:unknown", "tod:malformed", "order:malformed", "from:out_of_range", "limit:out_of_range"},
			detail: "from (2024-01-02) is after to (2024-01-01); limit must be from 1 to 1000, not 1001"},
		{name: "too few", path: "/v1/draws/recent?game=ny-win-4&count=0", status: 400, code: "invalid_parameter", errors: []string{"count:out_of_range"}},
		{name: "negative", path: "/v1/draws/recent?game=ny-win-4&count=-1", status: 400, code: "invalid_parameter", errors: []string{"count:out_of_range"}},
		{name: "too many", path: "/v1/draws/recent?game=ny-win-4&count=1001", status: 400, code: "invalid_parameter", errors: []string{"count:out_of_range"}},
		{name: "huge", path: "/v1/draws/recent?game=ny-win-4&count=99999999999999999999", status: 400, code: "invalid_parameter", errors: []string{"count:out_of_range"}},
		{name: "fraction", path: "/v1/draws/recent?game=ny-win-4&count=1.5", status: 400, code: "invalid_parameter", errors: []string{"count:malformed"}},
		{name: "only a sign", path: "/v1/draws/recent?game=ny-win-4&count=-", status: 400, code: "invalid_parameter", errors: []string{"count:malformed"}},
		{name: "plus is a blank", path: "/v1/draws/recent?game=ny-win-4&count=+1", status: 400, code: "invalid_parameter", errors: []string{"count:malformed"}},
		{name: "unknown parameter where there is one", path: "/v1/games?x=1", status: 400, code: "invalid_parameter", errors: []string{"x:unknown"}, detail: `unknown parameter "x"; this path takes game_type`},
		{name: "broken escape", path: "/v1/draws/recent?game=ny-win-4&count=%zz", status: 400, code: "invalid_parameter", errors: []string{"count:malformed"}, detail: "count has an invalid percent-escape"},
		{name: "broken escape in a name", path: "/v1/draws/recent?game=ny-win-4&%zz=1", status: 400, code: "invalid_parameter", errors: []string{"%zz:malformed"}, detail: "name has an invalid percent-escape"},
		{name: "impossible date", path: "/v1/draws/date/2023-02-29", status: 400, code: "invalid_parameter", errors: []string{"date:malformed"}},
		{name: "date of another form", path: "/v1/draws/date/02-29-2024", status: 400, code: "invalid_parameter", errors: []string{"date:malformed"}},
		{name: "from after to", path: "/v1/stats?game=ny-win-4&from=2024-02-02&to=2024-02-01", status: 400, code: "invalid_parameter", errors: []string{"from:out_of_range"}},
		{name: "impossible from", path: "/v1/stats?game=ny-win-4&from=2024-02-30", status: 400, code: "invalid_parameter", errors: []string{"from:malformed"}},
		{name: "from beside an impossible to", path: "/v1/stats?game=ny-win-4&from=2024-02-01&to=2024-02-30", status: 400, code: "invalid_parameter", errors: []string{"to:malformed"}},
		{name: "to beside an impossible from", path: "/v1/stats?game=ny-win-4&from=x&to=1900-01-01", status: 400, code: "invalid_parameter", errors: []string{"from:malformed"}},
		{name: "from after to, before all draws", path: "/v1/stats?game=ny-win-4&from=1899-12-31&to=0001-01-01", status: 400, code: "invalid_parameter", errors: []string{"from:out_of_range"}},
		{name: "from after to, after all draws", path: "/v1/stats?game=ny-win-4&from=9999-12-31&to=2101-01-01", status: 400, code: "invalid_parameter", errors: []string{"from:out_of_range"}},
		{name: "type of no game", path: "/v1/overview?game_type=pick5", status: 400, code: "invalid_parameter", errors: []string{"game_type:unknown"}, detail: "pick3, pick4"},
		{name: "number too long", path: "/v1/draws/search?number=12345678901", status: 400, code: "invalid_parameter", errors: []string{"number:out_of_range"}, detail: "number must have 1 to 10 digits, not 11"},
		{name: "number with a blank", path: "/v1/draws/search?number=12%203", status: 400, code: "invalid_parameter", errors: []string{"number:malformed"}},
		{name: "number in other digits", path: "/v1/draws/search?number=%D9%A1%D9%A2%D9%A3", status: 400, code: "invalid_parameter", errors: []string{"number:malformed"}},
		{name: "long pair", path: "/v1/draws/by-pair?pair=123&game=ny-win-4", status: 400, code: "invalid_parameter", errors: []string{"pair:out_of_range"}, detail: "pair must have 2 digits, not 3"},
		{name: "position", path: "/v1/draws/by-pair?pair=12&game=ny-win-4&position=middle", status: 400, code: "invalid_parameter", errors: []string{"position:malformed"}},
		{name: "sum", path: "/v1/draws/by-sum?sum=91&game=ny-win-4", status: 400, code: "invalid_parameter", errors: []string{"sum:out_of_range"}},
		{name: "year", path: "/v1/draws/history?game=ny-win-4&year=2101", status: 400, code: "invalid_parameter", errors: []string{"year:out_of_range"}},
		{name: "format", path: "/v1/draws/recent?game=ny-win-4&format=xml", status: 400, code: "invalid_parameter", errors: []string{"format:malformed"}},
		{name: "cursor", path: "/v1/draws/recent?game=ny-win-4&cursor=zzz", status: 400, code: "invalid_parameter", errors: []string{"cursor:malformed"}},
		{name: "game", path: "/v1/draws/recent?game=ny-win4", status: 404, code: "unknown_game", errors: []string{"game:unknown"}, detail: "did you mean ny-win-4"},
		{name: "game like no other", path: "/v1/draws/recent?game=qqqqqqqq", status: 404, code: "unknown_game", errors: []string{"game:unknown"}, detail: `"qqqqqqqq"; /v1/games lists those that exist`},
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
		{name: "escaped slash between segments", path: "/v1/draws%2Frecent?game=ny-win-4", headers: none, status: 404, code: "not_found"},
		{name: "escaped slash after the version", path: "/v1%2fgames", headers: none, status: 404, code: "not_found"},
		{name: "date with escaped slashes", path: "/v1/draws/date/2024%2F02%2f29", status: 400, code: "invalid_parameter", errors: []string{"date:malformed"}, detail: `"2024/02/29"`},
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
		{name: "target and headers", path: "/v1/games?" + strings.Repeat("a", 8200), headers: map[string]string{"X-Pad": strings.Repeat("a", 33000)}, status: 414, code: "uri_too_long"},
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

// However many unknown parameters a request has, the answer stays short.
func TestManyUnknownParameters(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	query := "aa&aa"
	for i := range 1000 {
		query += fmt.Sprintf("&p%d=1", i)
	}
	query += "&number=" // is not overlooked after them
	p := s.refused(t, http.MethodGet, "/v1/draws/search?"+query, nil)
	if p.Status != http.StatusBadRequest || len(p.Errors) != 11 || p.Errors[0].Parameter != "aa" || p.Errors[10].Parameter != "number" ||
		!strings.HasSuffix(p.Detail, "; and 991 more that are unknown") || len(p.Detail) > 2000 {
		t.Errorf("%d, %d errors: %s", p.Status, len(p.Errors), p.Detail)
	}
}

// A target of 8 KiB and headers of 32 KiB are allowed, a byte more is not.
func TestSizeLimitsAreExact(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	fixed := len("X-Api-Key") + len(s.key) + len("X-Pad") + 2*len(": \r\n")
	for more, want := range []struct{ target, headers int }{{http.StatusBadRequest, http.StatusOK}, {http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge}} {
		target := "/v1/games?x="
		target += strings.Repeat("x", 8<<10-len(target)+more)
		if res := s.get(t, target, nil); res.Code != want.target {
			t.Errorf("a target of %d bytes: %d", len(target), res.Code)
		}
		pad := strings.Repeat("x", 32<<10-fixed+more)
		if res := s.get(t, "/v1/games", map[string]string{"X-Pad": pad}); res.Code != want.headers {
			t.Errorf("headers of 32 KiB + %d: %d", more, res.Code)
		}
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
		"ldk_0123456789ABCDEFGHIJKLMNOPQRSTUV0OueG9":                             false,
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.:/+=@": true, "a;": false, "a[": false, "a`": false, "a{": false, "a,": false,
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

// A key in the wrong place is not repeated: errors are logged, and shown to others.
func TestKeysAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	key := secret.NewKey()
	for _, path := range []string{
		"/v1/draws/recent?game=KEY", "/v1/draws/recent?game_type=KEY", "/v1/draws/recent?tod=KEY", "/v1/draws/recent?format=KEY", "/v1/draws/recent?count=KEY",
		"/v1/draws/recent?cursor=KEY", "/v1/draws/recent?KEY=1", "/v1/draws/recent?xKEY", "/v1/draws/recent?count=%xKEY", "/v1/draws/date/KEY", "/v1/draws/search?number=KEY",
		"/v1/draws/by-sum?sum=KEY", "/v1/draws/by-pair?pair=KEY&order=KEY", "/v1/draws/history?year=KEY", "/v1/stats?game=a&from=KEY", "/v1/KEY", "/KEY",
	} {
		for _, sent := range []string{key, key[:30]} {
			res := s.get(t, strings.ReplaceAll(path, "KEY", sent), nil)
			if res.Code < 400 || strings.Contains(res.Body.String(), key[:20]) {
				t.Errorf("%s with %d characters: %d %s", path, len(sent), res.Code, res.Body)
			}
		}
	}
}
