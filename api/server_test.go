package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"lottery/api"
	"lottery/api/middleware"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// server is the API on a real SQLite database, with a few draws written by hand.
type server struct {
	handler http.Handler
	store   *store.Store
	keys    *middleware.Keys
	live    *catalog.Live
	key     string
	account models.Account
}

// The draws, written by hand, that the golden answers are computed from.
var goldenDraws = []struct {
	game, date string
	tod        models.Tod
	sequence   int
	number     string
}{
	{"ny-numbers", "2024-02-28", models.Evening, 1, "123"},
	{"ny-numbers", "2024-02-29", models.Midday, 1, "007"},
	{"ny-numbers", "2024-02-29", models.Evening, 1, "321"},
	{"ny-numbers", "2024-03-02", models.Midday, 1, "777"},
	{"ny-win-4", "2024-02-29", models.Midday, 1, "0035"},
	{"ny-win-4", "2024-02-29", models.Evening, 1, "5386"},
	{"ny-win-4", "2024-03-01", models.Evening, 1, "3568"},
	{"nc-pick-3", "2024-02-29", models.Evening, 1, "132"},
	{"nc-pick-3", "2024-02-29", models.Evening, 2, "446"},
}

func newServer(t testing.TB) *server {
	t.Helper()
	return newServerOn(t, storetest.Open(t))
}

func newServerOn(t testing.TB, st *store.Store) *server {
	t.Helper()
	ctx := context.Background()
	s := &server{store: st, live: &catalog.Live{}}
	plans := models.DefaultPlans()
	key, err := s.store.CreateKey(ctx, plans, store.NewKey{Account: "dev@example.com", Name: "test", Create: true})
	if err != nil {
		t.Fatal(err)
	}
	s.key, s.account = key.Secret, key.Account
	if s.keys, err = middleware.NewKeys(ctx, s.store, plans, time.Now, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	s.live.Swap(goldenCatalog(t, s.store, models.DataVersion{Number: 1, Token: "golden", UpdatedAt: time.Date(2024, 3, 3, 4, 5, 6, 0, time.UTC)}))
	return s.restarted()
}

// restarted returns a server on the same data that has not answered anything yet.
func (s *server) restarted() *server {
	fresh := *s
	fresh.handler = api.New(api.Deps{
		Catalog: s.live, Keys: s.keys, Ready: func() error { return nil }, PublicURL: "http://localhost:8080",
		Build: models.Build{Version: "test"}, Log: slog.New(slog.DiscardHandler),
	})
	return &fresh
}

func goldenCatalog(t testing.TB, st *store.Store, v models.DataVersion) *catalog.Catalog {
	t.Helper()
	games, err := st.Games(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b := catalog.NewBuilder(v)
	for _, g := range games {
		game := b.Game(g)
		for _, d := range goldenDraws {
			if d.game != g.ID {
				continue
			}
			date, err := models.ParseDate(d.date)
			if err != nil {
				t.Fatal(err)
			}
			if err := game.Add(date, d.tod, d.sequence, []byte(d.number)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// get makes a request with the key unless headers override it; an empty header value omits the header.
func (s *server) get(t testing.TB, path string, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	return s.do(t, http.MethodGet, path, headers)
}

func (s *server) do(t testing.TB, method, path string, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.RequestURI = path
	r.Header.Set("X-Api-Key", s.key)
	for name, value := range headers {
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if length := w.Header().Get("Content-Length"); length != "" && method == http.MethodGet && length != strconv.Itoa(w.Body.Len()) {
		t.Fatalf("%s: Content-Length %s, %d bytes", path, length, w.Body.Len())
	}
	return w
}
