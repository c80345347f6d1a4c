package jobs_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"lottery/jobs"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Impossible rows, written into the database by hand, are left out; they do not keep a node from starting.
func TestImpossibleRowsAreLeftOut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := storetest.URL(t)
	st := storetest.OpenURL(t, url, store.Options{})
	db := storetest.SQL(t, url)
	for _, row := range []struct {
		date   string
		tod    models.Tod
		number string
	}{
		{"2024-02-29", models.Midday, "123"}, {"2024-02-29", models.Evening, "12"},
		{"2024-1-5", models.Midday, "123"}, {"2024-03-01 00:00:00", models.Midday, "123"}, {"", models.Midday, "123"}, {"2024-02-30", models.Midday, "123"},
	} {
		_, err := db.ExecContext(ctx, "INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at) VALUES ('ny-numbers', ?, ?, 1, ?, 'csv', '2024-03-01')", row.date, row.tod, row.number)
		if err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	job := &jobs.Refresher{Store: st, Live: &catalog.Live{}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := job.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	if got := job.Live.Load().TotalDraws(); got != 1 || !strings.Contains(log.String(), "draws verify") {
		t.Errorf("%d draws, log %s", got, &log)
	}
}

// The index is rebuilt only if the draws have changed.
func TestRefreshFollowsTheDataVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
		job := &jobs.Refresher{Store: st, Live: &catalog.Live{}, Log: slog.New(slog.DiscardHandler)}
		if err := job.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		empty := job.Live.Load()
		if err := job.Refresh(ctx); err != nil || job.Live.Load() != empty {
			t.Fatalf("nothing changed, and the index was replaced (%v)", err)
		}
		if err := jobs.FillSamples(ctx, st, now); err != nil {
			t.Fatal(err)
		}
		if err := job.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		full := job.Live.Load()
		g, ok := full.Game("sample-pick-5")
		if !ok || g.Last().String() != "2026-05-05" || g.First().String() != "2016-05-05" || g.MissingDays() != 0 || g.Len() != 2*3653 {
			t.Fatalf("%+v", g)
		}
		for _, d := range g.Stats(g.First(), g.Last(), 0).HotDigits {
			for place, count := range d.ByPosition {
				if count == 0 {
					t.Errorf("no %s at place %d in ten years", d.Digit, place)
				}
			}
		}
		// The next day extends the same history.
		if err := jobs.FillSamples(ctx, st, now.AddDate(0, 0, 1)); err != nil {
			t.Fatal(err)
		}
		if err := job.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		next, _ := job.Live.Load().Game("sample-pick-5")
		if next.Len() != g.Len()+2 || next.First() != g.First() {
			t.Errorf("%d draws from %s, before %d from %s", next.Len(), next.First(), g.Len(), g.First())
		}
	})
}

// If the database stalls while the draws are read, the build is abandoned and tried again; here another session locks
// the table.
func TestRefreshOfADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := storetest.NewPostgres(t)
	job := &jobs.Refresher{
		Store: storetest.OpenURL(t, url, store.Options{}), Live: &catalog.Live{}, Log: slog.New(slog.DiscardHandler), Patience: 200 * time.Millisecond,
	}
	answer := storetest.Lock(t, url, "draws")
	if err := job.Refresh(ctx); models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "too long") {
		t.Errorf("while the draws are held: %v", err)
	}
	answer()
	job.Patience = time.Minute // it answers now, however busy the machine is
	if err := job.Refresh(ctx); err != nil || job.Live.Load() == nil {
		t.Errorf("afterwards: %v", err)
	}
}
