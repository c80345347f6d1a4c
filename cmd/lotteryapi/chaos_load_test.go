package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lottery/models"
)

const (
	chaosGame  = "chaos-pick-5"
	chaosDays  = 100 // of 2020, with two draws each
	chaosDraws = 2 * chaosDays
	// keyGrace is how long a revoked key may still work on a busy machine; the promise is 2 s.
	keyGrace = 10 * time.Second
)

// chaosAccount is one customer, and what the servers told it.
type chaosAccount struct {
	email  string
	limit  int64
	strict bool // sends nothing while the counters are away, so that its limit must hold without exception

	mu      sync.Mutex
	key     string
	revoked []revokedKey

	served, refused, lost atomic.Int64
}

type revokedKey struct {
	key  string
	done time.Time // when lotteryadmin said so
}

func (w *chaos) makeAccounts() {
	add := func(name string, limit int64, strict bool, plan string) {
		a := &chaosAccount{email: name + "@example.com", limit: limit, strict: strict}
		a.key = newKey(w.t, w.url, a.email, "--plan", plan)
		if limit != 100 && limit != 10_000 {
			if out, code := admin(w.t, w.url, "accounts", "set-limit", a.email, fmt.Sprint(limit)); code != 0 {
				w.t.Fatalf("set-limit: %s", out)
			}
		}
		w.accounts = append(w.accounts, a)
	}
	for i := range 3 {
		add(fmt.Sprint("free", i), 100, true, "free")
	}
	add("pro", 10_000, true, "pro")
	add("small", 2_000, true, "pro")
	add("loose", 3_000, false, "pro")
	add("changing", 10_000, false, "free")
	add("big", 1_000_000_000, false, "pro")
}

func (w *chaos) account(name string) *chaosAccount {
	i := slices.IndexFunc(w.accounts, func(a *chaosAccount) bool { return strings.HasPrefix(a.email, name) })
	return w.accounts[i]
}

// chaosLoad counts responses.
type chaosLoad struct {
	mu     sync.Mutex
	status map[int]int
}

func (l *chaosLoad) count(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status == nil {
		l.status = map[int]int{}
	}
	l.status[status]++
}

func (l *chaosLoad) report() {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := newTable("what clients saw", "answer", "requests")
	statuses := make([]int, 0, len(l.status))
	for status := range l.status {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		name := fmt.Sprint(status)
		if status == lost {
			name = "none: the server died"
		}
		t.add(name, fmt.Sprint(l.status[status]))
	}
	t.print()
}

// startLoad sends requests until stop is called.
func (w *chaos) startLoad() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			for ctx.Err() == nil {
				w.request()
				time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond)
			}
		})
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// request sends one request and checks its response.
func (w *chaos) request() {
	a := w.accounts[rand.IntN(len(w.accounts))]
	if a.strict {
		if !w.outage.TryRLock() {
			return
		}
		defer w.outage.RUnlock()
	}
	a.mu.Lock()
	key, dead := a.key, time.Time{}
	if n := len(a.revoked); n > 0 && rand.IntN(4) == 0 {
		key, dead = a.revoked[n-1].key, a.revoked[n-1].done
	}
	a.mu.Unlock()
	path := chaosPaths[rand.IntN(len(chaosPaths))]
	began := time.Now()
	away := time.Unix(0, w.dbAway.Load())
	res, body, err := w.fleet.send(w.balancer.base, http.MethodGet, path, key, nil)
	if err != nil || res.Header.Get(fromBalancer) != "" {
		a.lost.Add(1)
		w.load.count(lost)
		return
	}
	w.load.count(res.StatusCode)
	switch res.StatusCode {
	case http.StatusOK:
		a.served.Add(1)
		if !dead.IsZero() && began.Sub(dead) > keyGrace && began.Sub(away) > keyGrace {
			w.t.Errorf("a key works %s after it was revoked", began.Sub(dead))
		}
		w.look(path, body)
	case http.StatusTooManyRequests:
		a.refused.Add(1)
	case http.StatusUnauthorized:
		a.mu.Lock()
		revoked := key != a.key
		a.mu.Unlock()
		if !revoked {
			w.t.Errorf("%s: a live key was answered 401: %s", a.email, body)
		}
	case http.StatusServiceUnavailable:
		if res.Header.Get("Retry-After") == "" {
			w.t.Errorf("503 without Retry-After: %s", body)
		}
	default:
		w.t.Errorf("%s: %d %s", path, res.StatusCode, body)
	}
}

var chaosPaths = []string{
	"/v1/draws/recent?game=" + chaosGame + "&count=50",
	"/v1/draws/history?game=" + chaosGame + "&year=2020",
	"/v1/draws/date/2020-02-03",
	"/v1/draws/by-sum?game=" + chaosGame + "&sum=20&limit=100",
	"/v1/stats?game=" + chaosGame,
	"/v1/games",
}

// look checks a response: all of it must be of one version of the draws, one whose import has begun.
func (w *chaos) look(path string, body []byte) {
	var answer struct {
		Draws []struct {
			Date   models.Date `json:"date"`
			Tod    string      `json:"tod"`
			Number string      `json:"number_str"`
			Sum    int         `json:"digits_sum"`
		}
		Total      int `json:"total"`
		TotalDraws int `json:"total_draws"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		w.t.Errorf("%s: %v", path, err)
		return
	}
	version := int64(0)
	for _, d := range answer.Draws {
		var k, i, sum int
		if _, err := fmt.Sscanf(d.Number, "%3d%2d", &k, &i); err != nil {
			w.t.Errorf("%s: the number %q", path, d.Number)
			return
		}
		for _, digit := range d.Number {
			sum += int(digit - '0')
		}
		day := int(d.Date - models.NewDate(2020, 1, 1))
		if d.Number != chaosNumber(k, day, d.Tod) || d.Sum != sum || (version != 0 && int64(k) != version) {
			w.t.Errorf("%s: %s %s is %s (sum %d) in an answer of version %d", path, d.Date, d.Tod, d.Number, d.Sum, version)
			return
		}
		version = int64(k)
	}
	switch {
	case strings.HasPrefix(path, "/v1/draws/history") && len(answer.Draws) != chaosDraws,
		strings.HasPrefix(path, "/v1/draws/recent") && len(answer.Draws) != 50,
		strings.HasPrefix(path, "/v1/draws/date") && len(answer.Draws) != 2,
		strings.HasPrefix(path, "/v1/stats") && answer.TotalDraws != chaosDraws:
		w.t.Errorf("%s: %d draws, %d in all", path, len(answer.Draws), answer.TotalDraws)
	case version > w.attempted.Load():
		w.t.Errorf("%s: version %d, before it was imported", path, version)
	}
	w.noteAge(version)
}

// chaosNumber returns a draw of version k, which encodes the version and which of the day's draws it is.
func chaosNumber(k, day int, tod string) string {
	i := 2 * day
	if tod == "Evening" {
		i++
	}
	return fmt.Sprintf("%03d%02d", k, i%100)
}

// noteAge records the longest time that an old version was served while the database was readable.
func (w *chaos) noteAge(version int64) {
	w.mu.Lock()
	next, ok := w.importedAt[version+1]
	w.mu.Unlock()
	if since := time.Since(next); version > 0 && ok && time.Since(time.Unix(0, w.dbAway.Load())) > since {
		for old := w.stale.Load(); int64(since) > old && !w.stale.CompareAndSwap(old, int64(since)); old = w.stale.Load() {
		}
	}
}

// importNext imports corrections of all stored draws.
func (w *chaos) importNext() (done bool) {
	k := int(w.attempted.Add(1))
	var b strings.Builder
	b.WriteString("game,date,tod,number\n")
	for day := range chaosDays {
		for _, tod := range []string{"Midday", "Evening"} {
			fmt.Fprintf(&b, "%s,%s,%s,%s\n", chaosGame, models.NewDate(2020, 1, 1)+models.Date(day), tod, chaosNumber(k, day, tod))
		}
	}
	file := filepath.Join(w.dir, fmt.Sprintf("%03d.csv", k))
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		w.t.Error(err)
		return false
	}
	out, code := admin(w.t, w.url, "draws", "import", "--feed", "csv", file)
	if code != 0 {
		if code != 1 {
			w.t.Errorf("draws import: %d %s", code, out)
		}
		return false
	}
	w.mu.Lock()
	w.importedAt[int64(k)] = time.Now()
	w.mu.Unlock()
	w.imported.Store(int64(k))
	return true
}

// replaceKey makes a new key for the big account, and revokes the old one.
func (w *chaos) replaceKey() {
	a := w.account("big")
	out, code := admin(w.t, w.url, "keys", "create", "--account", a.email)
	var made struct{ Key string }
	if err := json.Unmarshal(out, &made); err != nil || code != 0 {
		w.t.Errorf("keys create: %d %s", code, out)
		return
	}
	a.mu.Lock()
	old := a.key
	a.key = made.Key
	a.mu.Unlock()
	prefix := old[:12]
	if out, code := admin(w.t, w.url, "keys", "revoke", "--yes", prefix); code != 0 {
		w.t.Errorf("keys revoke: %d %s", code, out)
		return
	}
	a.mu.Lock()
	a.revoked = append(a.revoked, revokedKey{old, time.Now()})
	a.mu.Unlock()
}

// changePlan moves the changing account to the other plan.
func (w *chaos) changePlan() {
	plan := "free"
	if w.plan == plan {
		plan = "pro"
	}
	if out, code := admin(w.t, w.url, "accounts", "set-plan", "changing@example.com", plan); code != 0 {
		w.t.Errorf("set-plan: %d %s", code, out)
		return
	}
	w.plan = plan
}

// at sends a request to one server, bypassing the balancer.
func (w *chaos) at(host, path, key string) (*http.Response, []byte) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+host+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	res, err := w.fleet.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, body
}
