package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"lottery/models"
)

// DrawFilter narrows Export; zero fields have no effect.
type DrawFilter struct {
	GameID   string
	From, To *models.Date // inclusive
}

// Export streams the draws of one moment, oldest first: by date, tod, game id, sequence. Void slots are left out. begin
// is called first, with the sorted names of the add-ons in the selection. The draw passed to yield is only valid during
// the call, and has only its slot, number and add-ons.
func (s *Store) Export(ctx context.Context, f DrawFilter, begin func(addons []string) error, yield func(*models.Draw) error) error {
	tx := s.snapshot(s.reader(ctx))
	if tx.Error != nil {
		return translate(tx.Error)
	}
	defer tx.Rollback()

	where, args := f.where()
	names, err := s.addonNames(tx, where, args)
	if isBadJSON(err) {
		return errors.New("the database has a draw whose add-ons cannot be read: `lotteryadmin draws verify` shows which")
	}
	if err != nil {
		return translate(err)
	}
	if err := begin(names); err != nil {
		return err
	}
	rows, err := tx.Raw("SELECT "+s.dateText()+", tod, game_id, sequence, number, addons FROM draws"+where+
		" ORDER BY draws.date, tod, "+s.byteOrder("game_id")+", sequence", args...).Rows()
	if err != nil {
		return translate(err)
	}
	return exportRows(rows, yield)
}

// snapshot begins a read transaction that sees one moment: any does on SQLite, only this isolation level on PostgreSQL.
func (s *Store) snapshot(db *gorm.DB) *gorm.DB {
	opts := &sql.TxOptions{ReadOnly: true}
	if s.dialect == Postgres {
		opts.Isolation = sql.LevelRepeatableRead
	}
	return db.Begin(opts)
}

// dateText is SQL for the draws' date as YYYY-MM-DD.
func (s *Store) dateText() string {
	if s.dialect == Postgres {
		// Not date::text, whose format depends on the server's DateStyle; and not to_char of a date, which would become
		// midnight in the session's time zone: some zones have skipped a day.
		return "to_char(date::timestamp, 'YYYY-MM-DD')"
	}
	return "date"
}

// byteOrder is SQL that sorts a text column by its bytes, whatever the database's collation.
func (s *Store) byteOrder(column string) string {
	if s.dialect == Postgres {
		return column + ` COLLATE "C"`
	}
	return column
}

func (f DrawFilter) where() (clause string, args []any) {
	clause = " WHERE NOT void"
	if f.GameID != "" {
		clause, args = clause+" AND game_id = ?", append(args, f.GameID)
	}
	if f.From != nil {
		clause, args = clause+" AND date >= ?", append(args, *f.From)
	}
	if f.To != nil {
		clause, args = clause+" AND date <= ?", append(args, *f.To)
	}
	return clause, args
}

// addonNames returns the sorted names of the add-ons that occur. The subqueries end in OFFSET so that the planner keeps
// them separate, and never parses the empty text of a draw without add-ons as JSON.
func (s *Store) addonNames(tx *gorm.DB, where string, args []any) ([]string, error) {
	withAddons := "(SELECT addons FROM draws" + where + " AND addons <> ''"
	query := "SELECT DISTINCT key FROM " + withAddons + " LIMIT -1 OFFSET 0) AS d, json_each(d.addons)"
	if s.dialect == Postgres {
		query = "SELECT DISTINCT json_object_keys(addons::json) FROM " + withAddons + " OFFSET 0) AS d"
	}
	var names []string
	if err := tx.Raw(query, args...).Scan(&names).Error; err != nil {
		return nil, fmt.Errorf("list the add-ons: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// isBadJSON reports whether err is about a stored text that is not JSON, or not an object of texts.
func isBadJSON(err error) bool {
	const invalidText, notAnObject = "22P02", "22023"
	if code := postgresCode(err); code != "" {
		return code == invalidText || code == notAnObject
	}
	return err != nil && strings.Contains(err.Error(), "malformed JSON") // SQLite's driver has no separate code for it
}

func exportRows(rows *sql.Rows, yield func(*models.Draw) error) error {
	defer rows.Close()
	var d models.Draw
	var date, game, number, addons sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&date, &d.Tod, &game, &d.Sequence, &number, &addons); err != nil {
			return translate(err)
		}
		if err := d.Date.UnmarshalText(date); err != nil {
			return fmt.Errorf("the database has a draw of %s on an impossible date (see `lotteryadmin draws verify`): %w", game, err)
		}
		if d.GameID != string(game) {
			d.GameID = string(game)
		}
		d.Number, d.Addons = string(number), nil
		if len(addons) > 0 {
			if err := json.Unmarshal(addons, (*map[string]string)(&d.Addons)); err != nil {
				return fmt.Errorf("the add-ons of %s on %s %s: %w", d.GameID, d.Date, d.Tod, err)
			}
		}
		if err := yield(&d); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}
