package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// rates holds the rate headers of a response.
type rates struct{ policy, left, limit, remaining, reset string }

func ratesOf(h http.Header) rates {
	return rates{h.Get("Ratelimit-Policy"), h.Get("Ratelimit"), h.Get("X-Ratelimit-Limit"), h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Reset")}
}

func TestRateHeaders(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	url := storetest.EmptyURL(t)
	if out, code := admin(t, url, "db", "migrate"); code != 0 {
		t.Fatalf("db migrate: %d %s", code, out)
	}
	f := newFleet(t, 1, serveArgs(url))
	base, key := f.nodes[0].base, newKey(t, url, "dev@example.com")
	res, _, err := f.send(base, http.MethodGet, countedPath, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	tag, remaining := res.Header.Get("Etag"), 99

	for _, c := range []struct {
		method, path, key string
		header            http.Header
		status            int
		counted, headers  bool
	}{
		{"GET", countedPath, key, nil, 200, true, true},
		{"HEAD", countedPath, key, nil, 200, true, true},
		{"GET", countedPath, key, http.Header{"If-None-Match": {tag}}, 304, true, true},
		{"GET", countedPath + "?nonsense=1", key, nil, 400, true, true},
		{"GET", "/v1/draws/recent?game=none", key, nil, 404, true, true},
		{"GET", countedPath, key, http.Header{"Accept": {"image/png"}}, 406, true, true},
		{"GET", countedPath, "", nil, 401, false, false},
		{"GET", countedPath, "ldk_nonsense", nil, 401, false, false},
		{"GET", "/v1/nowhere", key, nil, 404, false, false},
		{"POST", countedPath, key, nil, 405, false, false},
		{"OPTIONS", countedPath, "", nil, 204, false, false},
		{"OPTIONS", countedPath, key, nil, 204, false, false},
		{"GET", "/healthz", key, nil, 200, false, false},
	} {
		name := fmt.Sprintf("%s %s → %d", c.method, c.path, c.status)
		res, body, err := f.send(base, c.method, c.path, c.key, c.header)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != c.status {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
		if c.counted {
			remaining--
		}
		if c.headers {
			checkRates(t, name, res, 100, remaining)
		} else if got := ratesOf(res.Header); got != (rates{}) {
			t.Errorf("%s carries %+v", name, got)
		}
	}

	if got := f.ask(t, key, remaining, 4); got[http.StatusOK] != remaining {
		t.Fatalf("the rest of the day: %v", got)
	}
	for _, method := range []string{"GET", "HEAD", "GET"} {
		res, body, err := f.send(base, method, countedPath+"?nonsense=1", key, http.Header{"If-None-Match": {tag}, "Accept": {"image/png"}})
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusTooManyRequests { // before 406 and 400
			t.Fatalf("request 101: %d %s", res.StatusCode, body)
		}
		seconds := checkRates(t, "429", res, 100, 0)
		if got := res.Header.Get("Retry-After"); got != strconv.Itoa(seconds) {
			t.Errorf("429: Retry-After %s, want %d", got, seconds)
		}
		var p struct {
			Code   string
			Status int
		}
		if method == "GET" && (json.Unmarshal(body, &p) != nil || p.Code != "quota_exceeded" || p.Status != 429) {
			t.Errorf("429: %s", body)
		}
		if got := res.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/problem+json") {
			t.Errorf("429: Content-Type %s", got)
		}
	}
	if got := usedToday(t, url, "dev@example.com"); got != 100 {
		t.Errorf("the database counts %d", got)
	}
	if err := f.nodes[0].cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// checkRates checks that a response's rate headers agree with each other, and returns the seconds to midnight.
func checkRates(t *testing.T, name string, res *http.Response, limit, remaining int) int {
	t.Helper()
	got := ratesOf(res.Header)
	now := time.Now().UTC()
	midnight := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	var r, seconds int
	if n, err := fmt.Sscanf(got.left, `"daily";r=%d;t=%d`, &r, &seconds); n != 2 || err != nil {
		t.Errorf("%s: RateLimit %s", name, got.left)
	}
	want := rates{
		fmt.Sprintf(`"daily";q=%d;w=86400`, limit), fmt.Sprintf(`"daily";r=%d;t=%d`, remaining, seconds),
		strconv.Itoa(limit), strconv.Itoa(remaining), strconv.FormatInt(midnight.Unix(), 10),
	}
	if got != want {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
	if off := midnight.Sub(now).Seconds() - float64(seconds); off < -3 || off > 3 {
		t.Errorf("%s: %d seconds to midnight, want %.0f", name, seconds, midnight.Sub(now).Seconds())
	}
	return seconds
}
