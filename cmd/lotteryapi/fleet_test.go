package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

const countedPath = "/v1/games" // needs no draws

// fleet is a set of servers behind a round robin.
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

// lost stands for the status of a request without a response.
const lost = 0

// send requests path from one server with key, and reads the whole body.
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

// ask spreads n requests over the servers, and counts the responses by status.
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

// fill sends requests until total of the account's day are served; there may be more to serve meanwhile, as nodes
// return blocks.
func (f *fleet) fill(t testing.TB, key string, served, total int) int {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for served < total && time.Now().Before(deadline) {
		n := f.ask(t, key, 60, 8)[http.StatusOK]
		if served += n; n == 0 {
			time.Sleep(50 * time.Millisecond) // servers return blocks by their own clocks
		}
	}
	return served + f.ask(t, key, 300, 16)[http.StatusOK]
}

// usedToday returns what the database's counter says about the only account with email.
func usedToday(t *testing.T, url, email string) int {
	t.Helper()
	var used int
	counters := "quota_counters"
	if strings.HasPrefix(url, "sqlite:") { // if the log names a counter, its newest row counts
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

// setPlan changes an account and returns when that was done.
func setPlan(t *testing.T, url string, args ...string) time.Time {
	t.Helper()
	if out, code := admin(t, url, append([]string{"accounts"}, args...)...); code != 0 {
		t.Fatalf("accounts %v: %d %s", args, code, out)
	}
	return time.Now()
}

// eachCounters runs test with the arguments of servers on PostgreSQL, once counting there and once in Redis.
func eachCounters(t *testing.T, test func(t *testing.T, url string, args []string, redis bool)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) {
		url := storetest.EmptyPostgres(t)
		test(t, url, serveArgs(url), false)
	})
	t.Run("redis", func(t *testing.T) {
		url := storetest.EmptyPostgres(t)
		test(t, url, serveArgs(url, "--redis-url", storetest.NewRedis(t).URL()), true)
	})
}
