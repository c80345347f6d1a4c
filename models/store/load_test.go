package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// The index gets a game's draws oldest first, without void slots, and a row with an invalid
// date as one that it refuses.
func TestLoadDraws(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := context.Background()
		st := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return fixedNow }})
		at := func(day string, tod models.Tod, sequence int, number string) store.DrawChange {
			slot := slotAt(t, "va-pick-3", day, tod)
			slot.Sequence = sequence
			return store.DrawChange{Slot: slot, Number: number}
		}
		changes := []store.DrawChange{
			at("2020-05-04", models.Day, 1, "001"), at("2020-05-04", models.Day, 2, "002"), at("2020-05-04", models.Night, 1, "003"),
			at("2020-05-05", models.Day, 1, "004"), at("2020-05-06", models.Night, 1, "005"), at("2020-05-07", models.Day, 1, "006"),
		}
		run := models.ImportRun{Feed: models.FeedCSV, Source: "test.csv", FinishedAt: fixedNow}
		mergeDraws(t, st, store.Merge{Run: run, Changes: slices.Values(changes)})
		if _, err := st.UnsetDraw(ctx, changes[3].Slot, "never drawn"); err != nil {
			t.Fatal(err)
		}
		want := "2020-05-04 Day 1 001, 2020-05-04 Day 2 002, 2020-05-04 Night 1 003, 2020-05-06 Night 1 005, 2020-05-07 Day 1 006"
		if strings.HasPrefix(url, "sqlite:") { // PostgreSQL's type does not accept such a date
			storetest.Exec(t, url, "UPDATE draws SET date = '2020-02-30' WHERE number = '006'")
			want = "none Day 1 006, " + strings.TrimSuffix(want, ", 2020-05-07 Day 1 006")
		}
		var got []string
		err := st.LoadDraws(ctx, func(models.DataVersion) {}, func(models.Game) store.DrawFunc {
			return func(date models.Date, tod models.Tod, sequence int, number []byte) error {
				day := date.String()
				if date < models.FirstDate || date > models.LastDate {
					day = "none"
				}
				got = append(got, fmt.Sprintf("%s %s %d %s", day, tod, sequence, number))
				return nil
			}
		})
		if list := strings.Join(got, ", "); err != nil || list != want {
			t.Errorf("%s, %v; want %s", list, err, want)
		}
	})
}
