package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/configs"
	"lottery/models/store"
)

func TestJudgeDisk(t *testing.T) {
	t.Parallel()
	const mb, gb = 1 << 20, 1 << 30
	for _, c := range []struct {
		free, database, log uint64
		want                status
	}{
		{100 * gb, gb, 4 * mb, statusOK}, {2 * gb, 100 * mb, 0, statusOK}, {900 * mb, mb, 0, statusWarning}, {3 * gb, 2 * gb, 0, statusWarning},
		{63 * mb, 0, 0, statusFailed}, {0, 0, 0, statusFailed}, {gb, 20 * gb, 0, statusFailed},
		{100 * gb, gb, gb, statusOK}, {100 * gb, gb, 2 * gb, statusWarning}, {63 * mb, 0, 2 * gb, statusFailed},
	} {
		f := judgeDisk("/var/lib/lottery", c.free, c.database, c.log)
		if f.Status != c.want || (f.Remedy == nil) != (c.want == statusOK) {
			t.Errorf("%d free, database of %d: %+v", c.free, c.database, f)
		}
		if names := strings.Contains(f.Found, "its log 2147 MB"); names != (c.log == 2*gb) {
			t.Errorf("a log of %d: %+v", c.log, f)
		}
	}
}

// A full disk is no damage: no backup is needed, and no right is missing.
func TestDoctorOfAFullDisk(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"sqlite:lottery.db", "postgres:///lottery"} {
		p := patient{call: &call{cfg: configs.Config{DatabaseURL: url}}}
		if got := p.broken(store.ErrDiskFull); got.Status != statusFailed || !strings.Contains(got.Found, "disk is full") || !strings.HasPrefix(*got.Remedy, "remove what is not needed") {
			t.Errorf("%s: %+v", url, got)
		}
	}
}

func TestJudgeTemp(t *testing.T) {
	t.Parallel()
	for free, want := range map[uint64]status{0: statusWarning, 255 << 20: statusWarning, 256 << 20: statusOK} {
		if f := judgeTemp("/tmp", free); f.Status != want || (f.Remedy == nil) != (want == statusOK) {
			t.Errorf("%d free: %+v", free, f)
		}
	}
}

func TestJudgeClocks(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]status{
		0: statusOK, 59 * time.Second: statusOK, -59 * time.Second: statusOK, 61 * time.Second: statusFailed, -24 * time.Hour: statusFailed,
	} {
		if f := judgeClocks(map[string]time.Duration{"Redis": 0, "PostgreSQL": ahead}); f.Status != want {
			t.Errorf("%s ahead: %+v", ahead, f)
		}
	}
}

// The problems of a configuration are listed below the table, one per line, so that they do not widen the table. JSON
// and CSV have all of them in the finding itself.
func TestDoctorOfABadConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lottery.yaml")
	if err := os.WriteFile(file, []byte("listen: 8080\nlog_level: loud\npublic_url: draws.example.com\nmax_in_flight: many\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	examine := func(form string) string {
		t.Helper()
		var out, messages strings.Builder
		code := Run(t.Context(), []string{"doctor", "--config", file, "--database-url", "sqlite:" + filepath.Join(t.TempDir(), "no.db"), "-o", form},
			Env{Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &messages})
		if code != exitFailed {
			t.Fatalf("exit code %d: %s%s", code, out.String(), messages.String())
		}
		return out.String()
	}
	table, below, _ := strings.Cut(examine(formTable), "\n\nCONFIGURATION\n")
	if !strings.Contains(table, "the configuration has 4 problem(s); see below") || strings.Contains(table, "log_level") {
		t.Errorf("the table:\n%s", table)
	}
	lines := strings.Split(strings.TrimSuffix(below, "\n"), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[1], file+": log_level: must be debug, info, warn or error") {
		t.Errorf("%d lines below it:\n%s", len(lines), below)
	}
	for _, form := range []string{formJSON, formCSV} {
		if got := examine(form); strings.Contains(got, "see below") || strings.Count(got, file+": ") < 4 {
			t.Errorf("%s: %s", form, got)
		}
	}
}

// If the configuration would send a live key to a URL other than Stripe's, the doctor does not send it either.
func TestDoctorSendsALiveKeyToStripeAlone(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	database := "sqlite:" + filepath.Join(t.TempDir(), "lottery.db")
	for _, key := range []string{"sk_test_a", "sk_live_a", "rk_live_a"} {
		before := asked.Load()
		run := func(args ...string) (code int, out string) {
			var text strings.Builder
			set := map[string]string{"LOTTERY_STRIPE_SECRET_KEY": key, "LOTTERY_STRIPE_API_URL": elsewhere.URL}
			code = Run(t.Context(), append(args, "--database-url", database), Env{
				Getenv: func(name string) string { return set[name] }, Stdin: strings.NewReader(""), Stdout: &text, Stderr: &text,
			})
			return code, text.String()
		}
		if strings.HasPrefix(key, "sk_test_") {
			if code, out := run("db", "migrate"); code != 0 {
				t.Fatalf("%d %s", code, out)
			}
		}
		code, out := run("doctor")
		if live := !strings.HasPrefix(key, "sk_test_"); code != exitFailed || (asked.Load() == before) != live || strings.Contains(out, key) {
			t.Errorf("%s: %d, asked %d times\n%s", key, code, asked.Load()-before, out)
		}
	}
}

// A variable that looks like an option but is none is reported: its owner would mistake the default for what was set.
// If the configuration has problems, it is listed among them, since it may be the cause.
func TestDoctorNamesMisspeltVariables(t *testing.T) {
	t.Parallel()
	const stray = "LOTTERY_STRIPE_WEBHOK_SECRET is set, but there is no such option; did you mean LOTTERY_STRIPE_WEBHOOK_SECRET?"
	for level, want := range map[string]status{"info": statusWarning, "loud": statusFailed} {
		var out strings.Builder
		Run(t.Context(), []string{"doctor", "-o", "json", "--database-url", "sqlite:" + filepath.Join(t.TempDir(), "no.db")}, Env{
			Getenv:  func(name string) string { return map[string]string{"LOTTERY_LOG_LEVEL": level}[name] },
			Environ: []string{"LOTTERY_LOG_LEVEL=" + level, "LOTTERY_STRIPE_WEBHOK_SECRET=whsec_x", "LOTTERY_OPERATOR=ada"},
			Stdin:   strings.NewReader(""), Stdout: &out, Stderr: io.Discard,
		})
		var list []finding
		if err := json.Unmarshal([]byte(out.String()), &list); err != nil || len(list) == 0 {
			t.Fatalf("%v: %s", err, out.String())
		}
		if f := list[0]; f.Check != "configuration" || f.Status != want || !strings.Contains(f.Found, stray) || strings.Contains(out.String(), "whsec_x") {
			t.Errorf("%s: %+v", level, f)
		}
	}
}
