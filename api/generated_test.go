package api_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/secret"
	"lottery/models/store"
)

// Requests made from the document get answers that the document describes, and never a 5xx. LOTTERY_REQUESTS sets how
// many, LOTTERY_SEED the random seed: `make contract REQUESTS=1000000`.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	few := 3000
	if raceDetector {
		few = 1000
	}
	requests, seed := fromEnv(t, "LOTTERY_REQUESTS", few), fromEnv(t, "LOTTERY_SEED", 1)
	run := newGeneratedRun(t, uint64(seed))
	start := time.Now()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			w := run.worker()
			for n := next.Add(1); n <= int64(requests) && run.failed.Load() < 20; n = next.Add(1) {
				w.ask(t, int(n))
			}
			run.add(w)
		})
	}
	workers.Wait()
	t.Logf("%d requests from seed %d in %s\n%s", requests, seed, time.Since(start).Round(time.Second), run)
	for _, status := range []int{200, 304, 400, 401, 404, 405, 406, 414, 429, 431} {
		if run.statuses[status] == 0 {
			t.Errorf("no request was answered %d: the run does not reach what it should", status)
		}
	}
}

func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: it must be a whole number, 1 or more", name, text)
	}
	return n
}

// generatedRun is one run: the service, the document, and what was seen.
type generatedRun struct {
	server  *metered
	maker   generator
	failed  atomic.Int64
	problem *openapi3.Schema

	mu       sync.Mutex
	statuses map[int]int
	paths    map[string]int
	bodies   int // validated
	skipped  int // bodies not validated: long, and not in the sample
	refused  int // rejected by net/http itself
}

func newGeneratedRun(t *testing.T, seed uint64) *generatedRun {
	t.Helper()
	doc, _ := loadContract(t)
	m := newMetered(t, 1_000_000_000)
	m.live.Swap(yearsOfDraws(t, m.store))
	run := &generatedRun{
		server: m, problem: doc.Components.Schemas["Problem"].Value, statuses: map[int]int{}, paths: map[string]int{},
		maker: generator{doc: doc, seed: seed, paths: slices.Sorted(maps.Keys(doc.Paths.Map())), keys: keysOfEveryKind(t, m)},
	}
	for _, g := range m.live.Load().Games() {
		run.maker.games = append(run.maker.games, g.ID)
	}
	run.maker.types = m.live.Load().Types()
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.FileBodyDecoder)
	return run
}

// yearsOfDraws makes two years of random draws: long answers, and pages.
func yearsOfDraws(t *testing.T, st *store.Store) *catalog.Catalog {
	t.Helper()
	games, err := st.Games(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	b := catalog.NewBuilder(models.DataVersion{Number: 2, Token: "generated", UpdatedAt: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)})
	for _, g := range games {
		game := b.Game(g)
		for date := models.NewDate(2023, time.January, 1); date.Time().Year() < 2025; date++ {
			for _, tod := range g.Tods.Tods() {
				if err := game.Add(date, tod, 1, fmt.Appendf(nil, "%0*d", g.Digits, chance.Int64N(int64(pow10(g.Digits))))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func pow10(n int) int {
	p := 1
	for range n {
		p *= 10
	}
	return p
}

// keysOfEveryKind makes the accounts and keys that requests present.
func keysOfEveryKind(t *testing.T, m *metered) map[keyKind][]string {
	t.Helper()
	ctx, plans, none := context.Background(), models.DefaultPlans(), 0
	made := func(account string) store.Key {
		k, err := m.store.CreateKey(ctx, plans, store.NewKey{Account: account + "@example.com", Name: account, Create: true})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	keys := map[keyKind][]string{
		goodKey: {m.key}, malformedKey: {"ldk_wrong", "", m.key + "x", strings.ToLower(m.key), strings.Repeat("k", 5000)}, unknownKey: {secret.NewKey(), secret.NewKey()},
	}
	revoked, suspended, usedUp := made("revoked"), made("suspended"), made("used-up")
	expired, err := m.store.CreateKey(ctx, plans, store.NewKey{Account: "expired@example.com", Name: "x", Create: true, ExpiresAt: new(time.Now().Add(time.Millisecond))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.store.RevokeKey(ctx, revoked.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := m.store.SetAccountStatus(ctx, suspended.Account.ID, models.AccountSuspended); err != nil {
		t.Fatal(err)
	}
	if _, err := m.store.OverrideLimit(ctx, usedUp.Account.ID, &none); err != nil {
		t.Fatal(err)
	}
	keys[revokedKey], keys[suspendedKey], keys[usedUpKey], keys[expiredKey] = []string{revoked.Secret}, []string{suspended.Secret}, []string{usedUp.Secret}, []string{expired.Secret}
	return keys
}

// String returns the run's figures, as docs/reliability.md shows them.
func (r *generatedRun) String() string {
	var b strings.Builder
	for _, status := range slices.Sorted(maps.Keys(r.statuses)) {
		fmt.Fprintf(&b, "%d: %d\n", status, r.statuses[status])
	}
	fmt.Fprintf(&b, "bodies validated: %d, long ones left out: %d; refused by net/http: %d\n", r.bodies, r.skipped, r.refused)
	for _, path := range slices.Sorted(maps.Keys(r.paths)) {
		fmt.Fprintf(&b, "%s: %d\n", path, r.paths[path])
	}
	return b.String()
}

func (r *generatedRun) worker() *generatedWorker {
	return &generatedWorker{generatedRun: r, generator: r.maker, seen: generatedRun{statuses: map[int]int{}, paths: map[string]int{}}}
}

func (r *generatedRun) add(w *generatedWorker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for status, n := range w.seen.statuses {
		r.statuses[status] += n
	}
	for path, n := range w.seen.paths {
		r.paths[path] += n
	}
	r.bodies += w.seen.bodies
	r.skipped += w.seen.skipped
	r.refused += w.seen.refused
}

// generatedWorker makes one request after another.
type generatedWorker struct {
	*generatedRun
	generator
	seen generatedRun
}

func (w *generatedWorker) ask(t *testing.T, n int) {
	g := w.next(n)
	r, err := g.request()
	if err != nil {
		w.seen.refused++ // a real server answers 400 by itself, before any handler
		return
	}
	res := httptest.NewRecorder()
	w.server.handler.ServeHTTP(res, r)
	w.seen.statuses[res.Code]++
	w.seen.paths[g.template]++
	if err := w.judge(g, res); err != nil {
		w.failed.Add(1)
		t.Errorf("%s\n%d %v %s\n%v", g, res.Code, res.Header(), short(res.Body.String()), err)
	}
	w.learn(g, res)
}

// request returns g as a server parses it.
func (g *generated) request() (*http.Request, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\n", g.method, g.target)
	for _, name := range slices.Sorted(maps.Keys(g.headers)) {
		fmt.Fprintf(&b, "%s: %s\r\n", name, g.headers[name])
	}
	b.WriteString("\r\n")
	r, err := http.ReadRequest(bufio.NewReader(&b))
	if err != nil {
		return nil, err
	}
	r.RemoteAddr = g.remote
	return r, nil
}

// learn keeps tags and cursors that later requests may send back.
func (w *generatedWorker) learn(g *generated, res *httptest.ResponseRecorder) {
	const most = 64
	if tag := res.Header().Get("ETag"); tag != "" && len(w.etags) < most {
		w.etags = append(w.etags, tag)
	}
	_, rest, found := strings.Cut(res.Header().Get("Link"), "<")
	target, _, _ := strings.Cut(rest, ">")
	if _, path, ok := strings.Cut(target, "://localhost:8080"); found && ok {
		if len(w.cursors) < most {
			w.cursors = append(w.cursors, path)
		} else {
			w.cursors[g.number%most] = path
		}
	}
}

// decoded returns res's body without its content coding.
func decoded(res *httptest.ResponseRecorder) ([]byte, error) {
	switch coding := res.Header().Get("Content-Encoding"); coding {
	case "":
		return res.Body.Bytes(), nil
	case "gzip":
		r, err := gzip.NewReader(res.Body)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case "zstd":
		r, err := zstd.NewReader(res.Body, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	default:
		return nil, fmt.Errorf("an unknown coding %q", coding)
	}
}

// route returns the operation that answers g.
func (w *generatedWorker) route(g *generated) *routers.Route {
	item := w.doc.Paths.Value(g.template)
	if item == nil {
		return nil
	}
	return &routers.Route{Spec: w.doc, Path: g.template, PathItem: item, Method: http.MethodGet, Operation: item.Get}
}
