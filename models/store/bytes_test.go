package store_test

import (
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// What a lottery's server sends, and the name of a file, may be any bytes: as much as is text is
// recorded, on both databases.
func TestBytesThatAreNoText(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		now := time.Now().UTC().Truncate(time.Second)
		src := models.FeedSource{Feed: models.FeedNC, Address: "https://a.example", CheckedAt: &now, ETag: "\"\xe9tag\"", LastModified: "\x00", Error: "the server answers 404 Nicht\x00verf\xfcgbar"}
		if err := st.SaveFeedSource(ctx, src); err != nil {
			t.Fatal(err)
		}
		if got, err := st.FeedSource(ctx, src.Feed, src.Address); err != nil || got.ETag+got.LastModified != "" || got.Error != "the server answers 404 Nicht\ufffdverf\ufffdgbar" {
			t.Errorf("%v %+v", err, got)
		}
		version, err := st.DataVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		err = st.MergeDraws(ctx, version.Number, []store.Merge{{
			Run: models.ImportRun{Feed: models.FeedCSV, Source: "n\xfc.csv", FinishedAt: operatorNow}, Changes: func(func(store.DrawChange) bool) {},
		}}, operatorNow)
		if err != nil {
			t.Fatal(err)
		}
		if runs, err := st.NewestImports(ctx); err != nil || len(runs) != 1 || runs[0].Source != "n\ufffd.csv" {
			t.Errorf("%v %+v", err, runs)
		}
	})
}
