package jobs_test

import (
	"fmt"
	"strings"
	"testing"

	"lottery/jobs"
	"lottery/models"
)

// Only new rejections are reported.
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
	// What is not rejected any more is forgotten: it is not counted, and if it comes back, it is new.
	b.set(va3, good)
	if got := b.run(t, only); len(got.News) != 0 || got.Summary.Rejected != 0 || len(b.source(t, va3).Rejected) > 0 {
		t.Errorf("mended: %+v, %q", got, b.source(t, va3).Rejected)
	}
	line := "3/19/2026; Day: 0,3,44; Night: 2,8,4\n"
	b.set(va3, good+line+line)
	if got := b.run(t, only); len(got.News) != 1 || len(b.source(t, va3).Rejected) != 1 {
		t.Errorf("one line twice: %+v", got)
	}
}

// A conflict is reported once, even though newer draws move its lines every day.
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
