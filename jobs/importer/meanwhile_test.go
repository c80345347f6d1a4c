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

// TestAnotherGameIsChangedMeanwhile: an import does not mind what becomes of a game that its file has no draws of.
func TestAnotherGameIsChangedMeanwhile(t *testing.T) {
	onEach(t, func(b *bench) {
		ctx := context.Background()
		for _, id := range []string{"aa-pick-3", "mm-pick-3", "zz-pick-3"} {
			g := models.Game{ID: id, Name: "Game", Digits: 3, Tods: models.NewTodSet(models.Day, models.Night), Jurisdiction: "ZZ", Timezone: "UTC"}
			if _, err := b.st.AddGame(ctx, g); err != nil {
				b.Fatal(err)
			}
		}
		before := b.draws()
		var once sync.Once
		// mm-pick-3's row is rejected, so nothing of it is imported either.
		file := "game,date,tod,number\naa-pick-3,2024-01-02,Night,123\nmm-pick-3,2024-01-02,Night,12\nzz-pick-3,2024-01-02,Night,456\n"
		_, err := importer.Run(ctx, b.st, []importer.Source{text("f", file)}, importer.Options{
			Feed: models.FeedCSV, Progress: func(p importer.Progress) {
				if p.Phase != importer.PhaseWriting {
					return
				}
				once.Do(func() {
					if _, err := b.st.ChangeGame(ctx, "mm-pick-3", store.GameChange{Tods: models.NewTodSet(models.Day)}); err != nil {
						b.Error(err)
					}
				})
			},
		})
		if err != nil {
			b.Error(err)
		}
		if added := len(b.draws()) - len(before); added != 2 {
			b.Errorf("%d draws were added", added)
		}
	})
}
