package store

import (
	"context"

	"lottery/models"
)

// Holding is how many draws a game has, without void slots, and over which dates.
type Holding struct {
	GameID string
	Draws  int
	First  models.Date
	Last   models.Date
}

// Holdings returns what every game with draws holds, by game id.
func (s *Store) Holdings(ctx context.Context) (map[string]Holding, error) {
	var list []Holding
	err := s.reader(ctx).Model(&models.Draw{}).Where("NOT void").Group("game_id").
		Select("game_id", "COUNT(*) AS draws", "MIN(date) AS first", "MAX(date) AS last").Scan(&list).Error
	if err != nil {
		return nil, translate(err)
	}
	held := make(map[string]Holding, len(list))
	for _, h := range list {
		held[h.GameID] = h
	}
	return held, nil
}

// NewestDates returns, by game id, the date of the newest draw of each time of day, ignoring void slots.
func (s *Store) NewestDates(ctx context.Context) (map[string]map[models.Tod]models.Date, error) {
	var list []struct {
		GameID string
		Tod    models.Tod
		Last   models.Date
	}
	err := s.reader(ctx).Model(&models.Draw{}).Where("NOT void").Group("game_id, tod").
		Select("game_id", "tod", "MAX(date) AS last").Scan(&list).Error
	if err != nil {
		return nil, translate(err)
	}
	newest := map[string]map[models.Tod]models.Date{}
	for _, n := range list {
		if newest[n.GameID] == nil {
			newest[n.GameID] = map[models.Tod]models.Date{}
		}
		newest[n.GameID][n.Tod] = n.Last
	}
	return newest, nil
}

// DrawsFrom counts the draws of the games from since on whose last source is feed, without void slots.
func (s *Store) DrawsFrom(ctx context.Context, feed string, games []string, since models.Date) (int, error) {
	var n int64
	err := s.reader(ctx).Model(&models.Draw{}).Where("game_id IN ? AND date >= ? AND feed = ? AND NOT void", games, since, feed).Count(&n).Error
	return int(n), translate(err)
}
