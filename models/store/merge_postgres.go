package store

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"gorm.io/gorm"
)

// mergePostgres copies the changes into a temporary table before it takes the data version's lock.
func (s *Store) mergePostgres(ctx context.Context, basis int64, merges []Merge, now time.Time) error {
	return s.fillPostgres(ctx, func(tx *gorm.DB, fill filling) error {
		if err := giveUpDeadClient(tx); err != nil {
			return err
		}
		if err := tx.Exec(fmt.Sprintf(createStage, "DATE") + " ON COMMIT DROP").Error; err != nil {
			return fmt.Errorf("stage the draws: %w", err)
		}
		counts, err := stagePostgres(fill, merges)
		if err != nil {
			return fmt.Errorf("stage the draws: %w", err)
		}
		// Without statistics the planner takes a new table for a small one.
		if err := tx.Exec("ANALYZE " + stageTable).Error; err != nil {
			return fmt.Errorf("stage the draws: %w", err)
		}
		return s.applyMerges(tx, basis, merges, counts, now)
	})
}

// stagePostgres fills the stage.
func stagePostgres(fill filling, merges []Merge) ([]staged, error) {
	counts := make([]staged, len(merges))
	stage := schemaTable{stageTable, strings.Split(stageColumns, ", ")}
	for i := range merges {
		if merges[i].Changes == nil {
			continue
		}
		next, stop := iter.Pull(merges[i].Changes)
		defer stop()
		row := make([]any, len(stage.columns))
		_, err := fill(stage, func() ([]any, error) {
			change, ok := next()
			if !ok {
				return nil, nil // the end
			}
			counts[i].add(&change)
			row = append(row[:0], i, change.Correct, change.Slot.GameID, change.Slot.Date.Time(), int(change.Slot.Tod), change.Slot.Sequence,
				change.Number, change.Addons)
			return row, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}
