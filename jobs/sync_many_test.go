package jobs_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"lottery/jobs"
	"lottery/models"
)

// A file whose draws are nearly all wrong, or repeated for ever, does not fill the log, nor the memory.
func TestSyncOfAFileFullOfFaults(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.virginia4()
	file := func(faults int) string {
		var text strings.Builder
		text.WriteString(virginia(20, "0,3,4"))
		for i := range faults {
			fmt.Fprintf(&text, "3/19/2026; Day: 0,3,%d; Night: 2,%d,4\n", i+10, i+10)
		}
		return text.String()
	}
	var log bytes.Buffer
	b.sync.Log = slog.New(slog.NewTextHandler(&log, nil))
	only := jobs.SyncOptions{Feed: models.FeedVirginia, Whole: true, AcceptShrink: true}
	b.set(va3, file(1000))
	if got := b.run(t, only); len(got.Errs) > 0 || len(got.News) != 2000 {
		t.Errorf("%d new: %v", len(got.News), got.Errs)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 101 || !strings.Contains(log.String(), "more=1900") {
		t.Errorf("%d lines", lines)
	}
	b.set(va3, file(130_000))
	if got := b.run(t, only); len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), "it has more than 250000 draws") {
		t.Errorf("%d new: %v", len(got.News), got.Errs)
	}
	b.set(va3, virginia(20, "0,3,4")+strings.Repeat("3/19/2026; Day: 0,3,4; Night: 2,8,4\n", 130_000))
	if got := b.run(t, only); len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), "it has more than 250000 draws") || got.Summary.Unchanged != 40 {
		t.Errorf("of the same draws: %+v", got)
	}
	b.set(va3, virginia(22, "0,3,4")) // what is known still is, and the next file is read
	if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Inserted == 0 {
		t.Errorf("%+v", got)
	}
}
