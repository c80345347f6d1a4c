package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// A game and a type are both conditions: a game of the type is listed as without it, one of another type has no draws.
func TestGameBesideItsType(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, path := range []string{"/v1/draws/date/2024-02-29?game=nc-pick-3", "/v1/draws/search?number=123&game=nc-pick-3"} {
		alone := s.get(t, path, nil)
		if same := s.get(t, path+"&game_type=pick3", nil); same.Code != http.StatusOK || same.Body.String() != alone.Body.String() {
			t.Errorf("%s of its type: %d %s\nwithout: %s", path, same.Code, same.Body, alone.Body)
		}
		var other struct {
			Draws []json.RawMessage
			Total int
			Game  string
		}
		res := s.get(t, path+"&game_type=pick4", nil)
		if err := json.Unmarshal(res.Body.Bytes(), &other); err != nil || res.Code != http.StatusOK || other.Draws == nil || len(other.Draws)+other.Total > 0 || other.Game != "nc-pick-3" {
			t.Errorf("%s of another type: %d %v %s", path, res.Code, err, res.Body)
		}
	}
}

// While nothing has been imported, refusals name no types and no games.
func TestParametersWithoutDraws(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	empty, err := catalog.NewBuilder(models.DataVersion{}).Build()
	if err != nil {
		t.Fatal(err)
	}
	s.live.Swap(empty)
	for path, detail := range map[string]string{
		"/v1/games?game_type=pick3":          "no game has draws yet",
		"/v1/draws/recent?game=ny-numbers":   "/v1/games lists those that exist",
		"/v1/draws/history?game=a&year=2024": "/v1/games lists those that exist",
	} {
		if p := s.refused(t, http.MethodGet, path, nil); !strings.HasSuffix(p.Detail, detail) {
			t.Errorf("%s: %s", path, p.Detail)
		}
	}
}

// Lines of one header are one list (RFC 9110, 5.3).
func TestHeadersInSeveralLines(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v1/draws/recent?game=ny-win-4"
	tag := s.get(t, path, nil).Header().Get("ETag")
	for _, c := range []struct {
		name   string
		lines  []string
		status int
		form   string
	}{
		{"Accept", []string{"", "text/csv"}, http.StatusOK, "text/csv"},
		{"Accept", []string{"image/png", "application/x-ndjson"}, http.StatusOK, "application/x-ndjson"},
		{"Accept", []string{"*/*", "application/json;q=0"}, http.StatusOK, "text/csv"},
		{"Accept", []string{" , ", ","}, http.StatusOK, "application/json"},
		{"Accept", []string{"image/png", "text/html"}, http.StatusNotAcceptable, "application/problem+json"},
		{"If-None-Match", []string{`"other"`, tag}, http.StatusNotModified, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header = http.Header{"X-Api-Key": {s.key}, c.name: c.lines}
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if form, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";"); w.Code != c.status || form != c.form {
			t.Errorf("%s %q: %d %s, want %d %s", c.name, c.lines, w.Code, form, c.status, c.form)
		}
	}
}
