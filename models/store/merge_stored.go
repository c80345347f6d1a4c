package store

import (
	"context"
	"database/sql"

	"lottery/models"
)

// StoredDraws streams the game's draws from first to last, inclusive, to yield: ascending by date, tod and sequence,
// with void slots. The draw and its Addons are only valid until yield returns, and must not be changed. An error from
// yield ends the iteration and is returned as it is.
func (s *Store) StoredDraws(ctx context.Context, gameID string, first, last models.Date, yield func(*models.Draw) error) error {
	rows, err := s.reader(ctx).Model(&models.Draw{}).
		Select("date", "tod", "sequence", "number", "addons", "feed", "revision", "void", "reason", "ingested_at").
		Where("game_id = ? AND date BETWEEN ? AND ?", gameID, first, last).
		Order("date, tod, sequence").Rows()
	if err != nil {
		return unavailable(err)
	}
	defer rows.Close()
	var (
		d      = models.Draw{GameID: gameID}
		text   sql.RawBytes
		addons = storedAddons{}
	)
	for rows.Next() {
		if err := rows.Scan(&d.Date, &d.Tod, &d.Sequence, &d.Number, &text, &d.Feed, &d.Revision, &d.Void, &d.Reason, &d.IngestedAt); err != nil {
			return unavailable(err)
		}
		if d.Addons, err = addons.parse(text); err != nil {
			return unavailable(err)
		}
		if err := yield(&d); err != nil {
			return err
		}
	}
	return unavailable(rows.Err())
}

// storedAddons caches add-ons by their text: most draws have one of a few.
type storedAddons map[string]models.Addons

const maxRemembered = 4096

func (known storedAddons) parse(text []byte) (models.Addons, error) {
	if len(text) == 0 {
		return nil, nil //nolint:nilnil // no add-ons: a nil map
	}
	if a, ok := known[string(text)]; ok {
		return a, nil
	}
	var a models.Addons
	if err := a.Scan(text); err != nil {
		return nil, err
	}
	if len(known) >= maxRemembered {
		clear(known)
	}
	known[string(text)] = a
	return a, nil
}
