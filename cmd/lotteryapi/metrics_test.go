package main

import (
	"bufio"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lottery/models/store/storetest"
)

// scrape returns /metrics of the operator's listener, as text.
func (p *process) scrape(t *testing.T) string {
	t.Helper()
	return p.ops(t, "/metrics")
}

// ops returns what the operator's listener answers.
func (p *process) ops(t *testing.T, path string) string {
	t.Helper()
	addr := opsAddr.FindStringSubmatch(p.stderr.String())
	if addr == nil {
		t.Fatalf("no operator's listener:\n%s", p.stderr)
	}
	res, err := http.Get("http://" + addr[1] + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", path, res.StatusCode, err, text)
	}
	return string(text)
}

// metrics returns the values of /metrics by series.
func (p *process) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	scan := bufio.NewScanner(strings.NewReader(p.scrape(t)))
	for scan.Scan() {
		if line := scan.Text(); !strings.HasPrefix(line, "#") {
			space := strings.LastIndexByte(line, ' ')
			value, err := strconv.ParseFloat(line[space+1:], 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			values[line[:space]] = value
		}
	}
	return values
}

// What clients do appears in the metrics, by route, status and plan; nothing there names a client.
func TestMetrics(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		t.Parallel()
		p := start(t, t.TempDir(), serveArgs(url, "--ops-listen", "127.0.0.1:0")...)
		if out, code := admin(t, url, "draws", "import", "--feed", "csv", writeFile(t, twoDraws)); code != 0 {
			t.Fatalf("import: %d %s", code, out)
		}
		const email = "dev.metrics@example.com"
		free, pro := newKey(t, url, "free.metrics@example.com"), newKey(t, url, email, "--plan", "pro")
		storetest.Until(t, "the import to show", func() bool { return total(t, p, pro, "/v1/draws/recent?game=ny-numbers") == 2 })
		for _, path := range []string{"/v1/draws/date/2024-02-29", "/v1/draws/date/2024-03-01", "/v1/draws/date/tomorrow", "/v1/nothing/" + free, "/docs", "/docs/limits", "/made/up", "/healthz/", "/readyz/", "/docs/", "/openapi.yaml/", "/pricing/x"} {
			p.get(t, path, free)
		}
		p.get(t, "/v1/games", "ldk_wrong")
		got := p.metrics(t)
		for series, want := range map[string]float64{
			`lottery_http_requests_total{code="200",plan="free",route="/v1/draws/date/{date}"}`: 2,
			`lottery_http_requests_total{code="400",plan="free",route="/v1/draws/date/{date}"}`: 1,
			`lottery_http_requests_total{code="404",plan="none",route="other"}`:                 7,
			`lottery_http_requests_total{code="200",plan="none",route="/docs"}`:                 2,
			`lottery_http_requests_total{code="401",plan="none",route="/v1/games"}`:             1,
			`lottery_http_request_duration_seconds_count{route="/v1/draws/date/{date}"}`:        3,
			`lottery_http_requests_in_flight`:                                                   0,
			`lottery_catalog_draws`:                                                             2,
			`lottery_catalog_games`:                                                             1,
			`lottery_catalog_refresh_errors_total`:                                              0,
			`lottery_database_up`:                                                               1,
			`lottery_game_overdue{feed="ny-open-data",game="ny-numbers"}`:                       1,
			`lottery_webhook_inbox_waiting`:                                                     0,
			`lottery_outbox_dead`:                                                               0,
			`lottery_ready`:                                                                     1,
			`lottery_quota_store_away`:                                                          0,
			`lottery_game_newest_draw_timestamp_seconds{feed="ny-open-data",game="ny-numbers"}`: 1709164800,
			`lottery_http_connections_closed_total{reason="waiting"}`:                           0,
			`lottery_http_requests_shed_total{reason="places"}`:                                 0,
			`lottery_http_request_duration_seconds_count{route="/status"}`:                      0, // known before the first
		} {
			if value, ok := got[series]; !ok || value != want {
				t.Errorf("%s: %v %v, want %v", series, value, ok, want)
			}
		}
		for _, series := range []string{"go_goroutines", "process_resident_memory_bytes", "lottery_catalog_build_seconds", "lottery_catalog_data_version", "lottery_http_connections"} {
			if got[series] == 0 {
				t.Errorf("%s is 0 or missing", series)
			}
		}
		if text := p.scrape(t); strings.Contains(text, free[:12]) || strings.Contains(text, pro[:12]) || strings.Contains(text, "metrics@") || regexp.MustCompile(`acc_|key_`).MatchString(text) {
			t.Errorf("a customer is named:\n%s", text)
		}
	})
}

// A database that is away does not make a scrape fail: its numbers are left out, and a metric says so.
func TestMetricsWithoutDatabase(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	p := start(t, t.TempDir(), serveArgs(server.NewDatabase(t), "--ops-listen", "127.0.0.1:0")...)
	server.Stop()
	got := p.metrics(t)
	if up, told := got["lottery_database_up"]; !told || up != 0 {
		t.Errorf("lottery_database_up: %v %v", up, told)
	}
	if _, told := got["lottery_outbox_waiting"]; told {
		t.Error("lottery_outbox_waiting is told without the database")
	}
	if _, told := got["lottery_catalog_draws"]; !told {
		t.Error("lottery_catalog_draws is in memory, and not told")
	}
	if got := p.metrics(t)["lottery_ready"]; got != 1 {
		t.Errorf("lottery_ready: %v", got)
	}
}

// The operator's listener has Go's profiles. The flags may contain a password: it does not reveal them.
func TestProfilesTellNoFlags(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), serveArgs("sqlite:data/topsecret.db", "--ops-listen", "127.0.0.1:0")...)
	for _, path := range []string{"/debug/pprof/cmdline", "/debug/pprof/", "/debug/pprof/goroutine?debug=2", "/debug/pprof/symbol", "/debug/pprof/trace?seconds=0.01", "/debug/pprof/profile?seconds=1"} {
		if text := p.ops(t, path); strings.Contains(text, "topsecret") {
			t.Errorf("%s: %s", path, text)
		}
	}
}
