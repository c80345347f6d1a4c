package jobs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"lottery/configs"
	"lottery/jobs"
	"lottery/jobs/feed"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// lotteries plays what the lotteries publish.
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

// virginia is Virginia's form with n days from a date on, of one number.
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

// What has not changed is not read again, and running it again changes nothing.
func TestSyncWholeFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(va3, virginia(20, "0,3,4"))
	b.virginia4()
	only := jobs.SyncOptions{Feed: models.FeedVirginia}
	first := b.run(t, only)
	if len(first.Errs) > 0 || first.Summary.Inserted != 80 || first.Summary.Rejected != 0 {
		t.Fatalf("%+v", first)
	}
	again := b.run(t, only)
	if again.NotModified != 2 || again.Summary.Draws != 0 || len(again.Errs) > 0 {
		t.Errorf("again: %+v", again)
	}
	b.set(va3, strings.Replace(virginia(20, "0,3,4"), "Day: 0,3,4", "Day: 9,9,9", 1))
	b.now = b.now.Add(time.Hour)
	corrected := b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia, Whole: true})
	if corrected.Summary.Corrected != 1 || corrected.Summary.Unchanged != 79 {
		t.Errorf("corrected: %+v", corrected.Summary)
	}
}

// A file that loses more than a tenth is refused until somebody looked.
func TestSyncRefusesShrunkFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(va3, virginia(100, "0,3,4"))
	b.virginia4()
	only := jobs.SyncOptions{Feed: models.FeedVirginia}
	b.run(t, only)
	b.set(va3, virginia(80, "0,3,5"))
	refused := b.run(t, only)
	if len(refused.Errs) != 1 || !strings.Contains(refused.Errs[0].Error(), "--accept-shrink") || refused.Summary.Corrected != 0 {
		t.Fatalf("%+v", refused)
	}
	b.set(va3, "<html>Down for maintenance") // and not as a web page, by its Content-Type
	if page := b.run(t, only); len(page.Errs) != 1 || !strings.Contains(page.Errs[0].Error(), "web page") {
		t.Errorf("%+v", page)
	}
	b.set(va3, virginia(80, "0,3,5"))
	only.AcceptShrink = true
	if taken := b.run(t, only); len(taken.Errs) > 0 || taken.Summary.Corrected != 80 {
		t.Errorf("%+v", taken)
	}
}

// One address that fails stops neither the others of its feed nor the other feeds; what is stored stays.
func TestSyncGoesOnPastFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]http.HandlerFunc{
		"a web page": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>maintenance")
		},
		"a page in disguise": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "<!DOCTYPE html><p>maintenance")
		},
		"an error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"too many requests": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"an endless redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.RequestURI(), http.StatusFound)
		},
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"an answer that breaks off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = io.WriteString(w, virginia(20, "0,3,4"))
		},
		"half a gzip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x52\x56")
		},
	}
	for name, broken := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.answer(va3, broken)
			b.virginia4()
			list, err := b.sync.Run(context.Background(), jobs.SyncOptions{})
			if err != nil || len(list) != 4 {
				t.Fatalf("%v %+v", err, list)
			}
			got := list[3]
			if got.Feed != models.FeedVirginia || len(got.Errs) != 1 || got.Summary.Inserted != 40 {
				t.Errorf("%+v", got)
			}
			sources, err := b.store.FeedSources(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, src := range sources {
				if strings.HasSuffix(src.Address, va3) && (src.Error == "" || src.SucceededAt != nil || src.ETag != "") {
					t.Errorf("%+v", src)
				}
			}
		})
	}
}

func TestSyncCompressed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	b.answer(va3, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Errorf("compressed answers are not asked for: %v", r.Header)
		}
		w.Header().Set("Content-Encoding", "gzip")
		body := gzip.NewWriter(w)
		_, _ = io.WriteString(body, virginia(5, "0,3,4"))
		_ = body.Close()
	})
	if got := b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia}); len(got.Errs) > 0 || got.Summary.Inserted != 50 {
		t.Errorf("%+v", got)
	}
}

// A server that keeps one waiting, for its answer or in the midst of it, does not hold up the other feeds.
func TestSyncOfSlowServers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"no answer": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "timeout"},
		"half an answer": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, virginia(20, "0,3,4"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "the server sent nothing for 300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.sync.Fetcher = feed.NewFetcher(feed.FetchOptions{Contact: "http://localhost", AllowPrivate: true, FirstWait: time.Millisecond, Stall: 300 * time.Millisecond})
			b.answer(va3, test.serve)
			b.virginia4()
			if got := b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia}); len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), test.want) || got.Summary.Inserted != 40 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What is fetched is kept in files without a name, so that not even kill -9 leaves it behind, whole or in part.
func TestSyncLeavesNoFileBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	b := newBench(t)
	b.virginia4()
	var looked atomic.Int64 // by the server and by the sync
	look := func() {
		looked.Add(1)
		if left, err := filepath.Glob(filepath.Join(dir, "lottery-*")); err != nil || len(left) > 0 {
			t.Errorf("kill -9 would leave %v, %v", left, err)
		}
	}
	b.set(va3, virginia(5, "0,3,4"))
	pages := soda(12_000)
	b.answer(nyFile, func(w http.ResponseWriter, r *http.Request) {
		look() // from the second page on, the first is kept
		pages(w, r)
	})
	b.sync.Log = slog.New(slog.NewTextHandler(writerFunc(look), nil)) // a draw that is not taken is told while its file is there
	b.set(va4, strings.Replace(virginia(5, "1,2,3,4"), "Day: 1,2,3,4", "Day: 1,2,3", 1))
	list, err := b.sync.Run(t.Context(), jobs.SyncOptions{})
	if err != nil || list[0].Summary.Inserted != 48_000 || looked.Load() < 3 {
		t.Errorf("%v %+v, looked %d times", err, list, looked.Load())
	}
}

// writerFunc is called with each line of a log.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// A server that fails for a moment is asked again.
func TestSyncRetries(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	n := 0
	b.answer(va3, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n < 3 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader([]int{http.StatusServiceUnavailable, http.StatusTooManyRequests}[n-1])
			return
		}
		_, _ = io.WriteString(w, virginia(5, "0,3,4"))
	})
	if got := b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia}); len(got.Errs) > 0 || got.Summary.Inserted != 50 {
		t.Errorf("%+v", got)
	}
}

// Only rejections that were not there before are told.
func TestSyncTellsNewRejections(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	good := virginia(20, "0,3,4")
	b.set(va3, strings.Replace(good, "Day: 0,3,4", "Day: 0,3,44", 1))
	only := jobs.SyncOptions{Feed: models.FeedVirginia, Whole: true}
	if got := b.run(t, only); len(got.News) != 1 || got.Summary.Rejected != 1 {
		t.Fatalf("%+v", got)
	}
	if got := b.run(t, only); len(got.News) != 0 || got.Summary.Rejected != 1 {
		t.Errorf("the same again: %+v", got)
	}
	b.set(va3, strings.Replace(strings.Replace(good, "Day: 0,3,4", "Day: 0,3,44", 1), "Night: 2,8,4", "Night: x", 1))
	if got := b.run(t, only); len(got.News) != 1 || got.Summary.Rejected != 2 {
		t.Errorf("another: %+v", got)
	}
	b.set(va3, strings.Replace(good, "Day: 0,3,4", "Day: 0,3,44", 2))
	if got := b.run(t, only); len(got.News) != 1 || got.Summary.Rejected != 2 {
		t.Errorf("the same blemish on another day: %+v", got)
	}
	// The same fault in another draw is another rejection.
	wrong := strings.ReplaceAll(virginia(20, "0,3,4"), "3/19/2026; Day: 0,3,4", "3/19/2026; Day: 0,3,4; Fireball: 12")
	b.set(va3, wrong)
	if got := b.run(t, only); len(got.News) != 1 || got.Summary.Rejected != 1 {
		t.Errorf("a wrong Fireball: %+v", got)
	}
	b.set(va3, strings.ReplaceAll(wrong, "3/18/2026; Day: 0,3,4", "3/18/2026; Day: 0,3,4; Fireball: 12"))
	if got := b.run(t, only); len(got.News) != 1 || got.Summary.Rejected != 2 {
		t.Errorf("and on another day: %+v", got)
	}
}

// A conflict is told once, though the lottery puts newer draws above it every day.
func TestSyncTellsConflictsOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	title, draws, _ := strings.Cut(virginia(20, "0,3,4"), "\n\n")
	draws += "2/1/2026; Day: 0,3,4; Night: 2,8,4\n2/1/2026; Day: 0,3,4; Night: 2,8,5\n"
	only := jobs.SyncOptions{Feed: models.FeedVirginia, Whole: true}
	for day, news := range []int{2, 0, 0} {
		b.set(va3, title+"\n\n"+draws)
		if got := b.run(t, only); len(got.Errs) > 0 || len(got.News) != news || got.Summary.Rejected != 2 {
			t.Errorf("day %d: %+v", day, got)
		}
		draws = fmt.Sprintf("3/%d/2026; Day: 0,3,4; Night: 2,8,4\n", 20+day) + draws
	}
}

// A lottery that changes its form, so that all draws of its history are rejected at once, holds the sync up no longer than
// one whose draws are taken.
func TestSyncRejectsManyInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	only := jobs.SyncOptions{Feed: models.FeedVirginia, Whole: true}
	next := 10
	// rejects syncs so many lines, both draws of which are new and wrong, twice.
	rejects := func(lines int) time.Duration {
		var history strings.Builder
		for range lines {
			fmt.Fprintf(&history, "3/19/2026; Day: 0,3,%d; Night: 2,%d,4\n", next, next)
			next++
		}
		b.set(va3, history.String())
		began := time.Now()
		for _, news := range []int{2 * lines, 0} {
			if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Rejected != 2*lines || len(got.News) != news {
				t.Errorf("%d rejected, %d new: %v", got.Summary.Rejected, len(got.News), got.Errs)
			}
		}
		return time.Since(began)
	}
	var few, many time.Duration
	for range 3 { // the machine may have had something else to do
		few, many = rejects(3_000), rejects(24_000)
		if many < 14*few { // looking each one up in a list, it was 250
			return
		}
	}
	t.Errorf("3,000 lines took %s, 24,000 %s", few, many)
}

// soda plays Socrata with n days of records.
func soda(n int) http.HandlerFunc { return sodaUpTo(n, time.Date(2026, 3, 18, 0, 0, 0, 0, time.UTC)) }

func sodaUpTo(n int, last time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		limit, _ := strconv.Atoi(q.Get("$limit"))
		offset, _ := strconv.Atoi(q.Get("$offset"))
		var since time.Time
		if _, text, ok := strings.Cut(q.Get("$where"), "draw_date >= '"); ok {
			since, _ = time.Parse("2006-01-02", strings.TrimSuffix(text, "'"))
		}
		var rows []string
		for i := n - 1; i >= 0; i-- {
			d := last.AddDate(0, 0, -i)
			if d.Before(since) {
				continue
			}
			rows = append(rows, fmt.Sprintf(`{"draw_date":"%sT00:00:00.000","midday_daily":"123","evening_daily":"%03d","midday_win_4":"0042","evening_win_4":"9999"}`, d.Format("2006-01-02"), i%1000))
		}
		rows = rows[min(offset, len(rows)):min(offset+limit, len(rows))]
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "["+strings.Join(rows, ",")+"]")
	}
}

// New York is read by pages, then from two weeks before its newest draw, and whole once a week.
func TestSyncNewYork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer(nyFile, soda(12_000))
	only := jobs.SyncOptions{Feed: models.FeedNYOpenData}
	first := b.run(t, only)
	if len(first.Errs) > 0 || first.Summary.Inserted != 48_000 || b.requests(nyFile) != 2 {
		t.Fatalf("%+v, %d requests", first, b.requests(nyFile))
	}
	b.now = b.now.Add(time.Hour)
	if lately := b.run(t, only); lately.Summary.Unchanged != 15*4 || b.requests(nyFile) != 3 {
		t.Errorf("lately: %+v, %d requests", lately, b.requests(nyFile))
	}
	b.now = b.now.AddDate(0, 0, 8)
	if whole := b.run(t, only); whole.Summary.Unchanged != 48_000 {
		t.Errorf("after a week: %+v", whole)
	}
	b.now = b.now.AddDate(0, 0, -2) // the clock was ahead when it was read, which says nothing of when that was
	if whole := b.run(t, only); whole.Summary.Unchanged != 48_000 {
		t.Errorf("after the clock was mended: %+v", whole)
	}
	b.now = b.now.AddDate(0, 0, 8)
	b.answer(nyFile, soda(9000))
	if shrunk := b.run(t, only); len(shrunk.Errs) != 1 || !strings.Contains(shrunk.Errs[0].Error(), "shrank from 12000 to 9000 records") {
		t.Errorf("shrunk: %+v", shrunk)
	}
}

// Pages that repeat themselves, or change on the way, give no half data set.
func TestSyncNewYorkBrokenPages(t *testing.T) {
	t.Parallel()
	pages := soda(12_000)
	tests := map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"the same page for ever": {func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			q.Set("$offset", "0")
			r.URL.RawQuery = q.Encode()
			pages(w, r)
		}, "same page again"},
		"changing all the time": {func() http.HandlerFunc {
			n := 0
			return func(w http.ResponseWriter, r *http.Request) {
				n++
				w.Header().Set("Last-Modified", time.Unix(int64(n)*1000, 0).UTC().Format(http.TimeFormat))
				pages(w, r)
			}
		}(), "it changed while"},
		"a refusal": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"error":true,"message":"no such column"}`)
		}, "no list of records"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `[{"draw_date":"2026-03-18T00:00:00.000","midday_daily":"123"},{"draw_`)
		}, "breaks off"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.answer(nyFile, test.serve)
			got := b.run(t, jobs.SyncOptions{Feed: models.FeedNYOpenData})
			if len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), test.want) || got.Summary.Draws != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Without leave, nothing on this machine or a private network is fetched, whatever a name or a redirect says.
func TestSyncRefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(va3, virginia(5, "0,3,4"))
	b.virginia4()
	b.sync.Fetcher = feed.NewFetcher(feed.FetchOptions{Contact: "http://localhost", FirstWait: time.Millisecond})
	got := b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia})
	if len(got.Errs) != 2 || !strings.Contains(got.Errs[0].Error(), "not on the public internet") || b.requests("/va") != 0 {
		t.Errorf("%+v, %d requests", got, b.requests("/va"))
	}
}

// The lotteries' own files, served as they publish them, come in as an import of the files brings them.
func TestSyncRealFiles(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LOTTERY_REAL_DRAWS")
	if dir == "" {
		t.Skip("LOTTERY_REAL_DRAWS is not set")
	}
	b := newBench(t)
	for name, file := range map[string]string{
		ncFile: "north-carolina/pick3-2025-06.csv", "/pick4-download": "north-carolina/pick4-2025-06.csv",
		va3: "virginia/pick3-1989-2015.txt", va4: "virginia/pick4-1991-2015.txt",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		b.set(name, string(text))
	}
	for _, name := range []string{models.FeedNC, models.FeedVirginia} {
		got := b.run(t, jobs.SyncOptions{Feed: name})
		if len(got.Errs) > 0 || got.Summary.Inserted < 20_000 {
			t.Errorf("%s: %+v", name, got)
		}
		again := b.run(t, jobs.SyncOptions{Feed: name, Whole: true})
		if len(again.News) != 0 || again.Summary.Inserted != 0 || again.Summary.Unchanged != got.Summary.Inserted {
			t.Errorf("%s again: %+v", name, again)
		}
	}
}

func TestGameFreshness(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(va3, virginia(5, "0,3,4"))
	b.virginia4()
	b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia})
	fresh := func(now time.Time) bool {
		list, err := jobs.GameFreshness(context.Background(), b.store, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if f.Game == "va-pick-3" {
				return f.Fresh
			}
		}
		t.Fatal("va-pick-3 is not there")
		return false
	}
	// The newest draw is of March 19.
	for at, want := range map[string]bool{
		"2026-03-20T12:00:00Z": true, "2026-03-21T10:00:00Z": true, // the 20th's draws have until noon
		"2026-03-21T18:00:00Z": false, "2026-03-25T12:00:00Z": false,
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := fresh(now); got != want {
			t.Errorf("at %s fresh is %v", at, got)
		}
	}
}

// A game is behind where one of its times of day is, though the others come: in feeds status, in doctor and in the metric
// that the alert looks at.
func TestGameFreshnessOfEachTimeOfDay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var lines strings.Builder
	for day := 1; day <= 19; day++ {
		fmt.Fprintf(&lines, "3/%d/2026; Day: 0,3,4", day)
		if day < 11 {
			lines.WriteString("; Night: 2,8,4")
		}
		lines.WriteString("\n")
	}
	for _, test := range []struct {
		more, newest string
		fresh        bool
		overdue      float64
	}{
		{"", "2026-03-10", false, 1},
		{"3/18/2026; Night: 2,8,4\n", "2026-03-18", true, 0}, // the 19th's has until noon of the 20th in New York
	} {
		b.set(va3, lines.String()+test.more)
		b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia})
		list, err := jobs.GameFreshness(t.Context(), b.store, b.now)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(list, func(f jobs.Freshness) bool { return f.Game == "va-pick-3" })
		if f := list[at]; f.Fresh != test.fresh || f.Newest == nil || f.Newest.String() != test.newest || f.Expected.String() != "2026-03-18" {
			t.Errorf("fresh %v, newest %v, expected %v", f.Fresh, f.Newest, f.Expected)
		}
		var live catalog.Live
		if err := (&jobs.Catalog{Store: b.store, Live: &live, Log: quietly}).Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		shown := prometheus.NewRegistry()
		shown.MustRegister(jobs.NewStoredMetrics(b.store, &live, b.sync.Feeds, func() time.Time { return b.now }))
		want := fmt.Sprintf("# HELP lottery_game_overdue 1 if a draw of some time of day should have been published and is not held. Games without any draw are left out.\n"+
			"# TYPE lottery_game_overdue gauge\nlottery_game_overdue{feed=\"va-lottery\",game=\"va-pick-3\"} %v\n", test.overdue)
		if err := testutil.GatherAndCompare(shown, strings.NewReader(want), "lottery_game_overdue"); err != nil {
			t.Error(err)
		}
	}
}

// From the schedule, too, only rejections that were not there before are told, in the log and in the outcome.
func TestSyncJobTellsNewRejections(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	b.set(va3, strings.Replace(virginia(20, "0,3,4"), "Day: 0,3,4", "Day: 0,3,44", 1))
	var log bytes.Buffer
	feeds := b.sync.Feeds
	feeds.AllowPrivate, feeds.Sync = true, "15 * * * *"
	now := func() time.Time { return b.now }
	job, _ := jobs.Find(jobs.All(jobs.Deps{Store: b.store, Feeds: feeds, Contact: "http://localhost", Now: now, Log: slog.New(slog.NewTextHandler(&log, nil))}), "sync")
	run := func(news string, warned int) {
		t.Helper()
		node := jobs.Runner{Store: b.store, Node: "a", Now: now, Log: slog.New(slog.DiscardHandler)}
		log.Reset()
		ran, err := node.RunDue(context.Background(), &job)
		runs, _ := b.store.JobRuns(context.Background())
		outcome := runs["sync"].Outcome
		if !ran || err == nil || !strings.Contains(outcome, news) || !strings.Contains(outcome, "not synced: ny-open-data, tx-lottery, nc-lottery;") {
			t.Errorf("%v %v %q", ran, err, outcome)
		}
		if n := strings.Count(log.String(), "a draw that is not taken"); n != warned {
			t.Errorf("%d warnings:\n%s", n, &log)
		}
	}
	run("79 new draws, 0 corrected, 1 newly rejected", 1)
	b.now = b.now.Add(time.Hour)
	run("0 new draws, 0 corrected, 0 newly rejected", 0)
	b.now = b.now.Add(time.Hour)
	b.set(va3, strings.Replace(strings.Replace(virginia(21, "0,3,4"), "Day: 0,3,4", "Day: 0,3,44", 1), "Night: 2,8,4", "Night: x", 1))
	run("1 newly rejected", 1)
}

// A column that the feed does not know is told at each sync that reads it, in the log and in the outcome: whoever runs
// the server may not have seen it the last time, and what it holds is still not read. It is no failure.
func TestSyncJobTellsIgnoredColumns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(ncFile, "Date,Day/Eve,Ball 1,Ball 2,Ball 3,Wild Ball,Note\n03/19/2026,D,4,2,7,9,\n")
	b.answer(nyFile, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"draw_date":"2026-03-18T00:00:00.000","midday_numbers":"123","evening_daily":"456"}]`)
	})
	var log bytes.Buffer
	feeds := b.sync.Feeds
	feeds.AllowPrivate, feeds.Sync = true, "15 * * * *"
	now := func() time.Time { return b.now }
	job, _ := jobs.Find(jobs.All(jobs.Deps{Store: b.store, Feeds: feeds, Contact: "http://localhost", Now: now, Log: slog.New(slog.NewTextHandler(&log, nil))}), "sync")
	outcome, _ := job.Run(context.Background())
	if outcome != "2 new draws, 0 corrected, 0 newly rejected, 2 columns not read" {
		t.Error(outcome)
	}
	for _, want := range []string{"feed=ny-open-data address=" + feeds.NYURL + " column=midday_numbers\n", "feed=nc-lottery address=" + feeds.NCURL + ncFile + ` column="Wild Ball"`} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("%q is missing:\n%s", want, &log)
		}
	}
	got := b.run(t, jobs.SyncOptions{Feed: models.FeedNC, Whole: true})
	if !slices.Equal(got.Summary.IgnoredColumns, []models.IgnoredColumn{{File: feeds.NCURL + ncFile, Column: "Wild Ball"}}) {
		t.Errorf("%+v", got)
	}
}
