package jobs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lottery/jobs"
	"lottery/models"
	"lottery/models/store"
)

// A dataset that has lost its recent draws is reported at the next sync, not only at the next full reading. A dataset
// with nothing new, apart from what an operator has set or rows without a number yet, is no fault.
func TestSyncNewYorkLosesItsNewestDraws(t *testing.T) {
	t.Parallel()
	const lost = "no longer has any draw from 2026-03-04 on, although 60 stored draws came from it"
	only := jobs.SyncOptions{Feed: models.FeedNYOpenData}
	operator := func(t *testing.T, b *bench) { // has set draws for so long that none of the dataset's is recent
		t.Helper()
		for _, game := range []string{"ny-numbers", "ny-win-4"} {
			slot := models.Slot{GameID: game, Date: models.NewDate(2026, time.April, 2), Tod: models.Evening, Sequence: 1}
			if _, err := b.store.SetDraw(context.Background(), store.OperatorDraw{Slot: slot, Number: map[string]string{"ny-numbers": "123", "ny-win-4": "1234"}[game], Reason: "x"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := map[string]struct {
		before func(*testing.T, *bench)
		answer string
		asked  jobs.SyncOptions
		want   string
	}{
		"nothing":                         {nil, `[]`, only, lost},
		"rows without a number":           {nil, `[{"draw_date":"2026-03-18T00:00:00.000"}]`, only, lost},
		"rows in another form":            {nil, `[{"draw_date":"18 March 2026","midday_daily":"123"}]`, only, "every line that could be a draw is rejected (bad_date 1)"},
		"nothing, and that is right":      {nil, `[]`, jobs.SyncOptions{Feed: only.Feed, AcceptShrink: true}, ""},
		"nothing beside the operator's":   {operator, `[]`, only, ""},
		"no number beside the operator's": {operator, `[{"draw_date":"2026-04-02T00:00:00.000"}]`, only, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.now = b.now.AddDate(0, 0, 14)
			b.answer(nyFile, soda(100))
			if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Inserted != 400 {
				t.Fatalf("%+v", got)
			}
			if test.before != nil {
				test.before(t, b)
			}
			b.answer(nyFile, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.answer) })
			b.now = b.now.Add(time.Hour)
			got := b.run(t, test.asked)
			sources, err := b.store.FeedSources(t.Context())
			if err != nil || len(sources) != 1 {
				t.Fatalf("%+v, %v", sources, err)
			}
			if test.want == "" {
				if len(got.Errs) > 0 || sources[0].Error != "" {
					t.Errorf("%+v, %q", got, sources[0].Error)
				}
			} else if len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), test.want) || !strings.Contains(sources[0].Error, test.want) {
				t.Errorf("%v, %q; want %q", got.Errs, sources[0].Error, test.want)
			}
			held, err := b.store.Holdings(t.Context())
			if err != nil || held["ny-numbers"].Draws < 200 {
				t.Errorf("%+v, %v", held, err)
			}
			b.answer(nyFile, soda(100))
			b.now = b.now.Add(time.Hour)
			if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Rejected != 0 {
				t.Errorf("when they are back: %+v", got)
			}
		})
	}
}

// A full reading is checked for its newest draws, too; otherwise it would clear the fault that the others reported. It
// still counts as a full reading: the next one comes when it is due.
func TestSyncNewYorkWholeWithoutItsNewestDraws(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer(nyFile, soda(200))
	only := jobs.SyncOptions{Feed: models.FeedNYOpenData}
	if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Inserted != 800 {
		t.Fatalf("%+v", got)
	}
	b.answer(nyFile, sodaUpTo(190, time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)))
	b.now = b.now.AddDate(0, 0, 8)
	for i, draws := range []int{760, 0} {
		got := b.run(t, only)
		if len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), "no longer has any draw from 2026-03-04 on") || got.Summary.Draws != draws {
			t.Errorf("sync %d: %+v", i, got)
		}
		b.now = b.now.Add(time.Hour)
	}
	b.answer(nyFile, sodaUpTo(190, time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)))
	if got := b.run(t, jobs.SyncOptions{Feed: only.Feed, Whole: true}); len(got.Errs) > 0 {
		t.Errorf("with one of the days: %+v", got)
	}
}

// soda serves n days of records as Socrata does.
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
			rows = append(rows, fmt.Sprintf(`{"draw_date":"%sT00:00:00.000","midday_daily":"123","evening_daily":"%03d","midday_win_4":"0042","evening_win_4":"9999"}`, d.Format("2006-01-02"), d.Unix()/86_400%1000))
		}
		rows = rows[min(offset, len(rows)):min(offset+limit, len(rows))]
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "["+strings.Join(rows, ",")+"]")
	}
}

// New York is read in pages: first everything, then from two weeks before its newest draw, and everything once a week.
func TestSyncNewYork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer(nyFile, soda(12_000))
	only := jobs.SyncOptions{Feed: models.FeedNYOpenData}
	first := b.run(t, only)
	if len(first.Errs) > 0 || first.Summary.Inserted != 48_000 || b.requests(nyFile) != 3 {
		t.Fatalf("%+v, %d requests", first, b.requests(nyFile))
	}
	b.now = b.now.Add(time.Hour)
	if lately := b.run(t, only); lately.Summary.Unchanged != 15*4 || b.requests(nyFile) != 4 {
		t.Errorf("lately: %+v, %d requests", lately, b.requests(nyFile))
	}
	b.now = b.now.AddDate(0, 0, 8)
	if whole := b.run(t, only); whole.Summary.Unchanged != 48_000 {
		t.Errorf("after a week: %+v", whole)
	}
	b.now = b.now.AddDate(0, 0, -2) // it was read while the clock was ahead, so the time noted means nothing
	if whole := b.run(t, only); whole.Summary.Unchanged != 48_000 {
		t.Errorf("after the clock was mended: %+v", whole)
	}
	b.now = b.now.AddDate(0, 0, 8)
	b.answer(nyFile, soda(9000))
	if shrunk := b.run(t, only); len(shrunk.Errs) != 1 || !strings.Contains(shrunk.Errs[0].Error(), "shrank from 12000 to 9000 records") {
		t.Errorf("shrunk: %+v", shrunk)
	}
}

// A server that returns fewer records than it is asked for is read to the end all the same, and from the beginning if the
// records change meanwhile.
func TestSyncNewYorkSmallPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pages, version := soda(3500), 0
	b.answer(nyFile, func(w http.ResponseWriter, r *http.Request) {
		version = min(version+1, 2) // from the second page on
		w.Header().Set("Last-Modified", time.Unix(int64(version)*1000, 0).UTC().Format(http.TimeFormat))
		q := r.URL.Query()
		q.Set("$limit", "1000")
		r.URL.RawQuery = q.Encode()
		pages(w, r)
	})
	got := b.run(t, jobs.SyncOptions{Feed: models.FeedNYOpenData})
	if len(got.Errs) > 0 || got.Summary.Inserted != 14_000 || b.requests(nyFile) != 2+4 {
		t.Fatalf("%+v, %d requests", got, b.requests(nyFile))
	}
}

// Pages that repeat, or change while being read, never give half a dataset.
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
		}, "the same page"},
		"without its parameters": {func(w http.ResponseWriter, r *http.Request) {
			r.URL.RawQuery = "$limit=1000"
			pages(w, r)
		}, "the same page"},
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
		}, "not a list of records"},
		"a record without end": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `[{"draw_date":"2026-03-18T00:00:00.000","midday_daily":"123"},{"draw_date":"`+strings.Repeat("2", 8<<20)+`"}]`)
		}, "record 2: it is larger than 1 MiB"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `[{"draw_date":"2026-03-18T00:00:00.000","midday_daily":"123"},{"draw_`)
		}, "incomplete"},
		"cut off between two records": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `[{"draw_date":"2026-03-18T00:00:00.000","midday_daily":"123"}`)
		}, "incomplete"},
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

// Recent draws are read from before the newest of the game that is furthest behind: an operator may have set a later one
// of the other.
func TestSyncNewYorkFromTheGameBehind(t *testing.T) {
	t.Parallel()
	for game, number := range map[string]string{"ny-numbers": "123", "ny-win-4": "1234"} {
		b := newBench(t)
		b.answer(nyFile, soda(100))
		only := jobs.SyncOptions{Feed: models.FeedNYOpenData}
		b.run(t, only)
		slot := models.Slot{GameID: game, Date: models.NewDate(2026, time.April, 5), Tod: models.Evening, Sequence: 1}
		if _, err := b.store.SetDraw(t.Context(), store.OperatorDraw{Slot: slot, Number: number, Reason: "x"}); err != nil {
			t.Fatal(err)
		}
		b.now = b.now.AddDate(0, 0, 6)
		b.answer(nyFile, sodaUpTo(107, b.now.Truncate(24*time.Hour).AddDate(0, 0, -1)))
		if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Inserted != 7*4 || got.Summary.Unchanged != 15*4 {
			t.Errorf("%s has a later draw: %+v", game, got)
		}
	}
}

// Everything is read once a week, however often recent draws are read in between.
func TestSyncNewYorkOnceAWeek(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer(nyFile, soda(100))
	var whole []int
	for day := range 18 {
		if got := b.run(t, jobs.SyncOptions{Feed: models.FeedNYOpenData}); got.Summary.Draws == 400 {
			whole = append(whole, day)
		} else if got.Summary.Draws != 60 {
			t.Fatalf("day %d: %+v", day, got)
		}
		b.now = b.now.AddDate(0, 0, 1)
	}
	if !slices.Equal(whole, []int{0, 8, 16}) {
		t.Errorf("everything is read on the days %v", whole)
	}
}
