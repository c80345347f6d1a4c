package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"lottery/models"
	"lottery/models/store/storetest"
)

// How the yardsticks are measured: interleaved rounds, so that a machine that gets slower slows all alike.
const (
	benchRounds      = 5
	benchSeconds     = 3
	benchConnections = 32
	benchPath        = "/v1/draws/recent?game=bench-pick-4"
)

// BenchmarkYardsticks measures the ten-draw recent against a bare handler and against SQL for every request.
// `make bench` runs it; the table goes to standard output.
func BenchmarkYardsticks(b *testing.B) {
	if _, err := exec.LookPath("wrk"); err != nil {
		b.Skip("wrk is not installed: sudo apt-get install -y wrk")
	}
	sqlite, postgres := storetest.URL(b), storetest.NewPostgres(b)
	key := fillBench(b, sqlite)
	keyPostgres := fillBench(b, postgres)
	product := start(b, b.TempDir(), serveArgs(sqlite)...)
	answer := product.answer(b, benchPath, key)
	subjects := []subject{
		{name: "product", base: product.base, key: key},
		{name: "bare", base: startYardstick(b, "bare", "", answer), key: key},
		{name: "per request, SQLite", base: startYardstick(b, "sql", sqlite, answer), key: key},
		{name: "per request, PostgreSQL", base: startYardstick(b, "sql", postgres, answer), key: keyPostgres},
	}
	for _, s := range subjects[1:] {
		if got := fetch(b, s.base+benchPath, s.key); !bytes.Equal(got.body, answer.body) {
			b.Fatalf("%s does not give the same answer:\n%s\n%s", s.name, got.body, answer.body)
		}
	}
	var rates, tails map[string][]float64
	for b.Loop() {
		rates, tails = measure(b, subjects)
	}
	report(os.Stdout, benchPath, subjects, "bare", rates, tails)
	b.ReportMetric(median(ratios(rates["product"], rates["bare"])), "of-bare")
	b.ReportMetric(median(ratios(rates["product"], rates["per request, SQLite"])), "x-per-request")
}

// subject is one server under load, with one key, or with a file of them.
type subject struct {
	name, base, key, keys string
	seconds               int // of one round; 0 = benchSeconds
	warm                  int // seconds of load before each round, not counted
}

// measure loads the subjects in turn.
func measure(b *testing.B, subjects []subject) (rates, tails map[string][]float64) {
	b.Helper()
	rates, tails = map[string][]float64{}, map[string][]float64{}
	for range benchRounds {
		for _, s := range subjects {
			if s.warm > 0 {
				pressure(b, subject{name: s.name, base: s.base, key: s.key, keys: s.keys, seconds: s.warm})
			}
			rate, p99 := pressure(b, s)
			rates[s.name] = append(rates[s.name], rate)
			tails[s.name] = append(tails[s.name], p99)
		}
	}
	return rates, tails
}

// fillBench imports ten years of a game, twice a day, and gives a key that will not run out.
func fillBench(b *testing.B, url string) string {
	b.Helper()
	if out, code := admin(b, url, "games", "add", "--id", "bench-pick-4", "--name", "Bench Pick 4", "--digits", "4",
		"--tods", "Midday,Evening", "--jurisdiction", "XX", "--timezone", "UTC"); code != 0 {
		b.Fatalf("games add: %d %s", code, out)
	}
	var text strings.Builder
	text.WriteString("game,date,tod,number\n")
	for i := range 7300 {
		fmt.Fprintf(&text, "bench-pick-4,%s,%s,%04d\n", models.NewDate(2016, 1, 1)+models.Date(i/2), []models.Tod{models.Midday, models.Evening}[i%2], i*7919%10000)
	}
	if out, code := admin(b, url, "draws", "import", "--feed", "csv", writeFile(b, text.String())); code != 0 {
		b.Fatalf("import: %d %s", code, out)
	}
	key := newKey(b, url, "bench@example.com")
	if out, code := admin(b, url, "accounts", "set-limit", "bench@example.com", "1000000000"); code != 0 {
		b.Fatalf("set-limit: %d %s", code, out)
	}
	return key
}

// captured is an answer with its headers.
type captured struct {
	header http.Header
	body   []byte
}

func (p *process) answer(t testing.TB, path, key string) captured { return fetch(t, p.base+path, key) }

func fetch(t testing.TB, url, key string) captured {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", key)
	r.Header.Set("Accept-Encoding", "identity")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", url, res.StatusCode, err, body)
	}
	return captured{res.Header, body}
}

// startYardstick runs this test binary as one of the yardsticks, a process of its own like the product.
func startYardstick(b *testing.B, kind, url string, answer captured) string {
	b.Helper()
	dir := b.TempDir()
	header, err := json.Marshal(answer.header)
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{"body": answer.body, "header": header} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), yardstickEnv+"="+kind, "YARDSTICK_DIR="+dir, "YARDSTICK_DATABASE="+url)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	base := ""
	waitUntil(b, "the yardstick "+kind, func() bool {
		addr, err := os.ReadFile(filepath.Join(dir, "addr"))
		base = "http://" + string(addr)
		return err == nil && len(addr) > 0
	})
	return base
}

var (
	wrkRate = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	wrkP99  = regexp.MustCompile(`99%\s+([0-9.]+)(us|ms|s)`)
)

// pressure is one round of wrk: requests a second, and the 99th percentile of latency in milliseconds.
func pressure(b *testing.B, s subject) (rate, p99 float64) {
	b.Helper()
	args := []string{"-t1", "-c" + strconv.Itoa(benchConnections), "-d" + strconv.Itoa(cmp.Or(s.seconds, benchSeconds)) + "s", "--latency"}
	if s.keys == "" {
		args = append(args, "-H", "X-API-Key: "+s.key)
	} else {
		script := filepath.Join(b.TempDir(), "rotate.lua")
		if err := os.WriteFile(script, []byte(rotate), 0o600); err != nil {
			b.Fatal(err)
		}
		args = append(args, "-s", script)
	}
	cmd := exec.Command("wrk", append(args, s.base+benchPath)...)
	cmd.Env = append(os.Environ(), "KEYS="+s.keys)
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("Non-2xx")) || bytes.Contains(out, []byte("Socket errors")) {
		b.Fatalf("%s: %v\n%s", s.name, err, out)
	}
	r, l := wrkRate.FindSubmatch(out), wrkP99.FindSubmatch(out)
	if r == nil || l == nil {
		b.Fatalf("cannot read wrk's words:\n%s", out)
	}
	rate, _ = strconv.ParseFloat(string(r[1]), 64)
	p99, _ = strconv.ParseFloat(string(l[1]), 64)
	return rate, p99 * map[string]float64{"us": 0.001, "ms": 1, "s": 1000}[string(l[2])]
}

// report prints a table; its ratios are to the subject named yardstick.
func report(w io.Writer, title string, subjects []subject, yardstick string, rates, tails map[string][]float64) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\n%s: %d connections, %d rounds of %d s, medians (lowest … highest)\n\n", title, benchConnections, benchRounds, cmp.Or(subjects[0].seconds, benchSeconds))
	fmt.Fprintf(t, "server\trequests/s\tp99 ms\tratio to %s\n", yardstick)
	for _, s := range subjects {
		r, q := rates[s.name], ratios(rates[s.name], rates[yardstick])
		fmt.Fprintf(t, "%s\t%.0f (%.0f … %.0f)\t%.2f\t%.3f (%.3f … %.3f)\n", s.name, median(r), slices.Min(r), slices.Max(r),
			median(tails[s.name]), median(q), slices.Min(q), slices.Max(q))
	}
	t.Flush()
	fmt.Fprintln(w)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// ratios compares round by round: neighbours in time saw the same machine.
func ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}
