package jobs

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"time"

	"lottery/models"
	"lottery/models/store"
)

// sampleYears is how many years of draws the sample games have.
const sampleYears = 10

// sampleSeed makes the sample draws the same on every machine, and the same for a given day whenever they are made.
const sampleSeed = 20160229

// sampleGames returns the fictional games of the demo.
func sampleGames() []models.Game {
	games := make([]models.Game, 0, 3)
	for digits := 3; digits <= 5; digits++ {
		games = append(games, models.Game{
			ID: fmt.Sprintf("sample-pick-%d", digits), Name: fmt.Sprintf("Sample Pick %d", digits), Digits: digits,
			Tods: models.NewTodSet(models.Midday, models.Evening), Jurisdiction: "Sample", Timezone: "UTC",
		})
	}
	return games
}

// FillSamples adds the sample games, and those of their draws up to yesterday that are missing.
func FillSamples(ctx context.Context, st *store.Store, now time.Time) error {
	for _, g := range sampleGames() {
		if _, err := st.AddGame(ctx, g); err != nil && models.ErrorCode(err) != models.CodeConflict {
			return fmt.Errorf("add %s: %w", g.ID, err)
		}
	}
	for {
		version, err := st.DataVersion(ctx)
		if err != nil {
			return err
		}
		var merges []store.Merge
		for _, g := range sampleGames() {
			missing, err := missingSamples(ctx, st, g, now)
			if err != nil {
				return err
			}
			if len(missing) > 0 {
				merges = append(merges, sampleMerge(g, missing, now))
			}
		}
		if len(merges) == 0 {
			return nil
		}
		if err = st.MergeDraws(ctx, version.Number, merges, now); err != store.ErrStale { //nolint:errorlint // it is given bare
			return err
		}
	}
}

// missingSamples returns the days on which g still lacks a draw.
func missingSamples(ctx context.Context, st *store.Store, g models.Game, now time.Time) ([]models.Date, error) {
	zone, err := g.Location()
	if err != nil {
		return nil, err
	}
	yesterday := models.DateOf(now.In(zone)) - 1
	y, m, d := yesterday.Civil()
	first := models.NewDate(y-sampleYears, m, d)
	held := map[models.Date]bool{}
	err = st.StoredDraws(ctx, g.ID, first, yesterday, func(d *models.Draw) error {
		held[d.Date] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	var missing []models.Date
	for day := first; day <= yesterday; day++ {
		if !held[day] {
			missing = append(missing, day)
		}
	}
	return missing, nil
}

func sampleMerge(g models.Game, days []models.Date, now time.Time) store.Merge {
	drawn := len(days) * g.Tods.Len()
	return store.Merge{
		Run: models.ImportRun{Feed: models.FeedCSV, Source: "sample", FinishedAt: now.UTC(), Summary: models.ImportSummary{
			Feed: models.FeedCSV, Files: 1, Lines: drawn, Draws: drawn, Inserted: drawn, Rejections: map[models.Reason]int{},
		}},
		Changes: sampleDraws(g, days),
	}
}

func sampleDraws(g models.Game, days []models.Date) iter.Seq[store.DrawChange] {
	return func(yield func(store.DrawChange) bool) {
		for _, day := range days {
			for _, tod := range g.Tods.Tods() {
				change := store.DrawChange{
					Slot:   models.Slot{GameID: g.ID, Date: day, Tod: tod, Sequence: 1},
					Number: sampleNumber(g, day, tod),
				}
				if !yield(change) {
					return
				}
			}
		}
	}
}

// sampleNumber returns the number drawn in a slot. It depends on the slot alone, so that a later start extends the same
// history.
func sampleNumber(g models.Game, day models.Date, tod models.Tod) string {
	slot := fnv.New64a()
	fmt.Fprintf(slot, "%s %s %s", g.ID, day, tod)
	random := rand.New(rand.NewPCG(sampleSeed, slot.Sum64()))
	number := make([]byte, g.Digits)
	for i := range number {
		number[i] = byte('0' + random.IntN(10))
	}
	return string(number)
}
