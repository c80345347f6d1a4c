package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// TestMergeDraws: a merge is applied completely or not at all, and only to the draws for which it was planned.
func TestMergeDraws(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		day := models.NewDate(2024, time.May, 2)
		change := func(date models.Date, number string, correct bool) store.DrawChange {
			return store.DrawChange{
				Slot:   models.Slot{GameID: "va-pick-3", Date: date, Tod: models.Night, Sequence: 1},
				Number: number, Addons: `{"fireball":"` + number[:1] + `"}`, Correct: correct,
			}
		}
		merge := func(feed string, changes ...store.DrawChange) store.Merge {
			return store.Merge{Run: models.ImportRun{Feed: feed, Source: "test", FinishedAt: time.Now()}, Changes: slices.Values(changes)}
		}
		held := func() string {
			var lines []string
			err := st.StoredDraws(ctx, "va-pick-3", day, day+100, func(d *models.Draw) error {
				lines = append(lines, fmt.Sprintf("%s %s %s %s r%d", d.Date, d.Number, d.Addons["fireball"], d.Feed, d.Revision))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(lines, "\n")
		}
		basis := func() int64 {
			v, err := st.DataVersion(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return v.Number
		}
		must := func(merges ...store.Merge) {
			t.Helper()
			before := basis()
			if err := st.MergeDraws(ctx, before, merges, time.Now()); err != nil || basis() != before+1 {
				t.Fatalf("version %d after %d, %v", basis(), before, err)
			}
		}

		// More rows than one statement stages, but not a multiple.
		var many []store.DrawChange
		for i := range 45 {
			many = append(many, change(day+models.Date(i), fmt.Sprintf("%03d", i), false))
		}
		must(merge(models.FeedCSV, many...))
		all, planned := held(), basis()
		if strings.Count(all, "\n") != 44 || !strings.HasPrefix(all, "2024-05-02 000 0 csv r1\n") || !strings.HasSuffix(all, "\n2024-06-15 044 0 csv r1") {
			t.Fatalf("held:\n%s", all)
		}

		for name, merges := range map[string][]store.Merge{
			"inserts what is there":                {merge(models.FeedCSV, change(day+50, "555", false)), merge(models.FeedCSV, change(day, "555", false))},
			"corrects what is not there":           {merge(models.FeedCSV, change(day+50, "555", false)), merge(models.FeedCSV, change(day+51, "555", true))},
			"corrects one that is, one that isn't": {merge(models.FeedCSV, change(day, "555", true), change(day+51, "555", true))},
		} {
			if err := st.MergeDraws(ctx, planned, merges, time.Now()); !errors.Is(err, store.ErrStale) || held() != all || basis() != planned {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := st.MergeDraws(ctx, planned-1, []store.Merge{merge(models.FeedCSV, change(day+50, "555", false))}, time.Now()); !errors.Is(err, store.ErrStale) || held() != all {
			t.Errorf("planned at an older version: %v", err)
		}

		// A later merge sees the earlier ones of the same call; if none changes anything the version does not move.
		must(merge(models.FeedCSV, change(day+50, "555", false)), merge(models.FeedVirginia, change(day, "666", true), change(day+50, "666", true)),
			merge(models.FeedCSV))
		if got := held(); !strings.HasPrefix(got, "2024-05-02 666 6 va-lottery r2\n") || !strings.HasSuffix(got, "\n2024-06-21 666 6 va-lottery r2") {
			t.Errorf("held:\n%s", got)
		}
		before := basis()
		if err := st.MergeDraws(ctx, before, []store.Merge{merge(models.FeedCSV)}, time.Now()); err != nil || basis() != before {
			t.Errorf("nothing merged: version %d after %d, %v", basis(), before, err)
		}

		stop := errors.New("enough")
		if err := st.StoredDraws(ctx, "va-pick-3", day, day+1, func(*models.Draw) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("StoredDraws ended with %v", err)
		}
	})
}

// TestMergeOverAWord: what a correction replaces is kept, void or not, with its reason; the draw loses both.
func TestMergeOverAWord(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := context.Background()
		st := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return fixedNow }})
		at := slotAt(t, "va-pick-3", "2020-05-04", models.Day)
		importedDraw(t, st, at, "123")
		if _, err := st.UnsetDraw(ctx, at, "never drawn"); err != nil {
			t.Fatal(err)
		}
		second := at // not changed by the correction
		second.Sequence = 2
		importedDraw(t, st, second, "456")
		v, err := st.DataVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.MergeDraws(ctx, v.Number, []store.Merge{fireballMerge(at, "999", true)}, fixedNow.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		err = st.StoredDraws(ctx, at.GameID, at.Date, at.Date, func(d *models.Draw) error {
			if d.Sequence == 2 {
				return nil
			}
			if d.Number != "999" || d.Void || d.Reason != "" || d.Feed != models.FeedCSV || d.Revision != 3 || !d.IngestedAt.Equal(fixedNow) {
				t.Errorf("%+v", d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		const want = `1 "123" {"fireball":"4"} csv false "" operator
2 "" {"fireball":"4"} operator true "never drawn" csv`
		if got := revisions(t, storetest.SQL(t, url)); got != want {
			t.Errorf("revisions:\n%s\nwant\n%s", got, want)
		}
	})
}
