package store

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"lottery/models"
)

// Games returns every known game, with draws or without, by id.
func (s *Store) Games(ctx context.Context) ([]models.Game, error) {
	var games []models.Game
	if err := s.reader(ctx).Order(s.byteOrder("id")).Find(&games).Error; err != nil {
		return nil, unavailable(err)
	}
	return games, nil
}

// Game returns the game with that id; CodeNotFound if there is none.
func (s *Store) Game(ctx context.Context, id string) (models.Game, error) {
	var g models.Game
	err := gorm.ErrRecordNotFound
	if storable(id) {
		err = s.reader(ctx).Take(&g, "id = ?", id).Error
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return g, models.Errorf(models.CodeNotFound, "there is no game %q; `lotteryadmin games list` lists them all", id)
	}
	if err != nil {
		return g, unavailable(err)
	}
	return g, nil
}

// AddGame adds a game; CodeConflict if the id is taken.
func (s *Store) AddGame(ctx context.Context, g models.Game) (models.Game, error) {
	if err := g.Validate(); err != nil {
		return g, err
	}
	g.CreatedAt = s.now()
	err := s.transaction(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&g).Error; err != nil {
			return err
		}
		if _, err := s.bumpDataVersion(tx); err != nil {
			return err
		}
		return s.did(tx, models.AuditEntry{Object: g.ID})
	})
	switch {
	case errors.Is(err, gorm.ErrDuplicatedKey):
		return g, models.Errorf(models.CodeConflict, "there is already a game %q", g.ID)
	case err != nil:
		return g, unavailable(err)
	}
	return g, nil
}
