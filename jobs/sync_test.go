package jobs_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/jobs"
	"lottery/jobs/feed"
	"lottery/models"
)

// Unchanged files are not read again, and repeating a sync changes nothing.
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

// A server that knows no ETag is asked by the time of the last change.
func TestSyncByLastModified(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	changed := "Thu, 19 Mar 2026 23:30:00 GMT"
	b.answer(va3, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", changed)
		if r.Header.Get("If-Modified-Since") == changed {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, virginia(20, "0,3,4"))
	})
	only := jobs.SyncOptions{Feed: models.FeedVirginia}
	b.run(t, only)
	if again := b.run(t, only); again.NotModified != 2 || len(again.Errs) > 0 {
		t.Errorf("again: %+v", again)
	}
	changed = "Fri, 20 Mar 2026 23:30:00 GMT"
	if changed := b.run(t, only); changed.NotModified != 1 || changed.Summary.Unchanged != 40 {
		t.Errorf("changed: %+v", changed)
	}
}

// A sync that is not done in time stores what was wrong with the URL it was busy with.
func TestSyncOutOfTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	b.answer(va3, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := b.sync.Run(ctx, jobs.SyncOptions{Feed: models.FeedVirginia}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
	if src := b.source(t, va3); src.Error == "" || src.CheckedAt == nil {
		t.Errorf("%+v", src)
	}
}

// A file that shrinks by more than a tenth is refused until somebody has looked.
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
	b.answer(va3, func(w http.ResponseWriter, _ *http.Request) { // what is no data at all is not called shrunk
		w.Header().Set("Content-Type", "text/csv")
		_, _ = io.WriteString(w, "<html>Down for maintenance")
	})
	if page := b.run(t, only); len(page.Errs) != 1 || !strings.Contains(page.Errs[0].Error(), "web page") {
		t.Errorf("%+v", page)
	}
	b.answer(va3, nil)
	b.set(va3, virginia(80, "0,3,5"))
	only.AcceptShrink, only.AcceptCorrections = true, true
	if taken := b.run(t, only); len(taken.Errs) > 0 || taken.Summary.Corrected != 80 {
		t.Errorf("%+v", taken)
	}
}

// A URL that fails stops neither the others of its feed nor the other feeds; what is stored stays.
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
			at := slices.IndexFunc(list, func(f jobs.FeedSynced) bool { return f.Feed == models.FeedVirginia })
			if err != nil || at < 0 {
				t.Fatalf("%v %+v", err, list)
			}
			got := list[at]
			if len(got.Errs) != 1 || got.Summary.Inserted != 40 {
				t.Errorf("%+v", got)
			}
			if src := b.source(t, va3); src.Error == "" || src.SucceededAt != nil || src.ETag != "" {
				t.Errorf("%+v", src)
			}
			// Once it succeeds, nothing is said about the failure any more.
			b.answer(va3, nil)
			b.set(va3, virginia(20, "0,3,4"))
			b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia})
			if src := b.source(t, va3); src.Error != "" || src.SucceededAt == nil {
				t.Errorf("afterwards: %+v", src)
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

// A server that stalls, before its response or in the middle, does not hold up the other feeds.
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

// Fetched data is kept in unlinked files, so that not even kill -9 leaves any behind.
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
	b.sync.Log = slog.New(slog.NewTextHandler(writerFunc(look), nil)) // a rejected draw is logged while its file exists
	b.set(va4, strings.Replace(virginia(5, "1,2,3,4"), "Day: 1,2,3,4", "Day: 1,2,3", 1))
	list, err := b.sync.Run(t.Context(), jobs.SyncOptions{})
	if err != nil || list[0].Summary.Inserted != 48_000 || looked.Load() < 3 {
		t.Errorf("%v %+v, looked %d times", err, list, looked.Load())
	}
}

// writerFunc is an io.Writer that calls a function for each line of a log.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// A server that fails briefly is asked again.
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

// A lottery that changes its form, so that all draws of its history are rejected at once, delays the sync no more than
// one whose draws are accepted.
func TestSyncRejectsManyInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	only := jobs.SyncOptions{Feed: models.FeedVirginia, Whole: true, AcceptShrink: true}
	next := 10
	// rejects syncs a file of that many lines twice; both draws of each line are new and wrong.
	rejects := func(lines int) time.Duration {
		var history strings.Builder
		for range lines {
			fmt.Fprintf(&history, "3/19/2026; Day: 0,3,%d; Night: 2,%d,4\n", next, next)
			next++
		}
		b.set(va3, history.String())
		began := time.Now()
		for _, news := range []int{2 * lines, 0} {
			if got := b.run(t, only); len(got.Errs) != 1 || got.Summary.Rejected != 2*lines || len(got.News) != news {
				t.Errorf("%d rejected, %d new: %v", got.Summary.Rejected, len(got.News), got.Errs)
			}
		}
		return time.Since(began)
	}
	var few, many time.Duration
	for range 3 { // the machine may have had something else to do
		few, many = rejects(3_000), rejects(24_000)
		if many < 40*few { // 8 times is expected; with a search in a list it was 250 times
			return
		}
	}
	t.Errorf("3,000 lines took %s, 24,000 %s", few, many)
}

// Unless permitted, nothing on this machine or a private network is fetched, whatever a name or a redirect says.
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

// The lotteries' own files, served as they publish them, give the same draws as importing the files.
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
