package importer_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/store"
)

// TestGameIsRemovedMeanwhile: an import whose game an operator removes changes nothing, and says why.
func TestGameIsRemovedMeanwhile(t *testing.T) {
	onEach(t, func(b *bench) {
		ctx := context.Background()
		g := models.Game{ID: "zz-pick-3", Name: "Game", Digits: 3, Tods: models.NewTodSet(models.Day), Jurisdiction: "ZZ", Timezone: "UTC"}
		if _, err := b.st.AddGame(ctx, g); err != nil {
			b.Fatal(err)
		}
		before := b.draws()
		_, err := importer.Run(ctx, b.st, []importer.Source{text("f", "game,date,tod,number\nzz-pick-3,2024-01-02,Day,123\n")}, importer.Options{
			Feed: models.FeedCSV, Progress: func(p importer.Progress) {
				if p.Phase != importer.PhaseWriting {
					return
				}
				if _, err := b.st.RemoveGame(ctx, g.ID); err != nil && models.ErrorCode(err) != models.CodeNotFound {
					b.Error(err)
				}
			},
		})
		if models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "was removed meanwhile") {
			b.Error(err)
		}
		wantLines(b, "draws", b.draws(), before...)
	})
}

// TestGameIsChangedMeanwhile: an import whose game loses a time of day to an operator changes nothing, and says why.
func TestGameIsChangedMeanwhile(t *testing.T) {
	onEach(t, func(b *bench) {
		ctx := context.Background()
		g := models.Game{ID: "zz-pick-3", Name: "Game", Digits: 3, Tods: models.NewTodSet(models.Day, models.Night), Jurisdiction: "ZZ", Timezone: "UTC"}
		if _, err := b.st.AddGame(ctx, g); err != nil {
			b.Fatal(err)
		}
		before := b.draws()
		var once sync.Once
		_, err := importer.Run(ctx, b.st, []importer.Source{text("f", "game,date,tod,number\nzz-pick-3,2024-01-02,Night,123\n")}, importer.Options{
			Feed: models.FeedCSV, Progress: func(p importer.Progress) {
				if p.Phase != importer.PhaseWriting {
					return
				}
				once.Do(func() {
					if _, err := b.st.ChangeGame(ctx, g.ID, store.GameChange{Tods: models.NewTodSet(models.Day)}); err != nil {
						b.Error(err)
					}
				})
			},
		})
		if models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "was changed meanwhile") {
			b.Error(err)
		}
		wantLines(b, "draws", b.draws(), before...)
	})
}
