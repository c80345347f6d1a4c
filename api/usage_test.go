package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lottery/api"
	"lottery/api/middleware"
	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// metered is a server that counts requests, for an account with its own daily limit.
type metered struct {
	*server
	usage *quota.Usage
	deps  api.Deps
}

func newMetered(t testing.TB, limit int) *metered {
	t.Helper()
	return meter(t, newServer(t), limit)
}

// meter makes s count requests.
func meter(t testing.TB, s *server, limit int) *metered {
	t.Helper()
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	if _, err := s.store.OverrideLimit(ctx, s.account.ID, &limit); err != nil {
		t.Fatal(err)
	}
	counters := quota.New(s.store, quota.Options{Advance: true, Log: log})
	t.Cleanup(func() { counters.Close(context.Background()) })
	m := &metered{server: s, usage: quota.NewUsage(s.store, nil, log)}
	m.deps = api.Deps{
		Catalog: s.live, Keys: s.keys, Ready: func() error { return nil }, PublicURL: "http://localhost:8080",
		Build: models.Build{Version: "test"}, Log: log,
		Traffic: middleware.NewTraffic(middleware.AccessLog{}, nil),
		Store:   s.store, Quota: counters, Usage: m.usage, Warnings: quota.NewWarnings(s.store, nil, log), WrongKeys: middleware.NewWrongKeys(3, nil),
	}
	s.handler = api.New(m.deps)
	return m
}

type usageAnswer struct {
	Plan                   string
	Limit, Used, Remaining int64
	ResetsAt               time.Time `json:"resets_at"`
	Days                   []struct {
		Date     models.Date
		Requests int64
	}
}

func (m *metered) used(t *testing.T) usageAnswer {
	t.Helper()
	res := m.get(t, "/v1/usage", nil)
	var a usageAnswer
	if err := json.Unmarshal(res.Body.Bytes(), &a); err != nil || res.Code != http.StatusOK {
		t.Fatalf("%d %v %s", res.Code, err, res.Body)
	}
	h := res.Header()
	if h.Get("Cache-Control") != "no-store" || h.Get("ETag") != "" {
		t.Errorf("%v", h)
	}
	if h.Get("X-RateLimit-Limit") != strconv.FormatInt(a.Limit, 10) || h.Get("X-RateLimit-Remaining") != strconv.FormatInt(a.Remaining, 10) ||
		h.Get("X-RateLimit-Reset") != strconv.FormatInt(a.ResetsAt.Unix(), 10) || h.Get("RateLimit-Policy") != fmt.Sprintf(`"daily";q=%d;w=86400`, a.Limit) {
		t.Errorf("rate headers: %v", h)
	}
	if len(a.Days) != 30 || !a.ResetsAt.Equal((a.Days[0].Date + 1).Time()) || a.Days[0].Requests != a.Used {
		t.Errorf("%+v", a)
	}
	for i, d := range a.Days {
		if d.Date != a.Days[0].Date-models.Date(i) {
			t.Errorf("day %d is %s", i, d.Date)
		}
	}
	return a
}

func TestUsage(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	m := newMetered(t, 5)
	if a := m.used(t); a.Plan != "free" || a.Limit != 5 || a.Used != 0 || a.Remaining != 5 {
		t.Errorf("%+v", a)
	}
	today := m.used(t).Days[0].Date
	err := m.store.AddUsage(context.Background(), []models.UsageDay{
		{AccountID: m.account.ID, Day: today - 1, Endpoint: "/v1/games", Class: 2, Requests: 7},
		{AccountID: m.account.ID, Day: today - 1, Endpoint: "/v1/stats", Class: 4, Requests: 2},
		{AccountID: m.account.ID, Day: today - 29, Endpoint: "/v1/stats", Class: 2, Requests: 1},
		{AccountID: m.account.ID, Day: today - 30, Endpoint: "/v1/stats", Class: 2, Requests: 99},
		{AccountID: "somebody else", Day: today - 2, Endpoint: "/v1/stats", Class: 2, Requests: 99},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 7 { // the last two are refused
		want := http.StatusOK
		if i >= 5 {
			want = http.StatusTooManyRequests
		}
		if res := m.get(t, "/v1/overview", nil); res.Code != want {
			t.Fatalf("request %d: %d", i+1, res.Code)
		}
	}
	a := m.used(t) // even though the quota is exhausted
	if a.Used != 5 || a.Remaining != 0 || a.Days[1].Requests != 9 || a.Days[2].Requests != 0 || a.Days[29].Requests != 1 {
		t.Errorf("%+v", a)
	}
}

// Counted requests are recorded by the path that the contract names and the class of their status; whoever watches
// accounts learns that one comes to its limit.
func TestWhatIsRecordedOfRequests(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	m := newMetered(t, 6)
	warned := make(chan quota.Warning, 10)
	warnings := quota.NewWarnings(m.store, time.Now, slog.New(slog.DiscardHandler))
	warnings.Notify = func(_ context.Context, w quota.Warning) { warned <- w }
	go warnings.Run(t.Context())
	m.deps.Warnings = warnings
	m.handler = api.New(m.deps)
	for _, path := range []string{"/v1/games", "/v1/draws/date/2024-02-29", "/v1/draws/date/2024-02-28", "/v1/draws/date/x", "/v1/draws/recent?game=x", "/v1/games"} {
		m.get(t, path, nil)
	}
	if err := m.usage.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	today := m.used(t).Days[0].Date
	got, err := m.store.UsageByEndpoint(t.Context(), m.account.ID, today, today)
	want := []store.EndpointUsage{
		{Endpoint: "/v1/draws/date/{date}", Class: 2, Requests: 2}, {Endpoint: "/v1/games", Class: 2, Requests: 2},
		{Endpoint: "/v1/draws/date/{date}", Class: 4, Requests: 1}, {Endpoint: "/v1/draws/recent", Class: 4, Requests: 1},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	for last := 0; last < 100; {
		select {
		case w := <-warned:
			if last = w.Percent; w.AccountID != m.account.ID || w.Limit != 6 || w.Day != today {
				t.Errorf("%+v", w)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("nobody is told that the limit is reached")
		}
	}
}

// The answer to a refused request fits the limit: if it is 0, waiting for the next day does not help.
func TestSpentQuotaSaysWhatHelps(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	for limit, says := range []string{"limit of this account is 0", "the one request for today is used", "all 2 requests for today are used"} {
		m := newMetered(t, limit)
		for range limit {
			if res := m.get(t, "/v1/overview", nil); res.Code != http.StatusOK {
				t.Fatalf("a request of %d: %d", limit, res.Code)
			}
		}
		res := m.get(t, "/v1/overview", nil)
		if body := res.Body.String(); res.Code != http.StatusTooManyRequests || !strings.Contains(body, says) ||
			strings.Contains(body, "resets at 00:00 UTC") != (limit > 0) || strings.Contains(body, "contact support") != (limit == 0) {
			t.Errorf("limit %d: %d %s", limit, res.Code, body)
		}
	}
}

func TestUsageAfterADowngrade(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	m := newMetered(t, 1000)
	for range 20 {
		m.get(t, "/v1/overview", nil)
	}
	m = meter(t, m.server, 8) // another node, after the change
	keys, err := middleware.NewKeys(context.Background(), m.store, models.DefaultPlans(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	m.deps.Keys = keys
	m.handler = api.New(m.deps)
	if a := m.used(t); a.Limit != 8 || a.Used < 20 || a.Remaining != 0 {
		t.Errorf("%+v", a)
	}
}

func TestUsageRefusals(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	m := newMetered(t, 5)
	for _, c := range []struct {
		path    string
		headers map[string]string
		code    string
	}{
		{"/v1/usage", map[string]string{"X-API-Key": ""}, "missing_api_key"},
		{"/v1/usage?days=3", nil, "invalid_parameter"},
		{"/v1/usage", map[string]string{"Accept": "text/csv"}, "not_acceptable"},
		{"/v1/usage?days=3", map[string]string{"Accept": "text/csv"}, "not_acceptable"},
	} {
		if p := m.refused(t, http.MethodGet, c.path, c.headers); p.Code != c.code {
			t.Errorf("%s: %+v", c.path, p)
		}
	}
	if res := m.do(t, http.MethodHead, "/v1/usage", nil); res.Code != http.StatusOK {
		t.Errorf("HEAD: %d", res.Code)
	}
	if res := m.do(t, http.MethodOptions, "/v1/usage", map[string]string{"X-API-Key": ""}); res.Code != http.StatusNoContent {
		t.Errorf("OPTIONS: %d", res.Code)
	}
	if p := m.refused(t, http.MethodPost, "/v1/usage", nil); p.Code != "method_not_allowed" {
		t.Errorf("POST: %+v", p)
	}
	// Three GETs with the key and one HEAD were answered before.
	for i := range 56 {
		if res := m.get(t, "/v1/usage", nil); res.Code != http.StatusOK {
			t.Fatalf("call %d of a minute: %d", i+5, res.Code)
		}
	}
	// From now on the counters are not asked: what another node counts does not show.
	take := store.QuotaOp{Kind: store.QuotaTake, Key: m.account.ID, Period: 24 * time.Hour, Need: 1, Limit: 5}
	if _, _, err := m.store.ApplyQuota(t.Context(), []store.QuotaOp{take}); err != nil {
		t.Fatal(err)
	}
	p := m.refused(t, http.MethodGet, "/v1/usage?days=3", nil)
	res := m.get(t, "/v1/usage", nil)
	wait, err := strconv.Atoi(res.Header().Get("Retry-After"))
	if p.Code != "rate_limited" || res.Code != http.StatusTooManyRequests || err != nil || wait < 1 || wait > 60 || res.Header().Get("X-RateLimit-Remaining") != "5" {
		t.Errorf("call 61: %+v %v", p, res.Header())
	}
	if res := m.get(t, "/v1/overview", nil); res.Code != http.StatusOK {
		t.Errorf("the other paths: %d", res.Code)
	}
	other := storetest.Key(t, m.store, "other@example.com")
	if res := m.get(t, "/v1/usage", map[string]string{"X-API-Key": other.Secret}); res.Code != http.StatusOK {
		t.Errorf("another account: %d", res.Code)
	}
}

func TestUsageOfADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	database := storetest.NewPostgresServer(t)
	m := meter(t, newServerOn(t, storetest.OpenURL(t, database.NewDatabase(t), store.Options{})), 5)
	m.used(t)
	database.Stop()
	p := m.refused(t, http.MethodGet, "/v1/usage", nil)
	if res := m.get(t, "/v1/usage", nil); p.Code != "unavailable" || res.Header().Get("Retry-After") == "" {
		t.Errorf("%+v %v", p, res.Header())
	}
	if res := m.get(t, "/v1/overview", nil); res.Code != http.StatusOK {
		t.Errorf("the other paths: %d", res.Code)
	}
	database.Start(t)
}

// A valid key keeps working from an address that also tries wrong ones.
func TestWrongKeysOfOneAddress(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	m := newMetered(t, 1000)
	wrong := map[string]string{"X-API-Key": "ldk_wrong"}
	for i := range 5 {
		want := "invalid_api_key"
		if i >= 3 {
			want = "rate_limited"
		}
		if p := m.refused(t, http.MethodGet, "/v1/games", wrong); p.Code != want {
			t.Errorf("wrong key %d: %+v", i+1, p)
		}
		if res := m.get(t, "/v1/games", nil); res.Code != http.StatusOK {
			t.Errorf("the valid key: %d", res.Code)
		}
		if p := m.refused(t, http.MethodGet, "/v1/games", map[string]string{"X-API-Key": ""}); p.Code != "missing_api_key" {
			t.Errorf("no key: %+v", p)
		}
	}
	res := m.get(t, "/v1/games", wrong)
	wait, err := strconv.Atoi(res.Header().Get("Retry-After"))
	if err != nil || wait < 1 || wait > 60 || res.Header().Get("WWW-Authenticate") != "" || res.Header().Get("X-RateLimit-Limit") != "" {
		t.Errorf("%v", res.Header())
	}
}

// Requests count in one day, that of the counters, even on a node whose clock is wrong: no day
// shows more than its limit.
func TestUsageDaysAreThoseOfTheCounters(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	log := slog.New(slog.DiscardHandler)
	for _, ahead := range []time.Duration{30 * time.Hour, -30 * time.Hour} {
		m := newMetered(t, 5)
		wrong := func() time.Time { return time.Now().Add(ahead) }
		counters := quota.New(m.store, quota.Options{Advance: true, Now: wrong, Log: log})
		t.Cleanup(func() { counters.Close(context.Background()) })
		m.usage = quota.NewUsage(m.store, wrong, log)
		m.deps.Quota, m.deps.Usage = counters, m.usage
		m.handler = api.New(m.deps)
		for range 3 {
			m.get(t, "/v1/overview", nil)
		}
		if err := m.usage.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		today := m.used(t).Days[0].Date
		days, err := m.store.UsageByDay(t.Context(), m.account.ID, today-9, today+9)
		if want := []store.DayUsage{{Day: today, Requests: 3}}; err != nil || !slices.Equal(days, want) {
			t.Errorf("a clock that is ahead by %s: %v %v; want %v", ahead, days, err, want)
		}
	}
}
