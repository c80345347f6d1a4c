package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

var curlLine = regexp.MustCompile(`(?m)^ +(curl .*)$`)

// The first start and every later one print the same keys, and a curl line that works when pasted.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var keys []string
	for range 3 {
		p := startDemo(t, dir)
		out := p.stdout.String()
		found := regexp.MustCompile(`ldk_[0-9A-Za-z]{38}`).FindAllString(out, -1)
		if len(found) != 3 || (keys != nil && strings.Join(found, " ") != strings.Join(keys, " ")) {
			t.Fatalf("keys %v, before %v", found, keys)
		}
		keys = found
		paste(t, curlLine.FindStringSubmatch(out)[1])
		for i, want := range []string{"100", "10000"} { // Free, Pro
			if status, limit, _ := call(t, p.base, keys[i]); status != http.StatusOK || limit != want {
				t.Errorf("key %d: %d, limit %s", i, status, limit)
			}
		}
		if log := p.stderr.String(); strings.Contains(log, `"INFO"`) || strings.Contains(log, "public_url") {
			t.Errorf("a newcomer need not read:\n%s", log)
		}
		if code := p.stop(t); code != 0 {
			t.Fatalf("exit code %d\n%s", code, p.stderr)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "data", "demo-keys"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("demo-keys: %v %v", info, err)
	}

	// New keys replace a lost file of keys, and a revoked key.
	if err := os.Remove(filepath.Join(dir, "data", "demo-keys")); err != nil {
		t.Fatal(err)
	}
	p := startDemo(t, dir)
	paste(t, curlLine.FindStringSubmatch(p.stdout.String())[1])
	if status, _ := p.get(t, "/v1/games", keys[0]); status != http.StatusUnauthorized {
		t.Errorf("a key that nobody can know any more: %d", status)
	}
	p.stop(t)

	refused := launch(t, dir, serveArgs("sqlite:data/demo.db")...)
	<-refused.exited
	if code := refused.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(refused.stderr.String(), "belongs to the demo") {
		t.Errorf("serve on the demo's database: %d %s", code, refused.stderr)
	}
}

func startDemo(t *testing.T, dir string) *process {
	t.Helper()
	return demoReady(t, launch(t, dir, "demo", "--listen", "127.0.0.1:0"))
}

// demoReady waits until p has printed how to call it.
func demoReady(t *testing.T, p *process) *process {
	t.Helper()
	storetest.Until(t, "the demo to be ready", func() bool {
		select {
		case <-p.exited:
			t.Fatalf("the demo ended:\n%s", p.stderr)
		default:
		}
		return strings.Contains(p.stdout.String(), "Ctrl-C")
	})
	p.base = regexp.MustCompile(`http://localhost:\d+`).FindString(p.stdout.String())
	return p
}

// If another program has the usual port, LOTTERY_LISTEN names another, for `make run` too. Nothing else that the
// environment may hold for a real server reaches the demo.
func TestDemoListensWhereItIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"LOTTERY_LISTEN=127.0.0.1:0", "LOTTERY_DATABASE_URL=sqlite:real.db", "LOTTERY_PUBLIC_URL=https://real.example"}
	p := demoReady(t, launchWith(t, dir, env, "demo"))
	if p.base == "http://localhost:8080" {
		t.Fatalf("LOTTERY_LISTEN is not heeded:\n%s", p.stdout)
	}
	paste(t, curlLine.FindStringSubmatch(p.stdout.String())[1])
	if _, err := os.Stat(filepath.Join(dir, "real.db")); err == nil {
		t.Error("the demo opened the database of the environment")
	}
	taken := strings.TrimPrefix(p.base, "http://localhost:")
	for _, c := range []struct {
		listen, flag, want string
	}{
		{"127.0.0.1:" + taken, "", "is another server running? Stop it, or set listen (LOTTERY_LISTEN) to another address"},
		{"127.0.0.1:0", "127.0.0.1:" + taken, "is another server running?"},
		{"8090", "", `LOTTERY_LISTEN: must be host:port, such as 127.0.0.1:8080, not "8090"`},
	} {
		folder := t.TempDir()
		args := []string{"demo", "--data", folder}
		if c.flag != "" {
			args = append(args, "--listen", c.flag)
		}
		refused := launchWith(t, dir, []string{"LOTTERY_LISTEN=" + c.listen}, args...)
		<-refused.exited
		if !strings.Contains(refused.stderr.String(), c.want) {
			t.Errorf("%+v: %s%s", c, refused.stdout, refused.stderr)
		}
		if made, err := os.ReadDir(folder); err != nil || len(made) > 0 {
			t.Errorf("%+v: a demo that could not start left %v (%v)", c, made, err)
		}
	}
}

// The demo starts, and its keys work, even if somebody made all keys that Free allows, revoked the demo's and suspended
// the account: otherwise there would be no page to revoke one on.
func TestDemoStartsWithoutAPlaceForItsKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startDemo(t, dir)
	demo := regexp.MustCompile(`ldk_[0-9A-Za-z]{38}`).FindString(p.stdout.String())
	p.stop(t)
	url := "sqlite:" + filepath.Join(dir, "data", "demo.db")
	if out, code := admin(t, url, "keys", "revoke", demo[:12], "--yes"); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	own := []string{newKey(t, url, "free@demo.example"), newKey(t, url, "free@demo.example")}
	if out, code := admin(t, url, "accounts", "suspend", "free@demo.example", "--yes"); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	p = startDemo(t, dir)
	paste(t, curlLine.FindStringSubmatch(p.stdout.String())[1])
	for _, key := range own {
		if status, body := p.get(t, "/v1/games", key); status != http.StatusOK {
			t.Errorf("a key that the account made itself: %d %s", status, body)
		}
	}
}

// The printed curl line works even if an earlier start used up Free's requests for the day.
func TestDemoCurlLineWhenFreeHasUsedItsDay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startDemo(t, dir)
	free := regexp.MustCompile(`ldk_[0-9A-Za-z]{38}`).FindString(p.stdout.String())
	for range 100 {
		if status, body := p.get(t, "/v1/games", free); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	p.stop(t)
	p = startDemo(t, dir)
	paste(t, curlLine.FindStringSubmatch(p.stdout.String())[1])
}

func paste(t *testing.T, line string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", line+" -sS --fail").Output()
	if err != nil || !strings.Contains(string(out), `"number_str"`) {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func TestDemoRefusesADatabaseOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storetest.OpenURL(t, "sqlite:"+filepath.Join(dir, "data", "demo.db"), store.Options{})
	p := launch(t, dir, "demo", "--listen", "127.0.0.1:0")
	<-p.exited
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.stderr.String(), "was not created by the demo") {
		t.Errorf("%d %s", code, p.stderr)
	}
}

// A key in the demo's file that would be refused, or is of another account, is replaced.
func TestDemoKeysThatDoNotWork(t *testing.T) {
	t.Parallel()
	st, ctx := storetest.Open(t), t.Context()
	made, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: demoAccounts[0].email, Name: demoKeyName, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if !works(ctx, st, made.Secret, demoAccounts[0].email) {
		t.Error("a new key does not work")
	}
	if works(ctx, st, made.Secret, demoAccounts[1].email) {
		t.Error("the key of another account works")
	}
	if _, err := st.SetAccountStatus(ctx, made.Account.ID, models.AccountSuspended); err != nil {
		t.Fatal(err)
	}
	if works(ctx, st, made.Secret, demoAccounts[0].email) {
		t.Error("the key of a suspended account works")
	}
}
