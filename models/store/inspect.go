package store

import (
	"context"

	"lottery/models"
)

// StoredDraw is a row of draws as stored, unchecked: a faulty program or a person may have written it.
type StoredDraw struct {
	GameID   string
	Date     string
	Tod      models.Tod
	Sequence int
	Number   string
	Addons   string // a JSON object of texts; "" = none
}

// InspectDraws streams the rows of one game, or of all (""), by game and oldest first, as of one moment. Void slots are
// left out. The row passed to yield is only valid during the call.
func (s *Store) InspectDraws(ctx context.Context, gameID string, yield func(*StoredDraw) error) error {
	tx := s.snapshot(s.reader(ctx))
	if tx.Error != nil {
		return translate(tx.Error)
	}
	defer tx.Rollback()
	where, args := DrawFilter{GameID: gameID}.where()
	rows, err := tx.Raw("SELECT game_id, COALESCE("+s.dateText()+", ''), tod, sequence, number, addons FROM draws"+where+
		" ORDER BY game_id, draws.date, tod, sequence", args...).Rows()
	if err != nil {
		return translate(err)
	}
	defer rows.Close()
	var d StoredDraw
	for rows.Next() {
		if err := rows.Scan(&d.GameID, &d.Date, &d.Tod, &d.Sequence, &d.Number, &d.Addons); err != nil {
			return translate(err)
		}
		if err := yield(&d); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}
