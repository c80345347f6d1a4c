package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// open opens the desk's database, so that a test can write what servers write.
func (d *desk) open() *store.Store {
	d.t.Helper()
	return storetest.OpenURL(d.t, "sqlite:"+filepath.Join(d.dir, "lottery.db"), store.Options{Now: func() time.Time { return d.now }})
}

// used counts n requests on the current day, as a server does.
func used(t *testing.T, l quota.Backend, account string, n int64) {
	t.Helper()
	take := store.QuotaOp{Kind: store.QuotaTake, Key: account, Period: quota.Day, Need: n, Limit: 1_000_000}
	if _, _, err := l.ApplyQuota(context.Background(), []store.QuotaOp{take}); err != nil {
		t.Fatal(err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	st := d.open()
	ada := d.object("accounts", "create", "--email", "ada@example.com")["id"].(string)
	bob := d.object("accounts", "create", "--email", "bob@example.com", "--plan", "pro")["id"].(string)
	used(t, st, ada, 40)
	d.now = d.now.Add(20 * time.Hour) // the next UTC day
	used(t, st, ada, 130)
	today := models.DateOf(d.now)
	err := st.AddUsage(context.Background(), []models.UsageDay{
		{AccountID: ada, Day: today, Endpoint: "/v1/games", Class: 2, Requests: 100},
		{AccountID: ada, Day: today - 1, Endpoint: "/v1/games", Class: 2, Requests: 30},
		{AccountID: ada, Day: today - 1, Endpoint: "/v1/stats", Class: 4, Requests: 10},
		{AccountID: ada, Day: today - 3, Endpoint: "/v1/games", Class: 2, Requests: 9},
		{AccountID: bob, Day: today - 1, Endpoint: "/v1/games", Class: 2, Requests: 41},
	})
	if err != nil {
		t.Fatal(err)
	}

	out, _ := d.run(0, "usage", "show", "ada@example.com", "--days", "3", "-o", "json")
	want := `{"account_id":"` + ada + `","plan":"free","limit":100,"used":130,"remaining":0,"resets_at":"2026-03-06T00:00:00Z",` +
		`"days":[{"date":"2026-03-05","requests":130},{"date":"2026-03-04","requests":40},{"date":"2026-03-03","requests":0}],` +
		`"endpoints":[{"endpoint":"/v1/games","class":"2xx","requests":130},{"endpoint":"/v1/stats","class":"4xx","requests":10}]}`
	if got := compact(t, out); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	show := fmt.Sprint(d.object("accounts", "show", ada)["usage_today"])
	if show != "map[limit:100 remaining:0 resets_at:2026-03-06T00:00:00Z used:130]" {
		t.Error(show)
	}

	out, _ = d.run(0, "usage", "top", "--day", "2026-03-04", "-o", "json")
	want = `[{"account_id":"` + bob + `","email":"bob@example.com","plan":"pro","requests":41},` +
		`{"account_id":"` + ada + `","email":"ada@example.com","plan":"free","requests":40}]`
	if got := compact(t, out); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if out, _ = d.run(0, "usage", "top", "--day", "2026-03-04", "--limit", "1", "-o", "csv"); out != "account_id,email,plan,requests\n"+bob+",bob@example.com,pro,41\n" {
		t.Error(out)
	}
	if out, _ = d.run(0, "usage", "top"); !strings.Contains(out, ada) || strings.Contains(out, bob) {
		t.Errorf("today: %s", out)
	}
}

// Without the servers' redis_url, lotteryadmin looks at counters that nobody uses: the account would have all of its
// day left. The statistics tell.
func TestCountersThatNobodyUsesAreNoticed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	st := d.open()
	ada := d.object("accounts", "create", "--email", "ada@example.com")["id"].(string)
	today := models.DateOf(d.now)
	used(t, st, ada, 7)
	add := func(day models.Date, requests int64) {
		t.Helper()
		if err := st.AddUsage(context.Background(), []models.UsageDay{{AccountID: ada, Day: day, Endpoint: "/v1/games", Class: 2, Requests: requests}}); err != nil {
			t.Fatal(err)
		}
	}
	warned := func() bool {
		t.Helper()
		_, show := d.run(0, "usage", "show", ada)
		_, account := d.run(0, "accounts", "show", ada)
		const warning = " today, but the statistics have 8: if the servers count in Redis, lotteryadmin needs their redis_url."
		if a, b := strings.Contains(show, warning), strings.Contains(account, warning); a != b || (!a && show+account != "") {
			t.Fatalf("%q\n%q", show, account)
		}
		return strings.Contains(show, "Warning: the database has counted 7 requests of "+ada+warning)
	}
	if add(today-1, 8); warned() {
		t.Error("a warning about the requests of yesterday")
	}
	if add(today, 7); warned() {
		t.Error("a warning, although the numbers agree")
	}
	if add(today, 1); !warned() {
		t.Error("no warning, although the statistics have more requests than the counters")
	}
}

// Requests that are counted and written to the statistics while a command asks for both are no lost counts.
func TestCountedWhileACommandAsks(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	d, url := newDesk(t), storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	ada := storetest.Account(t, st, "ada@example.com").ID
	count := func() {
		_, _, err := st.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaTake, Key: ada, Period: quota.Day, Need: 1, Limit: 100}})
		day := models.UsageDay{AccountID: ada, Day: models.DateOf(time.Now().UTC()), Endpoint: "/v1/games", Class: 2, Requests: 1}
		if err := errors.Join(err, st.AddUsage(context.Background(), []models.UsageDay{day})); err != nil {
			t.Error(err)
		}
	}
	count()
	var once sync.Once
	d.database = storetest.PostgresAt(t, url, storetest.Link(t, storetest.PostgresSocket(t, url), func(net.Conn) (sent, answered func([]byte) bool) {
		return func(piece []byte) bool {
			if bytes.Contains(piece, []byte("usage_days")) {
				once.Do(count)
			}
			return true
		}, nil
	}))
	if out, messages := d.run(0, "accounts", "show", ada); messages != "" || !regexp.MustCompile(`USED +2\n`).MatchString(out) {
		t.Errorf("%s%s", out, messages)
	}
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return b.String()
}

// With counters in Redis, today's requests come from there; while Redis is down, an account can still be shown.
func TestUsageInRedis(t *testing.T) {
	t.Parallel()
	redis := storetest.NewRedis(t)
	d := newDesk(t)
	d.redis = redis.URL()
	ada := d.object("accounts", "create", "--email", "ada@example.com")["id"].(string)
	backend, err := quota.OpenRedis(redis.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	for try := 0; ; try++ { // retry if the day ended in between
		day := time.Now().UTC().YearDay()
		used(t, backend, ada, 7)
		show := d.object("usage", "show", ada)
		today := d.object("accounts", "show", ada)["usage_today"].(map[string]any)
		if show["used"] == 7.0 && show["days"].([]any)[0].(map[string]any)["requests"] == 7.0 && today["used"] == 7.0 && today["remaining"] == 93.0 {
			break
		}
		if try > 0 || time.Now().UTC().YearDay() == day {
			t.Fatalf("%v %v", show, today)
		}
	}
	redis.Stop()
	out, messages := d.run(0, "accounts", "show", ada, "-o", "json")
	if !strings.Contains(out, `"usage_today": null`) || !strings.Contains(messages, "Cannot read what the account used today") {
		t.Errorf("without Redis: %s%s", out, messages)
	}
	if _, messages = d.run(1, "usage", "show", ada); !strings.Contains(messages, "the quota counters are not responding") {
		t.Errorf("without Redis: %s", messages)
	}
}
