package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"lottery/api"
	"lottery/models/catalog"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// No request waits for what an import, a swap, a flush of usage or a refresh of keys holds: while another process holds
// SQLite's write lock, as an import's merge does, and all of these run or wait, every request is answered in a fraction
// of the 5 s that a writer waits.
func TestRequestsWaitForNoWriter(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	m := meter(t, newServerOn(t, storetest.OpenURL(t, url, store.Options{})), 1_000_000_000)
	m.live.Swap(manyDraws(t, 1))
	m.get(t, tenDraws, nil) // so that the key is known
	release := holdWriteLock(t, strings.TrimPrefix(url, "sqlite:"))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second) // a flush of usage comes after 2 s
	defer cancel()
	var background, clients sync.WaitGroup
	background.Go(func() { m.keys.Run(ctx) })
	background.Go(func() { m.usage.Run(ctx) })
	background.Go(func() {
		for v := 2; ctx.Err() == nil; v++ {
			m.live.Swap(manyDraws(t, 1+v%9))
			time.Sleep(10 * time.Millisecond) // building without a pause starves everything else on a single processor
		}
	})
	const allowed = time.Second
	for range 4 {
		clients.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				res := m.get(t, tenDraws, map[string]string{"Accept-Encoding": "gzip"})
				if took := time.Since(began); took > allowed || res.Code != http.StatusOK {
					t.Errorf("%d after %s", res.Code, took)
					return
				}
			}
		})
	}
	clients.Wait()
	release()
	background.Wait()
}

// holdWriteLock takes SQLite's write lock as another process would.
func holdWriteLock(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		_ = db.Close()
	}
}

// A client that leaves during the lookup of its key or usage is not a failure: the log must not blame the database, nor
// may it count as one that the operator is called for.
func TestRequestThatIsNotWaitedForIsNoFailure(t *testing.T) {
	t.Parallel()
	m := newMetered(t, 100)
	m.get(t, "/v1/games", nil) // so that the key is known
	var log bytes.Buffer
	m.deps.Log = slog.New(slog.NewTextHandler(&log, nil))
	handler := api.New(m.deps)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for path, key := range map[string]string{"/v1/games": secret.NewKey(), "/v1/usage": m.key} {
		log.Reset()
		r := httptest.NewRequest(http.MethodGet, path, nil).WithContext(gone)
		r.Header.Set("X-API-Key", key)
		res := httptest.NewRecorder()
		handler.ServeHTTP(res, r)
		if res.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, res.Code, res.Body)
		}
		if text := log.String(); strings.Contains(text, "level=ERROR") || !strings.Contains(text, "was not waited for") {
			t.Errorf("%s: %s", path, text)
		}
	}
	metrics := prometheus.NewRegistry()
	m.deps.Traffic.Register(metrics)
	if err := testutil.GatherAndCompare(metrics, strings.NewReader(`
# HELP lottery_http_requests_total Answered requests by route template, status and plan of the key (none: without a valid key).
# TYPE lottery_http_requests_total counter
lottery_http_requests_total{code="200",plan="free",route="/v1/games"} 1
lottery_http_requests_total{code="499",plan="free",route="/v1/usage"} 1
lottery_http_requests_total{code="499",plan="none",route="/v1/games"} 1
`), "lottery_http_requests_total"); err != nil {
		t.Error(err)
	}
}

// While the draws load, requests are refused without a line in the log for each, and they are not counted.
func TestRequestsBeforeTheDrawsAreLoaded(t *testing.T) {
	t.Parallel()
	m := newMetered(t, 100)
	var log bytes.Buffer
	deps := m.deps
	deps.Catalog, deps.Log = &catalog.Live{}, slog.New(slog.NewTextHandler(&log, nil))
	r := httptest.NewRequest(http.MethodGet, "/v1/games", nil)
	r.Header.Set("X-API-Key", m.key)
	res := httptest.NewRecorder()
	api.New(deps).ServeHTTP(res, r)
	if res.Code != http.StatusServiceUnavailable || res.Header().Get("Retry-After") != "1" || log.Len() > 0 {
		t.Errorf("%d %s %s; logged: %s", res.Code, res.Header(), res.Body, &log)
	}
	if a := m.used(t); a.Used != 0 {
		t.Errorf("%d requests counted", a.Used)
	}
}
