package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lottery/models/store/storetest"
)

const watchingDocs = "../../docs/operations/"

// metricName matches a metric in a PromQL expression or in text.
var metricName = regexp.MustCompile(`\b(lottery|process|go)_[a-z0-9_]+\b`)

// exposed returns the names of the metrics of a server in which every part has been used.
func exposed(t *testing.T) []string {
	t.Helper()
	url := storetest.EmptyURL(t)
	p := start(t, t.TempDir(), serveArgs(url, "--ops-listen", "127.0.0.1:0")...)
	if out, code := admin(t, url, "draws", "import", "--feed", "csv", writeFile(t, twoDraws)); code != 0 {
		t.Fatalf("import: %d %s", code, out)
	}
	key := newKey(t, url, "dev@example.com")
	storetest.Until(t, "the import to show", func() bool { return total(t, p, key, "/v1/draws/recent?game=ny-numbers") == 2 })
	// As a sync leaves it.
	if _, err := open(t, url).ExecContext(context.Background(), `INSERT INTO feed_sources (feed, address, etag, last_modified, size, rejected, checked_at, succeeded_at, error)
		VALUES ('nc-lottery', 'https://www.nclottery.com/pick3-download', '', '', 1, '[]', '2026-01-02 03:04:05', '2026-01-02 03:04:05', '')`); err != nil {
		t.Fatal(err)
	}
	if out, code := admin(t, url, "jobs", "run", "cleanup"); code != 0 {
		t.Fatalf("jobs run: %d %s", code, out)
	}
	var names []string
	storetest.Until(t, "the job to show", func() bool {
		names = nil
		for line := range strings.Lines(p.scrape(t)) {
			if !strings.HasPrefix(line, "#") {
				names = append(names, metricName.FindString(line))
			}
		}
		return slices.Contains(names, "lottery_job_last_success_timestamp_seconds") && slices.Contains(names, "lottery_feed_last_success_timestamp_seconds")
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// The alert rules and the dashboard use only metrics that the server exposes, and the docs explain all that it exposes.
func TestWhatIsWatchedIsExposed(t *testing.T) {
	t.Parallel()
	names := exposed(t)
	for _, file := range []string{"alerts.yaml", "alerts_test.yaml", "dashboard.json"} {
		text, err := os.ReadFile(watchingDocs + file)
		if err != nil {
			t.Fatal(err)
		}
		wanted := metricName.FindAllString(string(text), -1)
		if len(wanted) < 10 {
			t.Errorf("%s asks for %d metrics", file, len(wanted))
		}
		for _, name := range wanted {
			if runtime.GOOS != "linux" && strings.HasPrefix(name, "process_") {
				continue
			}
			if !slices.Contains(names, name) {
				t.Errorf("%s asks for %s, which the server does not tell", file, name)
			}
		}
	}
	docs, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile(watchingDocs + "alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(watchingDocs + "alerts_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if strings.HasPrefix(name, "lottery_") && !strings.Contains(string(docs), name) {
			t.Errorf("docs/operations.md does not explain %s", name)
		}
	}
	for _, alert := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !strings.Contains(string(docs), "`"+alert[1]+"`") {
			t.Errorf("docs/operations.md does not say what to do about %s", alert[1])
		}
		if !regexp.MustCompile(`alertname: ` + alert[1] + `\b`).Match(tests) {
			t.Errorf("alerts_test.yaml does not say when %s fires, and when not", alert[1])
		}
	}
}

// dashboardPanel is the part of a Grafana panel that the test reads.
type dashboardPanel struct {
	Title   string
	Targets []struct{ Expr string }
}

// promtool finds nothing wrong: the rules alert when they should, and the dashboard's expressions can be read.
func TestPromtool(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("promtool"); err != nil {
		storetest.Missing(t, "promtool")
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("promtool", args...)
		cmd.Dir = watchingDocs
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
	run("check", "rules", "alerts.yaml")
	run("test", "rules", "alerts_test.yaml")

	text, err := os.ReadFile(watchingDocs + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct{ Panels []dashboardPanel }
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	fill := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	for i, p := range dashboard.Panels {
		for j, target := range p.Targets {
			fmt.Fprintf(&rules, "      - record: panel_%d_%d\n        expr: %q\n", i, j, fill.Replace(target.Expr))
		}
	}
	path := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(path, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run("check", "rules", path)
}
