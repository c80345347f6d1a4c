package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// An import with every draw rejected says nothing about a feed's freshness, however often it is repeated. The last
// import that does is kept as long as it is the last.
func TestNewestImports(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		imported := func(feed, source string, summary models.ImportSummary) {
			t.Helper()
			mergeDraws(t, st, store.Merge{
				Run:     models.ImportRun{Feed: feed, Source: source, FinishedAt: fixedNow.Add(-2 * 365 * aDay), Summary: summary},
				Changes: func(func(store.DrawChange) bool) {},
			})
		}
		rejected := models.ImportSummary{Draws: 12, Rejected: 12}
		imported(models.FeedCSV, "some", models.ImportSummary{Draws: 12, Inserted: 9, Rejected: 3})
		imported(models.FeedTexas, "all", models.ImportSummary{Draws: 12, Inserted: 12})
		imported(models.FeedTexas, "none but rejected", models.ImportSummary{Draws: 12, Unchanged: 3, Rejected: 9})
		imported(models.FeedTexas, "rejected", rejected)
		imported(models.FeedTexas, "rejected again", rejected)
		imported(models.FeedVirginia, "never taken", rejected)
		want := "csv some, tx-lottery none but rejected"
		for _, when := range []string{"at first", "after a cleanup"} {
			runs, err := st.NewestImports(ctx)
			var got []string
			for _, run := range runs {
				got = append(got, fmt.Sprint(run.Feed, " ", run.Source))
			}
			if err != nil || strings.Join(got, ", ") != want {
				t.Errorf("%s: %q, %v; want %q", when, got, err, want)
			}
			if _, err := st.Cleanup(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}
