package store_test

import (
	"context"
	"strings"
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
		mergeDraws(t, st, store.Merge{
			Run: models.ImportRun{Feed: models.FeedCSV, Source: "n\xfc.csv", FinishedAt: fixedNow}, Changes: func(func(store.DrawChange) bool) {},
		})
		if runs, err := st.NewestImports(ctx); err != nil || len(runs) != 1 || runs[0].Source != "n\ufffd.csv" {
			t.Errorf("%v %+v", err, runs)
		}
	})
}

// What only one of the databases would refuse, or each in its own words, is refused beforehand.
func TestNamesAreText(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		for _, name := range []string{"a\xffb", "a\x00b", "a\nb"} {
			if _, err := st.CreateAccount(ctx, store.NewAccount{Email: "a@example.com", Name: name}); models.ErrorCode(err) != models.CodeInvalid {
				t.Errorf("account %q: %v", name, err)
			}
			_, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: "b@example.com", Create: true, Name: name})
			if models.ErrorCode(err) != models.CodeInvalid {
				t.Errorf("key %q: %v", name, err)
			}
			_, err = st.AddGame(ctx, models.Game{ID: "x", Name: name, Digits: 3, Tods: models.NewTodSet(models.Day), Jurisdiction: "ZZ", Timezone: "UTC"})
			if models.ErrorCode(err) != models.CodeInvalid {
				t.Errorf("game %q: %v", name, err)
			}
		}
		if found, err := st.Accounts(ctx, store.AccountFilter{}); err != nil || len(found) != 0 {
			t.Errorf("%d accounts, %v", len(found), err)
		}
		long := strings.Repeat("ü", 200)
		if _, err := st.CreateAccount(ctx, store.NewAccount{Email: "c@example.com", Name: long}); err != nil {
			t.Error(err)
		}
		found, err := st.Accounts(ctx, store.AccountFilter{Search: "ÜÜ"})
		if err != nil || len(found) != 1 || found[0].Name != long {
			t.Errorf("%+v, %v", found, err)
		}
		if _, err := st.CreateAccount(ctx, store.NewAccount{Email: "MÖRDER@example.com"}); err != nil {
			t.Error(err)
		}
		if found, err := st.Accounts(ctx, store.AccountFilter{Search: "MÖRD"}); err != nil || len(found) != 1 {
			t.Errorf("by a capital letter of its address: %+v, %v", found, err)
		}
	})
}
