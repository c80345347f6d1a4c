package jobs_test

import (
	"strings"
	"testing"

	"lottery/jobs"
	"lottery/models"
)

// A URL has the draws of one game, and draws of another are not accepted from it: a Pick 4 file that lost its last
// column looks like Pick 3, and would correct real draws.
func TestSyncTakesEachGameFromItsAddress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(ncFile, "Date,Day/Eve,Ball 1,Ball 2,Ball 3\n03/18/2026,D,4,2,7\n03/19/2026,D,1,2,3\n")
	const pick4 = "/pick4-download"
	b.set(pick4, "Date,Day/Eve,Ball 1,Ball 2,Ball 3,Ball 4\n03/18/2026,D,9,8,7,6\n03/19/2026,D,5,4,3,2\n")
	only := jobs.SyncOptions{Feed: models.FeedNC}
	if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Inserted != 4 {
		t.Fatalf("%+v", got)
	}
	b.set(pick4, "Date,Day/Eve,Ball 1,Ball 2,Ball 3,Unheard of\n03/18/2026,D,9,8,7,6\n03/19/2026,D,5,4,3,2\n")
	got := b.run(t, only)
	if len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), "it has draws of nc-pick-3 but none of nc-pick-4") || got.Summary.Corrected != 0 {
		t.Errorf("%+v", got)
	}

	const texas, of3, of4 = "/tx/Games/Daily_4/Winning_Numbers/daily4day.csv", "Pick 3 Day,3,18,2026,4,2,7\n", "Daily 4 Day,3,19,2026,1,2,3,4\n"
	b.set(texas, of3+of4)
	got = b.run(t, jobs.SyncOptions{Feed: models.FeedTexas})
	if got.Summary.Inserted != 1 || got.Summary.Rejections[models.ReasonUnknownGame] != 1 || len(got.News) != 1 ||
		!strings.Contains(got.News[0].Detail, "tx-pick-3, where those of tx-daily-4") {
		t.Errorf("%+v", got)
	}
}
