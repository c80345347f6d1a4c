package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

const countedPath = "/v1/games" // needs no draws

// fleet is some servers behind a round robin.
type fleet struct {
	mu     sync.Mutex
	nodes  []*process
	next   atomic.Int64
	client *http.Client
}

func newFleet(t testing.TB, n int, args []string) *fleet {
	t.Helper()
	f := &fleet{nodes: make([]*process, n)}
	for i := range f.nodes {
		f.nodes[i] = start(t, t.TempDir(), args...)
	}
	transport := &http.Transport{MaxIdleConns: 2000, MaxIdleConnsPerHost: 1000}
	f.client = &http.Client{Transport: transport, Timeout: 30 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	return f
}

func (f *fleet) base(i int64) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes[i%int64(len(f.nodes))].base
}

func (f *fleet) replace(i int, p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[i] = p
}

// lost is the status of a request that got no answer.
const lost = 0

// send asks one server for path with key; the body is read whole.
func (f *fleet) send(base, method, path, key string, header http.Header) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, base+path, nil)
	if err != nil {
		return nil, nil, err
	}
	if header != nil {
		r.Header = header
	}
	if key != "" {
		r.Header.Set("X-Api-Key", key)
	}
	res, err := f.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, body, err
}

// ask sends n requests over the servers and counts the answers by their status.
func (f *fleet) ask(t testing.TB, key string, n, concurrent int) map[int]int {
	t.Helper()
	var mu sync.Mutex
	got := map[int]int{}
	var group sync.WaitGroup
	var sent atomic.Int64
	for range concurrent {
		group.Go(func() {
			for sent.Add(1) <= int64(n) {
				status := lost
				if res, _, err := f.send(f.base(f.next.Add(1)), http.MethodGet, countedPath, key, nil); err == nil {
					status = res.StatusCode
				}
				mu.Lock()
				got[status]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for status := range got {
		if status != lost && status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Errorf("%d answers of status %d", got[status], status)
		}
	}
	return got
}

// fill sends requests until total of the account's day are served; more may come meanwhile, as blocks come home.
func (f *fleet) fill(t testing.TB, key string, served, total int) int {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for served < total && time.Now().Before(deadline) {
		n := f.ask(t, key, 60, 8)[http.StatusOK]
		if served += n; n == 0 {
			time.Sleep(50 * time.Millisecond) // blocks come home by the servers' own clocks
		}
	}
	return served + f.ask(t, key, 300, 16)[http.StatusOK]
}

// awayFromMidnight waits for the new day if the present one is about to end.
func awayFromMidnight(t testing.TB) {
	t.Helper()
	now := time.Now().UTC()
	if left := now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now); left < 2*time.Minute {
		time.Sleep(left + 2*time.Second)
	}
}

// usedToday is what the database's counter of the only account with email says.
func usedToday(t *testing.T, url, email string) int {
	t.Helper()
	var used int
	counters := "quota_counters"
	if strings.HasPrefix(url, "sqlite:") { // of a counter that the log names, its newest row tells
		counters = `(SELECT account_id, period_start, used, max(id) FROM (
			SELECT account_id, period_start, used, 0 AS id FROM quota_counters UNION ALL
			SELECT value->>'a', value->>'s', value->>'u', quota_log.id FROM quota_log, json_each(counters)) GROUP BY 1, 2)`
	}
	query := "SELECT COALESCE(SUM(q.used), 0) FROM " + counters + " q JOIN accounts a ON a.id = q.account_id WHERE a.email = '" + email + "'"
	if err := open(t, url).QueryRowContext(context.Background(), query).Scan(&used); err != nil {
		t.Fatal(err)
	}
	return used
}

// setPlan changes an account and tells when that was done.
func setPlan(t *testing.T, url string, args ...string) time.Time {
	t.Helper()
	if out, code := admin(t, url, append([]string{"accounts"}, args...)...); code != 0 {
		t.Fatalf("accounts %v: %d %s", args, code, out)
	}
	return time.Now()
}

// eachCounters runs test with the arguments of servers on PostgreSQL, that count there and in Redis.
func eachCounters(t *testing.T, test func(t *testing.T, url string, args []string, redis bool)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) {
		url := storetest.NewPostgres(t)
		test(t, url, serveArgs(url), false)
	})
	t.Run("redis", func(t *testing.T) {
		url := storetest.NewPostgres(t)
		test(t, url, serveArgs(url, "--redis-url", storetest.NewRedis(t).URL()), true)
	})
}

func TestQuotaOverThreeNodes(t *testing.T) {
	t.Parallel()
	awayFromMidnight(t)
	eachCounters(t, func(t *testing.T, url string, args []string, redis bool) {
		f := newFleet(t, 3, args)
		free, pro := newKey(t, url, "free@example.com"), newKey(t, url, "pro@example.com", "--plan", "pro")

		if got := f.ask(t, free, 1000, 1000); got[http.StatusOK] != 100 || got[http.StatusTooManyRequests] != 900 {
			t.Fatalf("1,000 concurrent requests on the Free plan: %v, want 100 of 200 and 900 of 429", got)
		}
		served := f.ask(t, pro, 10_500, 64)[http.StatusOK]
		if served > 10_000 || (redis && served != 10_000) {
			t.Fatalf("10,500 requests on the Pro plan: %d served", served)
		}
		t.Logf("10,500 requests on the Pro plan: %d served at once", served)
		if served = f.fill(t, pro, served, 10_000); served != 10_000 {
			t.Errorf("the Pro plan's day: %d served", served)
		}

		// An upgrade and a downgrade of an account whose day is used up.
		within := func(what string, done time.Time, ok func(base string) bool) {
			t.Helper()
			for _, n := range f.nodes {
				waitUntil(t, what, func() bool { return ok(n.base) })
			}
			if took := time.Since(done); took > 2*time.Second {
				t.Errorf("%s: effective on every node after %s", what, took)
			}
		}
		used := 100
		within("the upgrade", setPlan(t, url, "set-plan", "free@example.com", "pro"), func(base string) bool {
			res, _, err := f.send(base, http.MethodGet, countedPath, free, nil)
			if err != nil || res.StatusCode != http.StatusOK {
				return false
			}
			// What another node holds in advance counts as used: exact for the first, then at most.
			used++
			left, err := strconv.Atoi(res.Header.Get("X-Ratelimit-Remaining"))
			if most := 10_000 - used; err != nil || left > most || left < most-2*10_000/16 || ((redis || used == 101) && left != most) {
				t.Errorf("request %d after the upgrade: %d remain (%v)", used, left, err)
			}
			return true
		})
		used += f.ask(t, free, 200, 8)[http.StatusOK]
		if used != 303 {
			t.Errorf("%d served, want 303", used)
		}
		within("the downgrade", setPlan(t, url, "set-plan", "free@example.com", "free"), func(base string) bool {
			res, _, err := f.send(base, http.MethodGet, countedPath, free, nil)
			if err == nil && res.StatusCode == http.StatusOK {
				used++
			}
			return err == nil && res.StatusCode == http.StatusTooManyRequests
		})
		within("a limit of its own", setPlan(t, url, "set-limit", "free@example.com", "1000"), func(base string) bool {
			res, _, err := f.send(base, http.MethodGet, countedPath, free, nil)
			if err == nil && res.StatusCode == http.StatusOK {
				used++
				return true
			}
			return false
		})
		if used = f.fill(t, free, used, 1000); used != 1000 {
			t.Errorf("a limit of 1,000: %d served", used)
		}
		f.client.CloseIdleConnections()
		for _, n := range f.nodes {
			_ = n.cmd.Process.Signal(syscall.SIGTERM)
		}
		for _, n := range f.nodes {
			<-n.exited
			if code := n.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit code %d\n%s", code, n.stderr)
			}
		}
		if !redis {
			if got, gotPro := usedToday(t, url, "free@example.com"), usedToday(t, url, "pro@example.com"); got != 1000 || gotPro != 10_000 {
				t.Errorf("the database counts %d and %d", got, gotPro)
			}
		}
	})
}

// The plan is lowered while requests run: each node refuses within two seconds, and nothing is served above the
// higher limit before, or the lower one after.
func TestDowngradeInFlight(t *testing.T) {
	t.Parallel()
	awayFromMidnight(t)
	url := storetest.NewPostgres(t)
	f := newFleet(t, 3, serveArgs(url))
	key := newKey(t, url, "dev@example.com", "--plan", "pro")
	var served atomic.Int64
	var stop atomic.Bool
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			for !stop.Load() {
				served.Add(int64(f.ask(t, key, 1, 1)[http.StatusOK]))
				time.Sleep(2 * time.Millisecond) // slowly, so that the day is not used up
			}
		})
	}
	waitUntil(t, "some requests", func() bool { return served.Load() > 300 })
	done := setPlan(t, url, "set-plan", "dev@example.com", "free")
	time.Sleep(time.Until(done.Add(2 * time.Second))) // what is promised
	after := served.Load()
	time.Sleep(300 * time.Millisecond)
	if late := served.Load() - after; late > 6 { // those that were under way
		t.Errorf("%d served later than two seconds after the downgrade", late)
	}
	setPlan(t, url, "set-plan", "dev@example.com", "pro")
	before := served.Load()
	waitUntil(t, "the upgrade", func() bool { return served.Load() > before+50 })
	stop.Store(true)
	group.Wait()
	total := f.fill(t, key, int(served.Load()), 10_000)
	if total != 10_000 {
		t.Errorf("served %d in all", total)
	}
}

// A node dies in the middle and another takes its place: never above the limit, and no more is lost than the block
// that it held and the answers that did not arrive.
func TestQuotaOverKilledNodes(t *testing.T) {
	t.Parallel()
	awayFromMidnight(t)
	eachCounters(t, func(t *testing.T, url string, args []string, redis bool) {
		const limit, workers = 3000, 32
		f := newFleet(t, 3, args)
		key := newKey(t, url, "dev@example.com", "--plan", "pro")
		setPlan(t, url, "set-limit", "dev@example.com", strconv.Itoa(limit))
		time.Sleep(time.Second) // until every node has it
		var got map[int]int
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			got = f.ask(t, key, 5000, workers)
		}()
		waitUntil(t, "the first third", func() bool { return f.next.Load() > limit/3 })
		killed := f.nodes[0]
		_ = killed.cmd.Process.Kill()
		<-killed.exited
		f.replace(0, start(t, t.TempDir(), args...))
		<-ended
		served := got[http.StatusOK]
		if served > limit {
			t.Fatalf("served %d of a limit of %d", served, limit)
		}
		time.Sleep(2500 * time.Millisecond) // idle blocks come home
		served += f.ask(t, key, 500, 16)[http.StatusOK]
		forfeited := limit / 16
		if redis {
			forfeited = 0
		}
		if least := limit - forfeited - min(workers, got[lost]); served > limit || served < least {
			t.Errorf("served %d of a limit of %d, want at least %d", served, limit, least)
		}
		t.Logf("served %d; %d got no answer", served, got[lost])
	})
}

func TestQuotaOnOneSQLiteNode(t *testing.T) {
	t.Parallel()
	awayFromMidnight(t)
	url := storetest.URL(t)
	f := newFleet(t, 1, serveArgs(url))
	key := newKey(t, url, "a@example.com")
	if got := f.ask(t, key, 1000, 1000); got[http.StatusOK] != 100 || got[http.StatusTooManyRequests] != 900 {
		t.Fatalf("1,000 concurrent requests: %v, want 100 of 200 and 900 of 429", got)
	}

	// SIGTERM in the middle: what was held in advance is home, and the counter is what was served.
	large := newKey(t, url, "b@example.com", "--plan", "pro")
	served := f.ask(t, large, 1500, 16)[http.StatusOK]
	ended := make(chan map[int]int)
	go func() { ended <- f.ask(t, large, 1500, 16) }()
	time.Sleep(50 * time.Millisecond)
	if code := f.nodes[0].stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, f.nodes[0].stderr)
	}
	got := <-ended
	served += got[http.StatusOK]
	if count := usedToday(t, url, "b@example.com"); count < served || count > served+16 { // an answer may be lost on its way
		t.Errorf("after SIGTERM the database counts %d, served were %d", count, served)
	}

	// kill -9, twenty times, with requests under way.
	small := newKey(t, url, "c@example.com")
	served, unanswered := 0, 0
	for round := range 20 {
		f.replace(0, start(t, t.TempDir(), serveArgs(url)...))
		node := f.nodes[0]
		died := make(chan struct{})
		go func() {
			defer close(died)
			time.Sleep(time.Duration(2*(round%10)) * time.Millisecond)
			_ = node.cmd.Process.Kill()
			<-node.exited
		}()
		got := f.ask(t, small, 6, 2)
		served, unanswered = served+got[http.StatusOK], unanswered+got[lost]
		<-died
	}
	f.replace(0, start(t, t.TempDir(), serveArgs(url)...))
	rest := f.ask(t, small, 200, 8)[http.StatusOK]
	t.Logf("20 kills: %d served between, %d got no answer; %d afterwards", served, unanswered, rest)
	if served+rest > 100 || served+rest+unanswered < 100 {
		t.Errorf("%d served in all, %d got no answer", served+rest, unanswered)
	}
	if count := usedToday(t, url, "c@example.com"); count != 100 {
		t.Errorf("the database counts %d", count)
	}
}

// rates is the rate headers of an answer.
type rates struct{ policy, left, limit, remaining, reset string }

func ratesOf(h http.Header) rates {
	return rates{h.Get("Ratelimit-Policy"), h.Get("Ratelimit"), h.Get("X-Ratelimit-Limit"), h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Reset")}
}

func TestRateHeaders(t *testing.T) {
	t.Parallel()
	awayFromMidnight(t)
	url := storetest.URL(t)
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

// checkRates checks that an answer's rate headers agree with each other, and gives the seconds to midnight.
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
