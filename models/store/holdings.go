package store

import (
	"context"

	"lottery/models"
)

// Holding is how many draws a game has, void slots aside, and from when to when.
type Holding struct {
	GameID string
	Draws  int
	First  models.Date
	Last   models.Date
}

// Holdings is what every game that has draws holds, by game id.
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
