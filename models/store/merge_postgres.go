package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"lottery/models"
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
		counts, err := stage(fill, merges, func(d models.Date) any { return d.Time() })
		if err != nil {
			return fmt.Errorf("stage the draws: %w", err)
		}
		// Without statistics the planner takes a new table for a small one.
		if err := tx.Exec("ANALYZE import_stage").Error; err != nil {
			return fmt.Errorf("stage the draws: %w", err)
		}
		return s.applyMerges(tx, basis, merges, counts, now)
	})
}
