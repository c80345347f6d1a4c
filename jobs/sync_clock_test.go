package jobs_test

import (
	"testing"
	"time"

	"lottery/jobs"
	"lottery/models"
)

// Draws that were rejected because the clock was behind are imported once it is right, although the file has not
// changed since.
func TestSyncAfterTheClockWasBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(va3, virginia(20, "0,3,4"))
	b.virginia4()
	only := jobs.SyncOptions{Feed: models.FeedVirginia}
	right := b.now
	b.now = right.AddDate(0, 0, -10) // its tomorrow is 2026-03-11; the files end on 2026-03-19
	if got := b.run(t, only); got.Summary.Inserted != 2*2*12 || got.Summary.Rejections[models.ReasonFutureDate] != 2*2*8 {
		t.Fatalf("while the clock is behind: %+v", got)
	}
	b.now = right
	if got := b.run(t, only); got.Summary.Inserted != 2*2*8 || got.Summary.Rejected != 0 {
		t.Errorf("once it is right: %+v", got)
	}
	b.now = right.Add(36 * time.Hour)
	if got := b.run(t, only); got.NotModified != 2 {
		t.Errorf("files of which nothing is rejected are read again: %+v", got)
	}
}

// A file of which draws are rejected is read again on another day, but not at each sync.
func TestSyncReadsRejectedDrawsOnceADay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(va3, "3/23/2026; Day: 0,3,4; Night: 2,8,4\n"+virginia(20, "0,3,4")) // today is 2026-03-20
	b.virginia4()
	only := jobs.SyncOptions{Feed: models.FeedVirginia}
	for _, c := range []struct {
		later                        time.Duration
		notModified, inserted, wrong int
	}{{0, 0, 80, 2}, {time.Hour, 2, 0, 0}, {23 * time.Hour, 1, 0, 2}, {time.Hour, 2, 0, 0}, {24 * time.Hour, 1, 2, 0}, {24 * time.Hour, 2, 0, 0}} {
		b.now = b.now.Add(c.later)
		got := b.run(t, only)
		if got.NotModified != c.notModified || got.Summary.Inserted != c.inserted || got.Summary.Rejected != c.wrong {
			t.Errorf("%s: %+v", b.now, got)
		}
	}
}
