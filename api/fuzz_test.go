package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzQuery sends any query string to every draw path: the answer is 200 with JSON, or a problem that says what is
// wrong; never a 500, never a panic.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "game=ny-win-4", "game=ny-numbers&count=2", "number=123&match=exact&limit=1&order=asc", "sum=6&game=ny-numbers&from=2024-01-01&to=2024-12-31",
		"pair=12&game=ny-numbers&position=split", "game=ny-numbers&year=2024&tod=Evening", "game_type=pick3", "game=&game=&=&&%zz=%zz&a;b=c",
		"cursor=ARUUfHnwVo0tAABRKAIBc2FtcGxlLXBpY2stM64WdDU&game=ny-numbers", "count=-0&game=ny-win-4", "format=csv&game=ny-win-4", "from=0000-00-00&game=ny-win-4",
		"number=%30%31%32", "game=\x00\xff\u202e",
	} {
		f.Add(seed)
	}
	s := newServer(f)
	f.Fuzz(func(t *testing.T, query string) {
		if strings.ContainsAny(query, " #\r\n\t") || len(query) > 8000 {
			return // cannot stand in a request line
		}
		for _, path := range []string{
			"/v1/games", "/v1/draws/recent", "/v1/draws/date/2024-02-29", "/v1/draws/search", "/v1/draws/by-sum",
			"/v1/draws/by-pair", "/v1/draws/history", "/v1/stats", "/v1/overview",
		} {
			r, err := http.NewRequest(http.MethodGet, "http://localhost"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.URL.RawQuery = query
			r.RequestURI = path + "?" + query
			r.Header.Set("X-Api-Key", s.key)
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			var body map[string]any
			switch w.Code {
			case http.StatusOK:
				if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && json.Unmarshal(w.Body.Bytes(), &body) != nil {
					t.Errorf("%s?%s: %q", path, query, w.Body)
				}
			case http.StatusBadRequest, http.StatusNotFound:
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body["errors"] == nil || body["detail"] == "" {
					t.Errorf("%s?%s: %d %v %q", path, query, w.Code, err, w.Body)
				}
			default:
				t.Errorf("%s?%s: %d %s", path, query, w.Code, w.Body)
			}
		}
	})
}
