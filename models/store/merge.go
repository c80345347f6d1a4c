package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// ErrStale means that the draws have changed since a merge was planned: compare again, then merge again.
var ErrStale = errors.New("the draws have changed since they were compared")

// DrawChange is a slot that an import fills or corrects.
type DrawChange struct {
	Slot    models.Slot
	Number  string
	Addons  string // the slot's new add-ons, as written by models.Addons.Value
	Correct bool   // the slot holds other digits or add-ons, which become a revision; false = it is empty
}

// Merge is the changes from one file.
type Merge struct {
	Run     models.ImportRun
	Changes iter.Seq[DrawChange] // each slot once, ascending; iterated once
}

// MergeDraws applies the merges in order, in one transaction: previous contents of corrected slots go to
// draw_revisions, the slots change, each merge leaves its import run, and the data version moves if any slot did.
//
// basis is the number of the data version for which the changes were planned. If it has moved since, or a slot is not
// as planned, nothing changes and the error is ErrStale. now is the time recorded for newly filled slots and replaced
// revisions. All rows are staged before the write lock is taken; only the transaction that copies them holds it.
func (s *Store) MergeDraws(ctx context.Context, basis int64, merges []Merge, now time.Time) error {
	merge := s.mergeSQLite
	if s.dialect == Postgres {
		merge = s.mergePostgres
	}
	err := merge(ctx, basis, merges, now.UTC().Truncate(time.Microsecond))
	switch {
	case errors.Is(err, gorm.ErrDuplicatedKey), errors.Is(err, ErrStale):
		return ErrStale
	case err == nil, ctx.Err() != nil:
		return err
	default:
		return translate(err)
	}
}

// stageTable is the temporary table with the changes of all merges.
var stageTable = schemaTable{"import_stage", []string{"merge", "correct", "game_id", "date", "tod", "sequence", "number", "addons"}}

// createStage makes it. Both databases understand its types, except the date's.
const createStage = "CREATE TEMPORARY TABLE import_stage" +
	" (merge INTEGER, correct BOOLEAN, game_id TEXT, date %s, tod SMALLINT, sequence SMALLINT, number TEXT, addons TEXT)"

// staged counts the changes of one merge.
type staged struct{ inserts, corrections int64 }

// stage fills the stage. date returns a date as its column accepts it.
func stage(fill filling, merges []Merge, date func(models.Date) any) ([]staged, error) {
	counts := make([]staged, len(merges))
	_, err := fill(stageTable, func(yield func([]any, error) bool) {
		row := make([]any, len(stageTable.columns))
		for i := range merges {
			if merges[i].Changes == nil {
				continue
			}
			for c := range merges[i].Changes {
				if c.Correct {
					counts[i].corrections++
				} else {
					counts[i].inserts++
				}
				row = append(row[:0], i, c.Correct, c.Slot.GameID, date(c.Slot.Date), int(c.Slot.Tod), c.Slot.Sequence, c.Number, c.Addons)
				if !yield(row, nil) {
					return
				}
			}
		}
	})
	return counts, err
}

// applyMerges is the body of the transaction, on the connection that has the stage.
func (s *Store) applyMerges(tx *gorm.DB, basis int64, merges []Merge, counts []staged, now time.Time) error {
	version, err := s.lockVersion(tx)
	if err != nil {
		return err
	}
	if version.Number != basis {
		return ErrStale
	}
	changed := false
	for i := range merges {
		if err := s.applyMerge(tx, i, &merges[i].Run, counts[i], now); err != nil {
			return err
		}
		changed = changed || counts[i] != staged{}
	}
	if !changed {
		return nil
	}
	return s.bumpDataVersion(tx)
}

// lockVersion reads the data version and keeps others from moving it until tx ends: whoever changes draws locks it
// first. On SQLite, tx already holds the only write lock.
func (s *Store) lockVersion(tx *gorm.DB) (models.DataVersion, error) {
	if s.dialect == Postgres {
		if err := tx.Exec("SELECT number FROM data_version WHERE id = 1 FOR UPDATE").Error; err != nil {
			return models.DataVersion{}, fmt.Errorf("lock the data version: %w", err)
		}
	}
	version, err := dataVersion(tx)
	if err != nil {
		return version, fmt.Errorf("read the data version: %w", err)
	}
	return version, nil
}

func (s *Store) applyMerge(tx *gorm.DB, merge int, run *models.ImportRun, n staged, now time.Time) error {
	feed, at := "?", "?"
	if s.dialect == Postgres {
		feed, at = "CAST(? AS TEXT)", "CAST(? AS TIMESTAMPTZ)"
	}
	for _, step := range []struct {
		what string
		rows int64
		sql  string
		args []any
	}{
		{
			"insert draws", n.inserts,
			"INSERT INTO draws (game_id, date, tod, sequence, number, addons, feed, revision, void, reason, ingested_at)" +
				" SELECT game_id, date, tod, sequence, number, addons, " + feed + ", 1, FALSE, '', " + at +
				" FROM import_stage WHERE merge = ? AND NOT correct",
			[]any{run.Feed, now, merge},
		},
		{
			// In order, since Corrections lists revisions by their id.
			"keep revisions", n.corrections,
			"INSERT INTO draw_revisions (game_id, date, tod, sequence, revision, number, addons, feed, void, reason, replaced_at, replaced_by)" +
				" SELECT d.game_id, d.date, d.tod, d.sequence, d.revision, d.number, d.addons, d.feed, d.void, d.reason, " + at + ", " + feed +
				" FROM import_stage s JOIN draws d ON d.game_id = s.game_id AND d.date = s.date AND d.tod = s.tod AND d.sequence = s.sequence" +
				" WHERE s.merge = ? AND s.correct ORDER BY " + s.byteOrder("s.game_id") + ", s.date, s.tod, s.sequence",
			[]any{now, run.Feed, merge},
		},
		{
			// An upsert, since UPDATE … FROM a million rows takes a quarter longer. It inserts nothing: the step before
			// has verified that all these slots hold draws.
			"correct draws", n.corrections,
			"INSERT INTO draws AS d (game_id, date, tod, sequence, number, addons, feed, revision, void, reason, ingested_at)" +
				" SELECT game_id, date, tod, sequence, number, addons, " + feed + ", 1, FALSE, '', " + at +
				" FROM import_stage WHERE merge = ? AND correct" +
				" ON CONFLICT (game_id, date, tod, sequence) DO UPDATE SET number = excluded.number, addons = excluded.addons," +
				" feed = excluded.feed, revision = d.revision + 1, void = FALSE, reason = ''",
			[]any{run.Feed, now, merge},
		},
	} {
		if step.rows == 0 {
			continue
		}
		done := tx.Exec(step.sql, step.args...)
		if done.Error != nil {
			return fmt.Errorf("%s: %w", step.what, done.Error)
		}
		if done.RowsAffected != step.rows {
			return ErrStale
		}
	}
	run.ID, run.Source = 0, strings.ToValidUTF8(run.Source, "\ufffd") // a file's name may contain any bytes
	if err := tx.Create(run).Error; err != nil {
		return fmt.Errorf("record the import: %w", err)
	}
	return nil
}
