package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"lottery/api/middleware"
	"lottery/api/problem"
	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store/storetest"
)

// door is RequireKey on its own.
func door(t *testing.T, wrong *middleware.WrongKeys) (handler http.Handler, valid string) {
	t.Helper()
	st := storetest.Open(t)
	keys, err := middleware.NewKeys(context.Background(), st, models.DefaultPlans(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	k := storetest.Key(t, st, "a@example.com")
	e := gin.New()
	e.Use(middleware.RequireKey(keys, wrong, func(c *gin.Context, err error) {
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok {
			t.Errorf("not a problem: %v", err)
			return
		}
		p.Write(c.Writer, "", "")
	}, func(c *gin.Context, _ *middleware.Principal) { c.Next() }))
	e.GET("/", func(c *gin.Context) { c.Status(http.StatusOK) })
	return e, k.Secret
}

func knock(h http.Handler, remote, forwarded string, keys ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = remote
	if forwarded != "" {
		r.Header.Set("X-Forwarded-For", forwarded)
	}
	r.Header["X-Api-Key"] = keys
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestWrongKeysAreSlowed(t *testing.T) {
	t.Parallel()
	h, valid := door(t, middleware.NewWrongKeys(4, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}))
	const here = "192.0.2.1:1000"
	for _, keys := range [][]string{{"nonsense"}, {secret.NewKey()}, {valid, valid}, {strings.ToUpper(valid)}} {
		if w := knock(h, here, "", keys...); w.Code != http.StatusUnauthorized {
			t.Errorf("%q: %d", keys, w.Code)
		}
	}
	w := knock(h, here, "", secret.NewKey())
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"rate_limited"`) {
		t.Errorf("the fifth: %d %v %s", w.Code, w.Header(), w.Body)
	}
	for range 10 {
		if w := knock(h, here, "", valid); w.Code != http.StatusOK {
			t.Errorf("the valid key: %d", w.Code)
		}
		if w := knock(h, here, ""); w.Code != http.StatusUnauthorized {
			t.Errorf("no key: %d", w.Code)
		}
		if w := knock(h, here, "", ""); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `"missing_api_key"`) {
			t.Errorf("an empty key: %d %s", w.Code, w.Body)
		}
	}
	if w := knock(h, "192.0.2.2:1000", "192.0.2.1", "nonsense"); w.Code != http.StatusUnauthorized {
		t.Errorf("another address, whatever it says: %d", w.Code)
	}
	if w := knock(h, "10.0.0.1:1000", "192.0.2.1", "nonsense"); w.Code != http.StatusTooManyRequests {
		t.Errorf("the same address through a proxy: %d", w.Code)
	}
	if w := knock(h, "10.0.0.1:1000", "192.0.2.3", "nonsense"); w.Code != http.StatusUnauthorized {
		t.Errorf("another address through the proxy: %d", w.Code)
	}
}

// A /64 counts as one customer.
func TestWrongKeysOfIPv6(t *testing.T) {
	t.Parallel()
	h, _ := door(t, middleware.NewWrongKeys(4, nil))
	for i := range 6 {
		want := http.StatusUnauthorized
		if i >= 4 {
			want = http.StatusTooManyRequests
		}
		if w := knock(h, fmt.Sprintf("[2001:db8:1:2::%x]:1000", i+1), "", "nonsense"); w.Code != want {
			t.Errorf("%d: %d, want %d", i, w.Code, want)
		}
	}
	if w := knock(h, "[2001:db8:1:3::1]:1000", "", "nonsense"); w.Code != http.StatusUnauthorized {
		t.Errorf("the network beside: %d", w.Code)
	}
}

func TestWrongKeysOff(t *testing.T) {
	t.Parallel()
	h, _ := door(t, middleware.NewWrongKeys(0, nil))
	for range 100 {
		if w := knock(h, "192.0.2.1:1000", "", "nonsense"); w.Code != http.StatusUnauthorized {
			t.Fatal(w.Code)
		}
	}
}
