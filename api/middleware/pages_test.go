package middleware_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"lottery/api/middleware"
)

// lines is a log kept in memory.
type lines struct{ bytes.Buffer }

func (l *lines) logger() *slog.Logger {
	return slog.New(middleware.LogHandler(slog.NewJSONHandler(l, nil)))
}

func (l *lines) read(t *testing.T) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(l.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

func byPath(r *http.Request) string { return r.URL.Path }

// A panic becomes one 500 and one log line that names the request, and is counted.
func TestPanicOfAPage(t *testing.T) {
	t.Parallel()
	var log lines
	traffic := middleware.NewTraffic(middleware.AccessLog{}, nil)
	traffic.Know("/known", "/known")
	metrics := prometheus.NewRegistry()
	traffic.Register(metrics)
	h := traffic.Wrap(log.logger(), byPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/known", "/panics/ldk_0123456789":
			panic("a mistake")
		case "/half":
			_, _ = io.WriteString(w, "half")
			panic("a mistake in mid-answer")
		case "/waits":
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	r := httptest.NewRequest(http.MethodGet, "/known", nil)
	r.Header.Set("X-Request-Id", "req-7")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "req-7") || strings.Contains(w.Body.String(), "mistake") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := log.read(t); len(got) != 1 || got[0]["request_id"] != "req-7" || !strings.Contains(got[0]["error"].(string), "a mistake") {
		t.Errorf("%v", got)
	}
	log.Reset()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/panics/ldk_0123456789", nil)) // a key in the wrong place
	if got := log.read(t); len(got) != 1 || got[0]["path"] != "/panics/ldk_01234567…" {
		t.Errorf("%v", got)
	}
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("half an answer was not cut off")
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/half", nil))
	}()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/made/up/by/a/client", nil))
	gone, hangUp := context.WithCancel(t.Context())
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/waits", nil).WithContext(gone))
	hangUp()
	for _, path := range []string{"/waits", "/known"} { // a mistake is one whether somebody waits or not
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil).WithContext(gone))
	}
	if err := testutil.GatherAndCompare(metrics, strings.NewReader(`
# HELP lottery_http_requests_total Answered requests by route template, status and plan of the key (none: without a valid key).
# TYPE lottery_http_requests_total counter
lottery_http_requests_total{code="200",plan="none",route="other"} 1
lottery_http_requests_total{code="418",plan="none",route="other"} 1
lottery_http_requests_total{code="499",plan="none",route="other"} 1
lottery_http_requests_total{code="500",plan="none",route="/known"} 2
lottery_http_requests_total{code="500",plan="none",route="other"} 1
lottery_http_requests_total{code="503",plan="none",route="other"} 1
`), "lottery_http_requests_total"); err != nil {
		t.Error(err)
	}
}

// Every line logged with a request's context names the request, even through With and groups.
func TestLinesNameTheRequest(t *testing.T) {
	t.Parallel()
	var log lines
	l := log.logger().With("part", "x")
	l.InfoContext(middleware.WithRequestID(context.Background(), "req-1"), "a")
	l.Info("b")
	got := log.read(t)
	if got[0]["request_id"] != "req-1" || got[0]["part"] != "x" || got[1]["request_id"] != nil {
		t.Errorf("%v", got)
	}
}

// The access log says what was requested and answered, without the query, the key or anything a client makes up.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	var log lines
	traffic := middleware.NewTraffic(middleware.AccessLog{Log: log.logger(), Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}, nil)
	traffic.Know("/v1/draws/date/:date", "/v1/draws/date/{date}")
	e := gin.New()
	e.Use(middleware.RequestID(), traffic.Observe())
	const took = 20 * time.Millisecond
	e.GET("/v1/draws/date/:date", func(c *gin.Context) { time.Sleep(took); c.String(http.StatusOK, "12345") })
	began := time.Now()
	for _, path := range []string{"/v1/draws/date/2024-02-29?api_key=ldk_secret", "/wp-admin.php?x=ldk_secret"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = "10.0.0.1:999"
		r.Header.Set("X-Forwarded-For", "192.0.2.7")
		r.Header.Set("X-Request-Id", "req-1")
		e.ServeHTTP(httptest.NewRecorder(), r)
	}
	page := httptest.NewRequest(http.MethodGet, "/docs", nil)
	page.Header.Set("X-Request-Id", "req-2")
	answer := httptest.NewRecorder()
	traffic.Wrap(log.logger(), byPath, e).ServeHTTP(answer, page)
	for line := range strings.Lines(log.String()) {
		if strings.Count(line, `"request_id":`) != 1 {
			t.Errorf("not one request_id: %s", line)
		}
	}
	got := log.read(t)
	if len(got) != 4 || got[3]["request_id"] != "req-2" || strings.Contains(log.String(), "secret") || strings.Contains(log.String(), "wp-admin") {
		t.Fatalf("%s", &log)
	}
	for name, want := range map[string]any{
		"method": "GET", "route": "/v1/draws/date/{date}", "status": 200.0, "bytes": 5.0, "request_id": "req-1", "client": "192.0.2.7", "key": "",
	} {
		if got[0][name] != want {
			t.Errorf("%s: %v, want %v", name, got[0][name], want)
		}
	}
	ms, _ := got[0]["ms"].(float64)
	if longest := float64(time.Since(began).Milliseconds() + 1); ms < float64(took.Milliseconds()) || ms > longest {
		t.Errorf("a request is said to have taken %v ms: it took %s to %v ms", ms, took, longest)
	}
	if n := answer.Body.Len(); n == 0 || got[3]["bytes"] != float64(n) || got[3]["status"] != 404.0 {
		t.Errorf("a page of %d bytes: %v", n, got[3])
	}
	if got[1]["route"] != middleware.OtherRoute || got[1]["status"] != 404.0 {
		t.Errorf("%v", got[1])
	}
}
