package web_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/web"
)

// Anybody may ask for the status page, and the database must not look for the newest imports each time.
func TestStatusReadsFeedsOnceASecond(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var later atomic.Int64
	h := open(t, func(d *web.Deps) { d.Now = func() time.Time { return start.Add(time.Duration(later.Load())) } })
	p := h.person()
	ctx := t.Context()
	for i, step := range []struct {
		imported string
		later    time.Duration
		shows    string
	}{
		{"", 0, ""},
		{models.FeedCSV, time.Second - 1, ""},
		{"", time.Second, models.FeedCSV},
		{models.FeedTexas, time.Second, models.FeedCSV},
		{"", 2 * time.Second, models.FeedCSV + " " + models.FeedTexas},
	} {
		if step.imported != "" {
			version, err := h.store.DataVersion(ctx)
			if err != nil {
				t.Fatal(err)
			}
			err = h.store.MergeDraws(ctx, version.Number, []store.Merge{{
				Run: models.ImportRun{Feed: step.imported, Source: "file", FinishedAt: start}, Changes: func(func(store.DrawChange) bool) {},
			}}, start)
			if err != nil {
				t.Fatal(err)
			}
		}
		later.Store(int64(step.later))
		got := p.get("/status")
		got.says(t, http.StatusOK)
		for _, feed := range []string{models.FeedCSV, models.FeedTexas} {
			if strings.Contains(got.text, "<code>"+feed+"</code>") != strings.Contains(step.shows, feed) {
				t.Errorf("step %d: want %q: %s", i, step.shows, got.text)
			}
		}
	}
}
