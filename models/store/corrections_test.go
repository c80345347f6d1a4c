package store_test

import (
	"fmt"
	"slices"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Each correction says what replaced it in the same slot: the next one, or what the slot holds now. Slots that have most
// of their key in common are not taken for each other.
func TestCorrections(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		again := slotAt(t, "nc-pick-3", "2020-05-04", models.Day)
		again.Sequence = 2
		slots := []models.Slot{
			slotAt(t, "nc-pick-3", "2020-05-04", models.Day), slotAt(t, "va-pick-3", "2020-05-04", models.Day),
			slotAt(t, "nc-pick-3", "2020-05-04", models.Evening), slotAt(t, "nc-pick-3", "2020-05-05", models.Day), again,
		}
		line := func(slot, change int) string {
			s := slots[slot]
			was, became := fmt.Sprintf("%d%d0", change, slot), fmt.Sprintf("%d%d0", change+1, slot)
			return fmt.Sprintf("%s %s %s %d: %s to %s, word %s", s.GameID, s.Date, s.Tod, s.Sequence, was, became, became)
		}
		for i, slot := range slots {
			importedDraw(t, st, slot, fmt.Sprintf("0%d0", i))
		}
		var all []string
		for change := range 2 {
			for i, slot := range slots {
				number := fmt.Sprintf("%d%d0", change+1, i)
				if _, err := st.SetDraw(t.Context(), store.OperatorDraw{Slot: slot, Number: number, Reason: "word " + number}); err != nil {
					t.Fatal(err)
				}
				all = append([]string{line(i, change)}, all...)
			}
		}
		first, last := slots[0].Date, slots[3].Date
		for name, c := range map[string]struct {
			filter store.CorrectionFilter
			want   []string
		}{
			"all":         {store.CorrectionFilter{}, all},
			"the newest":  {store.CorrectionFilter{Limit: 3}, all[:3]},
			"of a game":   {store.CorrectionFilter{GameID: "va-pick-3"}, []string{line(1, 1), line(1, 0)}},
			"from a day":  {store.CorrectionFilter{From: &last}, []string{line(3, 1), line(3, 0)}},
			"up to a day": {store.CorrectionFilter{To: &first, Limit: 4}, []string{line(4, 1), line(2, 1), line(1, 1), line(0, 1)}},
		} {
			found, err := st.Corrections(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range found {
				r := &found[i]
				got = append(got, fmt.Sprintf("%s %s %s %d: %s to %s, %s", r.GameID, r.Date, r.Tod, r.Sequence, r.Number, r.NewNumber, r.NewReason))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
			}
		}
	})
}

// The corrections of one import are listed by game, each with the newest date first, whatever way the database takes
// through them.
func TestCorrectionsOfOneImport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const days = 4000
		g := models.Game{ID: "nca-pick-3", Name: "Game", Digits: 3, Tods: models.NewTodSet(models.Day), Jurisdiction: "ZZ", Timezone: "UTC"}
		if _, err := st.AddGame(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		var slots []models.Slot
		// By their bytes, as an import sorts them: the tests' PostgreSQL ignores hyphens.
		for _, game := range []string{"nc-pick-3", "nc-pick-4", g.ID} {
			for day := range days {
				slots = append(slots, models.Slot{GameID: game, Date: mustDate(t, "2020-01-01") + models.Date(day), Tod: models.Day, Sequence: 1})
			}
		}
		imported := func(slots []models.Slot, number string, correct bool) {
			t.Helper()
			version, err := st.DataVersion(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = st.MergeDraws(t.Context(), version.Number, []store.Merge{{
				Run: models.ImportRun{Feed: models.FeedCSV, Source: "f", FinishedAt: fixedNow},
				Changes: func(yield func(store.DrawChange) bool) {
					for _, slot := range slots {
						if !yield(store.DrawChange{Slot: slot, Number: number, Correct: correct}) {
							return
						}
					}
				},
			}}, fixedNow)
			if err != nil {
				t.Fatal(err)
			}
		}
		parts := slices.Collect(slices.Chunk(slots, days/5))
		for _, part := range slices.Backward(parts) { // stored in another order than that of the slots
			imported(part, "123", false)
		}
		slots = slices.Concat(parts[0], parts[7], parts[14])
		imported(slots, "124", true)
		found, err := st.Corrections(t.Context(), store.CorrectionFilter{})
		if err != nil || len(found) != len(slots) {
			t.Fatal(len(found), err)
		}
		slices.Reverse(slots)
		for i, want := range slots {
			if r := &found[i]; r.GameID != want.GameID || r.Date != want.Date {
				t.Fatalf("%d: %s %s, want %s %s", i, r.GameID, r.Date, want.GameID, want.Date)
			}
		}
	})
}
