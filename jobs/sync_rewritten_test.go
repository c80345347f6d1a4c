package jobs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lottery/jobs"
	"lottery/jobs/importer"
	"lottery/models"
)

// exchanged returns a Virginia file with its times of day swapped.
func exchanged(file string) string {
	return strings.NewReplacer("Day:", "Night:", "Night:", "Day:").Replace(file)
}

// A response that contradicts much of what a lottery published before is taken for its mistake, and refused until
// somebody has looked. A few corrections are accepted.
func TestSyncRefusesRewrittenHistory(t *testing.T) {
	t.Parallel()
	file := virginia(100, "0,3,4")
	tests := map[string]struct {
		now       string
		options   jobs.SyncOptions
		refused   bool
		corrected int
	}{
		"day and night exchanged":       {exchanged(file), jobs.SyncOptions{}, true, 0},
		"a tenth and one more":          {strings.Replace(file, "0,3,4", "4,3,0", 21), jobs.SyncOptions{}, true, 0},
		"a tenth":                       {strings.Replace(file, "0,3,4", "4,3,0", 20), jobs.SyncOptions{}, false, 20},
		"a Fireball for each, later":    {strings.ReplaceAll(file, "0,3,4", "0,3,4; Fireball: 5"), jobs.SyncOptions{}, false, 100},
		"somebody looked":               {exchanged(file), jobs.SyncOptions{AcceptCorrections: true}, false, 200},
		"somebody looked for its size":  {exchanged(file), jobs.SyncOptions{AcceptShrink: true}, true, 0},
		"and it is read again as it is": {file, jobs.SyncOptions{}, false, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.set(va3, file)
			b.virginia4()
			b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia})
			b.set(va3, test.now)
			test.options.Feed, test.options.Whole = models.FeedVirginia, true
			got := b.run(t, test.options)
			if refused := len(got.Errs) == 1 && strings.Contains(got.Errs[0].Error(), "--accept-corrections"); refused != test.refused || len(got.Errs) > 1 {
				t.Errorf("refused %t: %v", refused, got.Errs)
			}
			if got.Summary.Corrected != test.corrected || got.Summary.Inserted != 0 || len(got.News) != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// If the stored draws come from a lower feed, the lottery's file may correct them all: it is its first word.
func TestSyncCorrectsOtherFeeds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := "game,date,tod,number\n"
	for day := 1; day <= 19; day++ {
		before += fmt.Sprintf("va-pick-3,2026-03-%02d,Day,999\nva-pick-3,2026-03-%02d,Night,999\n", day, day)
	}
	open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(before)), nil }
	if _, err := importer.Run(t.Context(), b.store, []importer.Source{{Name: "before.csv", Open: open}}, importer.Options{Feed: models.FeedCSV}); err != nil {
		t.Fatal(err)
	}
	b.set(va3, virginia(19, "0,3,4"))
	b.virginia4()
	if got := b.run(t, jobs.SyncOptions{Feed: models.FeedVirginia}); len(got.Errs) > 0 || got.Summary.Corrected != 38 {
		t.Errorf("%+v", got)
	}
}

// A dataset is judged as files are, however few days of it are read.
func TestSyncRefusesRewrittenDataset(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.answer(nyFile, soda(40))
	only := jobs.SyncOptions{Feed: models.FeedNYOpenData}
	if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Inserted != 160 {
		t.Fatalf("%+v", got)
	}
	b.answer(nyFile, func(w http.ResponseWriter, r *http.Request) {
		said := httptest.NewRecorder()
		soda(40)(said, r)
		w.Header().Set("Content-Type", "application/json")
		_, _ = strings.NewReplacer("midday_", "evening_", "evening_", "midday_").WriteString(w, said.Body.String())
	})
	if got := b.run(t, only); len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), "--accept-corrections") || got.Summary.Corrected != 0 {
		t.Errorf("%+v", got)
	}
}
