package middleware_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"lottery/api/middleware"
	"lottery/models/store/storetest"
)

// gated is a server whose answers wait until the test lets them go, behind a Front with most places.
func gated(t *testing.T, most int) (base string, arrived <-chan struct{}, letGo chan<- struct{}, r *prometheus.Registry) {
	t.Helper()
	in, out := make(chan struct{}, 100), make(chan struct{})
	front := middleware.NewFront(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			in <- struct{}{}
			<-out
		}
		_, _ = io.WriteString(w, "ok")
	}), most, "https://draws.example", func(path string) bool { return !strings.HasPrefix(path, "/v1/") }, nil)
	r = prometheus.NewRegistry()
	front.Register(r)
	server := httptest.NewServer(front)
	t.Cleanup(server.Close)
	return server.URL, in, out, r
}

func send(t *testing.T, method, url, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("X-Request-Id", "mine-1")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestTooManyAtOnceAreRefused(t *testing.T) {
	t.Parallel()
	base, arrived, letGo, metrics := gated(t, 2)
	done := make(chan int, 2)
	for range 2 {
		go func() { done <- send(t, http.MethodGet, base+"/v1/games", "").StatusCode }()
		<-arrived
	}
	res := send(t, http.MethodGet, base+"/v1/games", "")
	var p struct {
		Type, Code string
		Status     int
		RequestID  string `json:"request_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusServiceUnavailable || p.Status != 503 || p.Code != "unavailable" || p.RequestID != "mine-1" || p.Type != "https://draws.example/docs/errors/unavailable" {
		t.Errorf("%d %+v", res.StatusCode, p)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/problem+json", "Retry-After": "1", "Cache-Control": "no-store", "X-Request-Id": "mine-1", "Access-Control-Allow-Origin": "*",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	health := send(t, http.MethodGet, base+"/healthz", "")
	if body, err := io.ReadAll(health.Body); err != nil || health.StatusCode != http.StatusOK || string(body) != "ok" {
		t.Errorf("/healthz: %d %q %v", health.StatusCode, body, err)
	}
	if err := testutil.GatherAndCompare(metrics, strings.NewReader(`
# HELP lottery_http_requests_in_flight Requests being handled now.
# TYPE lottery_http_requests_in_flight gauge
lottery_http_requests_in_flight 2
# HELP lottery_http_requests_shed_total Requests refused with 503 because too many were in flight (places), too many pages (pages), or too many with a body (bodies).
# TYPE lottery_http_requests_shed_total counter
lottery_http_requests_shed_total{reason="bodies"} 0
lottery_http_requests_shed_total{reason="pages"} 0
lottery_http_requests_shed_total{reason="places"} 1
`), "lottery_http_requests_in_flight", "lottery_http_requests_shed_total"); err != nil {
		t.Error(err)
	}
	close(letGo)
	for range 2 {
		if status := <-done; status != http.StatusOK {
			t.Errorf("one that had its place: %d", status)
		}
	}
	if res := send(t, http.MethodGet, base+"/", ""); res.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", res.StatusCode)
	}
}

// Each kind of request that may have to wait can fill its share of the places, and blocks no other kind.
func TestShares(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, method, path string
		places             int // of 8
		others             [][2]string
	}{
		{"pages", http.MethodGet, "/status", 4, [][2]string{{http.MethodGet, "/v1/games"}, {http.MethodPost, "/v1/events"}}},
		{"forms", http.MethodPost, "/sign-in", 2, [][2]string{{http.MethodGet, "/status"}, {http.MethodGet, "/v1/games"}, {http.MethodPost, "/v1/events"}}},
		{"bodies", http.MethodPost, "/v1/events", 2, [][2]string{{http.MethodGet, "/v1/games"}, {http.MethodPost, "/sign-in"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			base, arrived, letGo, _ := gated(t, 8)
			done := make(chan int, 8)
			ask := func(method, path string) {
				body := ""
				if method == http.MethodPost {
					body = "email=x"
				}
				go func() { done <- send(t, method, base+path, body).StatusCode }()
				<-arrived
			}
			for range test.places {
				ask(test.method, test.path)
			}
			more := func() *http.Response {
				return send(t, test.method, base+test.path, map[string]string{http.MethodPost: "email=x"}[test.method])
			}
			for range 8 { // a refusal takes no place
				if res := more(); res.StatusCode != http.StatusServiceUnavailable || res.Close != (test.method == http.MethodPost) { // with a body that is not read, the connection ends
					t.Errorf("one more: %d, closed %v", res.StatusCode, res.Close)
				}
			}
			for _, other := range test.others {
				ask(other[0], other[1])
			}
			close(letGo)
			for range test.places + len(test.others) {
				if status := <-done; status != http.StatusOK {
					t.Errorf("%d", status)
				}
			}
			for range 8 { // the places are free again
				if res := more(); res.StatusCode != http.StatusOK {
					t.Errorf("afterwards: %d", res.StatusCode)
				}
			}
		})
	}
}

func TestWithoutALimitNothingIsRefused(t *testing.T) {
	t.Parallel()
	base, arrived, letGo, _ := gated(t, 0)
	done := make(chan int)
	for range 10 {
		go func() { done <- send(t, http.MethodPost, base+"/sign-in", "email=x").StatusCode }()
	}
	storetest.Soon(t, "the requests to arrive", func() {
		for range 10 {
			<-arrived
		}
	})
	close(letGo)
	for range 10 {
		if status := <-done; status != http.StatusOK {
			t.Errorf("%d", status)
		}
	}
}
