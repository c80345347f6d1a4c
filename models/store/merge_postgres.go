package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"

	"lottery/models"
)

// mergePostgres copies the changes into a temporary table before it takes the data version's lock.
func (s *Store) mergePostgres(ctx context.Context, basis int64, merges []Merge, now time.Time) (version models.DataVersion, err error) {
	err = s.writer(ctx).Connection(func(db *gorm.DB) error {
		conn, ok := db.Statement.ConnPool.(*sql.Conn)
		if !ok {
			return fmt.Errorf("merge on a %T", db.Statement.ConnPool)
		}
		return db.Transaction(func(tx *gorm.DB) error {
			if err := giveUpDeadClient(tx); err != nil {
				return err
			}
			if err := tx.Exec(fmt.Sprintf(createStage, "DATE") + " ON COMMIT DROP").Error; err != nil {
				return fmt.Errorf("stage the draws: %w", err)
			}
			counts, err := stagePostgres(ctx, conn, merges)
			if err != nil {
				return fmt.Errorf("stage the draws: %w", err)
			}
			// Without statistics the planner takes a new table for a small one.
			if err := tx.Exec("ANALYZE " + stageTable).Error; err != nil {
				return fmt.Errorf("stage the draws: %w", err)
			}
			version, err = s.applyMerges(tx, basis, merges, counts, now)
			return err
		})
	})
	return version, err
}

// stagePostgres fills the stage with COPY, within conn's transaction.
func stagePostgres(ctx context.Context, conn *sql.Conn, merges []Merge) ([]staged, error) {
	counts := make([]staged, len(merges))
	columns := strings.Split(stageColumns, ", ")
	for i := range merges {
		if merges[i].Changes == nil {
			continue
		}
		next, stop := iter.Pull(merges[i].Changes)
		defer stop()
		row := make([]any, len(columns))
		rows := pgx.CopyFromFunc(func() ([]any, error) {
			change, ok := next()
			if !ok {
				return nil, nil // the end, for CopyFromFunc
			}
			counts[i].add(&change)
			row = append(row[:0], i, change.Correct, change.Slot.GameID, change.Slot.Date.Time(), int(change.Slot.Tod), change.Slot.Sequence,
				change.Number, change.Addons)
			return row, nil
		})
		err := conn.Raw(func(driver any) error {
			c, ok := driver.(*stdlib.Conn)
			if !ok {
				return fmt.Errorf("copy on a %T", driver)
			}
			_, err := c.Conn().CopyFrom(ctx, pgx.Identifier{stageTable}, columns, rows)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}
