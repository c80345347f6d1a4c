package api_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

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
	for _, path := range []string{"/v1/draws/date/2024-02-29", "/v1/nothing", "/v1/games/"} { // so that a page can read that there is no such path
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
		for name, want := range map[string]string{"Allow": "GET, HEAD, OPTIONS", "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS", "Access-Control-Max-Age": "86400"} {
			if got := res.Header().Get(name); got != want {
				t.Errorf("preflight of %s: %s is %q", path, name, got)
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

// The API document is compressed like other answers.
func TestOpenAPICodings(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, path := range []string{"/openapi.json", "/openapi.yaml"} {
		plain := s.get(t, path, map[string]string{"Accept-Encoding": "identity"})
		if res := s.get(t, path, map[string]string{"If-None-Match": plain.Header().Get("ETag")}); res.Code != http.StatusNotModified || res.Body.Len() > 0 {
			t.Errorf("%s again, as %q: %d", path, plain.Header().Get("ETag"), res.Code)
		}
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
