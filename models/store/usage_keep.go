package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"lottery/models"
)

// prunedRows is how many rows of a table are deleted at a time: a moment's work, since on SQLite all other writers wait
// for it.
const prunedRows = 500

// pruning is the SQL that deletes one portion of the rows where the condition holds, in the order of age: a column with
// an index if the table can be large. In the order of key, each portion would be looked for in the whole table, while
// on SQLite the daily quotas wait.
func pruning(table, key, where, age string, rows int64) string {
	return fmt.Sprintf("DELETE FROM %[1]s WHERE (%[2]s) IN (SELECT %[2]s FROM %[1]s WHERE %[3]s ORDER BY %[4]s LIMIT %[5]d)",
		table, key, where, age, rows)
}

// PruneUsage deletes some of the counts and warnings from more than models.UsageKept days ago, by Clock and this
// machine's. more reports whether it must be called again for the rest.
func (s *Store) PruneUsage(ctx context.Context) (more bool, err error) {
	now, err := s.earlier(s.urgent(ctx))
	if err != nil {
		return false, err
	}
	before := models.DateOf(now) - models.UsageKept
	for _, old := range []struct{ table, key string }{
		{"usage_days", "account_id, day, endpoint, class"},
		{"usage_warnings", "account_id, day, percent"},
	} {
		statement := pruning(old.table, old.key, "day < ?", "day", prunedRows)
		err := s.counting(ctx, func(tx *gorm.DB) error {
			deleted := tx.Exec(statement, before)
			more = more || deleted.RowsAffected == prunedRows
			return deleted.Error
		})
		if err != nil {
			return false, err
		}
	}
	return more, nil
}
