package store

import (
	"context"
	"database/sql"
	"fmt"

	"lottery/models"
)

// DrawFunc receives one draw; number is only valid during the call.
type DrawFunc func(date models.Date, tod models.Tod, sequence int, number []byte) error

// LoadDraws reads every game and every draw as of one moment. begin is called first; then game is called for each game,
// by id, and the function it returns for that game's draws, oldest first. Void slots are left out.
func (s *Store) LoadDraws(ctx context.Context, begin func(models.DataVersion), game func(models.Game) DrawFunc) error {
	tx := s.snapshot(s.urgent(ctx))
	if tx.Error != nil {
		return unavailable(tx.Error)
	}
	defer tx.Rollback()

	version, err := dataVersion(tx)
	if err != nil {
		return unavailable(err)
	}
	begin(version)
	var games []models.Game
	if err := tx.Order(s.byteOrder("id")).Find(&games).Error; err != nil {
		return unavailable(err)
	}
	// Plain columns and reused buffers: a million rows pass through here each time the index is built.
	query := "SELECT " + s.dateText() + ", tod, sequence, number FROM draws WHERE game_id = ? AND NOT void ORDER BY game_id, draws.date, tod, sequence"
	for _, g := range games {
		take := game(g)
		rows, err := tx.Raw(query, g.ID).Rows()
		if err != nil {
			return unavailable(err)
		}
		if err := eachDraw(rows, take); err != nil {
			return fmt.Errorf("load %s: %w", g.ID, err)
		}
	}
	return nil
}

func eachDraw(rows *sql.Rows, take DrawFunc) error {
	defer rows.Close()
	var text, number sql.RawBytes
	var date models.Date
	var last [10]byte // the text that date was parsed from: most days have several draws
	var tod, sequence int
	for rows.Next() {
		if err := rows.Scan(&text, &tod, &sequence, &number); err != nil {
			return err
		}
		if len(text) != len(last) || [10]byte(text) != last {
			var err error
			if date, err = models.ParseDate(string(text)); err != nil {
				date = models.FirstDate - 1 // written by hand: take refuses it, as it does other impossible rows
			}
			last = [10]byte{} // a date of another length is not cached
			copy(last[:], text)
		}
		if err := take(date, models.Tod(tod), sequence, number); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}
