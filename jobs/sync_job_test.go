package jobs_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/jobs"
	"lottery/models"
)

// job returns the job that syncs b's feeds, by b's clock.
func (b *bench) job(log io.Writer) jobs.Job {
	feeds := b.sync.Feeds
	feeds.AllowPrivate, feeds.Sync = true, "15 * * * *"
	job, _ := jobs.Find(jobs.All(jobs.Deps{
		Store: b.store, Feeds: feeds, Contact: "http://localhost", Now: func() time.Time { return b.now }, Log: slog.New(slog.NewTextHandler(log, nil)),
	}), "sync")
	return job
}

// A scheduled sync, too, reports only new rejections, in the log and in the outcome.
func TestSyncJobTellsNewRejections(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	b.set(va3, strings.Replace(virginia(20, "0,3,4"), "Day: 0,3,4", "Day: 0,3,44", 1))
	var log bytes.Buffer
	job := b.job(&log)
	run := func(news string, warned int) {
		t.Helper()
		node := jobs.Runner{Store: b.store, Node: "a", Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler)}
		log.Reset()
		ran, err := node.RunDue(context.Background(), &job)
		runs, _ := b.store.JobRuns(context.Background())
		outcome := runs["sync"].Outcome
		if !ran || err == nil || !strings.Contains(outcome, news) || !strings.Contains(outcome, "not synced: ny-open-data, ") || strings.Contains(outcome, models.FeedVirginia) {
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

// The scheduled sync asks no private address either, unless that is configured.
func TestSyncJobRefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	feeds := b.sync.Feeds
	feeds.AllowPrivate, feeds.Sync = false, "15 * * * *"
	job, _ := jobs.Find(jobs.All(jobs.Deps{Store: b.store, Feeds: feeds, Contact: "http://localhost", Log: slog.New(slog.DiscardHandler)}), "sync")
	if outcome, err := job.Run(t.Context()); err == nil || !strings.Contains(outcome, "0 new draws") || b.requests("/") != 0 {
		t.Errorf("%q, %v, after %d requests", outcome, err, b.requests("/"))
	}
	if src := b.source(t, va4); !strings.Contains(src.Error, "not on the public internet") {
		t.Errorf("%+v", src)
	}
}

// An unknown column is reported at every sync that reads it, in the log and in the outcome: whoever runs the server may
// have missed it the last time, and its values are still not read. It is no failure.
func TestSyncJobTellsIgnoredColumns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(ncFile, "Date,Day/Eve,Ball 1,Ball 2,Ball 3,Wild Ball,Note\n03/19/2026,D,4,2,7,9,\n")
	b.answer(nyFile, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"draw_date":"2026-03-18T00:00:00.000","midday_numbers":"123","evening_daily":"456"}]`)
	})
	var log bytes.Buffer
	job := b.job(&log)
	outcome, _ := job.Run(context.Background())
	if outcome != "2 new draws, 0 corrected, 0 newly rejected, 2 columns not read" {
		t.Error(outcome)
	}
	for _, want := range []string{"feed=ny-open-data address=" + b.sync.Feeds.NYURL + " column=midday_numbers\n", "feed=nc-lottery address=" + b.sync.Feeds.NCURL + ncFile + ` column="Wild Ball"`} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("%q is missing:\n%s", want, &log)
		}
	}
	got := b.run(t, jobs.SyncOptions{Feed: models.FeedNC, Whole: true})
	if !slices.Equal(got.Summary.IgnoredColumns, []models.IgnoredColumn{{File: b.sync.Feeds.NCURL + ncFile, Column: "Wild Ball"}}) {
		t.Errorf("%+v", got)
	}
}

// A line that was skipped, but holds several numbers, is reported in the same way.
func TestSyncJobTellsSkippedLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(ncFile, "Date,Day/Eve,Ball 1,Ball 2,Ball 3\n03/18/2026,D,4,2,7\nMar 19 2026 D 1 2 3\n")
	var log bytes.Buffer
	outcome, _ := b.job(&log).Run(context.Background())
	if outcome != "1 new draw, 0 corrected, 0 newly rejected, 1 doubtful line skipped" {
		t.Error(outcome)
	}
	if want := "feed=nc-lottery address=" + b.sync.Feeds.NCURL + ncFile + ` line=3 text="Mar 19 2026 D 1 2 3"`; strings.Count(log.String(), want) != 1 {
		t.Errorf("%q is missing:\n%s", want, &log)
	}
}

// A draw that its lottery no longer publishes is reported in the log and in the outcome. It stays. The outcome counts what
// is corrected.
func TestSyncJobTellsWithdrawnDraws(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var log bytes.Buffer
	job := b.job(&log)
	const header, kept, moved = "Date,Day/Eve,Ball 1,Ball 2,Ball 3\n", "03/17/2026,D,1,2,3\n03/19/2026,D,4,2,7\n", "03/18/2026,D,0,0,7\n"
	for _, sync := range []struct{ file, outcome string }{
		{header + kept + moved, "3 new draws, 0 corrected, 0 newly rejected"},
		{header + kept + "03/16/2026,D,0,0,7\n" + "03/16/2026,E,0,0,7\n", "2 new draws, 0 corrected, 0 newly rejected, 1 draw withdrawn"},
		{header + strings.Replace(kept, "4,2,7", "4,2,8", 1) + moved + "03/16/2026,D,0,0,7\n" + "03/16/2026,E,0,0,7\n", "0 new draws, 1 corrected, 0 newly rejected"},
	} {
		log.Reset()
		b.set(ncFile, sync.file)
		if outcome, err := job.Run(context.Background()); outcome != sync.outcome {
			t.Errorf("%q, %v", outcome, err)
		}
		want := "feed=nc-lottery address=" + b.sync.Feeds.NCURL + ncFile + ` draws=1 first="nc-pick-3 2026-03-18 Day 007"`
		if told := strings.Contains(log.String(), want); told != strings.Contains(sync.outcome, "withdrawn") {
			t.Errorf("%q is told: %v\n%s", want, told, &log)
		}
	}
}
