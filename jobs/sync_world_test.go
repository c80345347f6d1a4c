package jobs_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/configs"
	"lottery/jobs"
	"lottery/jobs/feed"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// lotteries serves what the lotteries publish.
type lotteries struct {
	mu     sync.Mutex
	bodies map[string]string // path → body
	serve  map[string]http.HandlerFunc
	asked  []string // paths, with the query
}

func (l *lotteries) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.asked = append(l.asked, r.URL.RequestURI())
	name := r.URL.Path
	if id := r.URL.Query().Get("gameId"); id != "" {
		name += "?gameId=" + id
	}
	handler := l.serve[name]
	body, ok := l.bodies[name]
	l.mu.Unlock()
	switch {
	case handler != nil:
		handler(w, r)
	case !ok:
		http.NotFound(w, r)
	default:
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(body)))
		if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, body)
	}
}

func (l *lotteries) set(name, body string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bodies[name] = body
}

func (l *lotteries) answer(name string, h http.HandlerFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serve[name] = h
}

func (l *lotteries) requests(of string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, uri := range l.asked {
		if strings.HasPrefix(uri, of) {
			n++
		}
	}
	return n
}

const (
	ncFile = "/pick3-download"
	nyFile = "/ny.json"
)

type bench struct {
	*lotteries
	store *store.Store
	sync  *jobs.Sync
	now   time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		lotteries: &lotteries{bodies: map[string]string{}, serve: map[string]http.HandlerFunc{}},
		store:     storetest.OpenURL(t, storetest.URL(t), store.Options{}),
		now:       time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC),
	}
	server := httptest.NewServer(b.lotteries)
	t.Cleanup(server.Close)
	b.sync = &jobs.Sync{
		Store: b.store, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return b.now },
		Fetcher: feed.NewFetcher(feed.FetchOptions{Contact: "http://localhost", AllowPrivate: true, FirstWait: time.Millisecond}),
		Feeds:   configs.Feeds{NYURL: server.URL + nyFile, TexasURL: server.URL + "/tx", NCURL: server.URL, VirginiaURL: server.URL + "/va"},
	}
	for name, address := range jobs.FeedHosts(&b.sync.Feeds) {
		if !strings.HasPrefix(address, server.URL) {
			t.Fatalf("give newBench the address of %s; its sync would fail in every test", name)
		}
	}
	return b
}

func (b *bench) run(t *testing.T, o jobs.SyncOptions) jobs.FeedSynced {
	t.Helper()
	list, err := b.sync.Run(context.Background(), o)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %+v", err, list)
	}
	return list[0]
}

// source returns what is stored about the URL that ends with name.
func (b *bench) source(t *testing.T, name string) models.FeedSource {
	t.Helper()
	sources, err := b.store.FeedSources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range sources {
		if strings.HasSuffix(src.Address, name) {
			return src
		}
	}
	t.Fatalf("nothing is stored about %s: %+v", name, sources)
	return models.FeedSource{}
}

// virginia returns a file in Virginia's form with n days of the same number.
func virginia(n int, number string) string {
	var b strings.Builder
	b.WriteString("Pick 3 winning numbers\n\n")
	day := time.Date(2026, 3, 19, 0, 0, 0, 0, time.UTC)
	for i := range n {
		d := day.AddDate(0, 0, -i)
		fmt.Fprintf(&b, "%d/%d/%d; Day: %s; Night: 2,8,4\n", d.Month(), d.Day(), d.Year(), number)
	}
	return b.String()
}

const va3, va4 = "/va?gameId=1050", "/va?gameId=1040"

func (b *bench) virginia4() {
	b.set(va4, strings.ReplaceAll(strings.ReplaceAll(virginia(20, "1,2,3,4"), "2,8,4", "2,8,4,4"), "Pick 3", "Pick 4"))
}
