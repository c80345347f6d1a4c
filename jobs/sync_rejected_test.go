package jobs_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"lottery/jobs"
	"lottery/models"
)

// A sync in which every draw of a response is rejected has failed: the lottery has changed its form, and none of its
// draws come in any more. The draws are told all the same, once.
func TestSyncFailsIfEveryDrawIsRejected(t *testing.T) {
	t.Parallel()
	good, retitled := "Results for Pick 3\n", "Results for Pick 3 with Fireball\n"
	for name, test := range map[string]struct {
		feed, path   string
		good, bad    http.HandlerFunc
		draws        int
		want, reason string
	}{
		"a whole file": {
			models.FeedVirginia, va3, text(good + virginia(20, "0,3,4")), text(retitled + virginia(20, "0,3,4")), 40,
			"all of its 40 draws are rejected (unknown_game 40)", "unknown_game",
		},
		"recent draws of a dataset": {
			models.FeedNYOpenData, nyFile, soda(100),
			text(`[{"draw_date":"2026-03-18T00:00:00.000","midday_daily":"1-2-3","evening_daily":"4-5-6"},{"draw_date":"2026-03-19T00:00:00.000"}]`), 2,
			"all of its 2 draws are rejected (bad_digits 2)", "bad_digits",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.virginia4()
			b.answer(test.path, test.good)
			only := jobs.SyncOptions{Feed: test.feed}
			if got := b.run(t, only); len(got.Errs) > 0 {
				t.Fatalf("%+v", got)
			}
			b.answer(test.path, test.bad)
			for news := test.draws; news >= 0; news -= test.draws {
				got := b.run(t, only)
				if len(got.Errs) != 1 || !strings.Contains(got.Errs[0].Error(), test.want) || b.source(t, test.path).Error == "" {
					t.Errorf("it went well: %+v", got)
				}
				if len(got.News) != news || got.Summary.Rejected != test.draws {
					t.Errorf("%d new, %+v", len(got.News), got.Summary)
				}
			}
			b.answer(test.path, test.good)
			if got := b.run(t, only); len(got.Errs) > 0 || got.Summary.Inserted > 0 || got.Summary.Unchanged == 0 || b.source(t, test.path).Error != "" {
				t.Errorf("mended: %+v", got)
			}
		})
	}
}

// text serves a text.
func text(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, content) }
}
