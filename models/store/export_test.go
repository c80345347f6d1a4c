package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestExport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if addons, draws := exportedLines(t, st, store.DrawFilter{}); len(addons) != 0 || draws != "" {
			t.Errorf("of an empty database: %q %s", addons, draws)
		}
		manyDraws(t, st)
		addons, draws := exportedLines(t, st, store.DrawFilter{})
		if want := []string{"a, b", "fireball", "greenball"}; !slices.Equal(addons, want) {
			t.Errorf("add-ons %q, want %q", addons, want)
		}
		const want = `2020-01-01 Night va-pick-3 1 007 map[fireball:2]
2020-01-02 Midday ny-win-4 1 0005 map[]
2020-01-02 Day nc-pick-3 1 001 map[]
2020-01-02 Day nc-pick-3 2 002 map[]
2020-01-02 Day va-pick-3 1 008 map[]
2020-01-02 Evening ny-numbers 1 004 map[]
2020-01-02 Night tx-daily-4 1 0006 map[a, b:"x" fireball:1]
2020-01-03 Evening nc-pick-3 1 003 map[greenball:7]`
		if draws != want {
			t.Errorf("got\n%s\nwant\n%s", draws, want)
		}

		first, second := mustDate(t, "2020-01-01"), mustDate(t, "2020-01-02")
		if _, got := exportedLines(t, st, store.DrawFilter{GameID: "nc-pick-3", To: &second}); got != "2020-01-02 Day nc-pick-3 1 001 map[]\n2020-01-02 Day nc-pick-3 2 002 map[]" {
			t.Errorf("filtered:\n%s", got)
		}
		if addons, got := exportedLines(t, st, store.DrawFilter{From: &first, To: &first}); got != "2020-01-01 Night va-pick-3 1 007 map[fireball:2]" || !slices.Equal(addons, []string{"fireball"}) {
			t.Errorf("one day: %q\n%s", addons, got)
		}

		held, err := st.Holdings(context.Background())
		if err != nil || len(held) != 5 || held["nc-pick-3"] != (store.Holding{GameID: "nc-pick-3", Draws: 3, First: second, Last: mustDate(t, "2020-01-03")}) {
			t.Errorf("%+v, %v", held, err)
		}
		dates, err := st.NewestDates(context.Background())
		if err != nil || len(dates) != 5 || !maps.Equal(dates["nc-pick-3"], map[models.Tod]models.Date{models.Day: second, models.Evening: mustDate(t, "2020-01-03")}) {
			t.Errorf("%v, %v", dates, err)
		}
		for feed, want := range map[string]int{models.FeedCSV: 4, models.FeedNC: 0} {
			if n, err := st.DrawsFrom(context.Background(), feed, []string{"nc-pick-3", "va-pick-3"}, second); err != nil || n != want {
				t.Errorf("%s: %d, %v", feed, n, err)
			}
		}
		if _, err := st.UnsetDraw(context.Background(), slotAt(t, "nc-pick-3", "2020-01-03", models.Evening), "gone"); err != nil {
			t.Fatal(err)
		}
		if n, err := st.DrawsFrom(context.Background(), models.FeedOperator, []string{"nc-pick-3"}, second); err != nil || n != 0 {
			t.Errorf("%d void draws, %v", n, err)
		}
	})
}

// An export shows one moment, whatever happens meanwhile; voided draws are missing from the next one.
func TestExportIsASnapshot(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		manyDraws(t, st)
		last := slotAt(t, "nc-pick-3", "2020-01-03", models.Evening)
		var before []string
		err := st.Export(ctx, store.DrawFilter{}, func([]string) error { return nil }, func(d *models.Draw) error {
			if before = append(before, d.Number); len(before) > 1 {
				return nil
			}
			if _, err := st.UnsetDraw(ctx, last, "gone"); err != nil {
				return err
			}
			_, err := st.SetDraw(ctx, store.OperatorDraw{Slot: slotAt(t, "va-pick-3", "2020-01-09", models.Day), Number: "999", Reason: "new"})
			return err
		})
		if err != nil || !slices.Contains(before, "003") || slices.Contains(before, "999") {
			t.Errorf("the export shows two moments: %q, %v", before, err)
		}
		addons, after := exportedLines(t, st, store.DrawFilter{})
		if strings.Contains(after, "2020-01-03 Evening nc-pick-3") || !strings.Contains(after, "999") || slices.Contains(addons, "greenball") {
			t.Errorf("the next export does not show the changes: %q\n%s", addons, after)
		}
		between := func([]string) error { // after the names of the add-ons are read, but before any draw is
			_, err := st.SetDraw(ctx, store.OperatorDraw{Slot: slotAt(t, "va-pick-3", "2020-01-10", models.Day), Number: "888", Reason: "new"})
			return err
		}
		err = st.Export(ctx, store.DrawFilter{}, between, func(d *models.Draw) error {
			if d.Number == "888" {
				t.Error("the names of the add-ons and the draws are of two moments")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Unreadable add-ons, written by hand, are reported as such, not as a database that is away.
func TestExportBadAddons(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.OpenURL(t, url, store.Options{})
		const row = "INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at, addons) VALUES ('ny-numbers', '2020-01-01', 2, 1, '123', 'csv', '2020-01-02', '%s')"
		for _, bad := range []string{"{bad", "[1]"} {
			storetest.Exec(t, url, "DELETE FROM draws; "+fmt.Sprintf(row, bad))
			err := st.Export(t.Context(), store.DrawFilter{}, func([]string) error { return nil }, func(*models.Draw) error { return nil })
			if err == nil || models.ErrorCode(err) == models.CodeUnavailable || !strings.Contains(err.Error(), "add-ons") {
				t.Errorf("%s: %v", bad, err)
			}
		}
	})
}

// Some time zones have skipped a day. Even if a PostgreSQL session uses one of them, dates come out unchanged.
func TestDatesWhateverTheSessionsTimeZone(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	for zone, day := range map[string]string{"Pacific/Apia": "2011-12-30", "Pacific/Kiritimati": "1994-12-31", "America/New_York": "2020-03-08"} {
		joint := "?"
		if strings.Contains(url, "?") {
			joint = "&"
		}
		st := storetest.OpenURL(t, url+joint+"timezone="+zone, store.Options{})
		mergeDraws(t, st, store.Merge{
			Run:     models.ImportRun{Feed: models.FeedCSV, FinishedAt: fixedNow},
			Changes: slices.Values([]store.DrawChange{{Slot: slotAt(t, "va-pick-3", day, models.Day), Number: "548"}}),
		})
		if _, draws := exportedLines(t, st, store.DrawFilter{}); !strings.Contains(draws, day+" Day va-pick-3 1 548") {
			t.Errorf("%s: %s is exported as %s", zone, day, draws)
		}
	}
}

// Draws with the same date and time of day are exported in the byte order of their games' ids, whatever the server's
// collation, and then by sequence, whatever was inserted first.
func TestExportOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		slot := models.Slot{Date: mustDate(t, "2020-05-04"), Tod: models.Day}
		for _, id := range []string{"zza", "zz-b"} {
			_, err := st.AddGame(ctx, models.Game{ID: id, Name: id, Digits: 3, Tods: models.NewTodSet(models.Day), Jurisdiction: "ZZ", Timezone: "UTC"})
			if err != nil {
				t.Fatal(err)
			}
			for slot.GameID, slot.Sequence = id, 3; slot.Sequence > 0; slot.Sequence-- {
				if _, err := st.SetDraw(ctx, store.OperatorDraw{Slot: slot, Number: "123", Reason: "x"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []string
		err := st.Export(ctx, store.DrawFilter{}, func([]string) error { return nil }, func(d *models.Draw) error {
			got = append(got, fmt.Sprintf("%s %d", d.GameID, d.Sequence))
			return nil
		})
		if list := strings.Join(got, ", "); err != nil || list != "zz-b 1, zz-b 2, zz-b 3, zza 1, zza 2, zza 3" {
			t.Errorf("%s, %v", list, err)
		}
	})
}
