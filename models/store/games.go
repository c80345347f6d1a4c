package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"lottery/models"
)

// Games returns every known game, with draws or without, by id.
func (s *Store) Games(ctx context.Context) ([]models.Game, error) {
	var games []models.Game
	err := s.reader(ctx).Order(s.byteOrder("id")).Find(&games).Error
	return games, unavailable(err)
}

// Game returns the game with that id; CodeNotFound if there is none.
func (s *Store) Game(ctx context.Context, id string) (models.Game, error) {
	g, err := findGame(s.reader(ctx), id)
	return g, translate(err)
}

func findGame(tx *gorm.DB, id string) (models.Game, error) {
	var g models.Game
	err := gorm.ErrRecordNotFound
	if storable(id) {
		err = tx.Take(&g, "id = ?", id).Error
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return g, models.Errorf(models.CodeNotFound, "there is no game %q; `lotteryadmin games list` lists them all", id)
	}
	return g, err
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
		if err := s.bumpDataVersion(tx); err != nil {
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

// GameChange is what an operator corrects of a game; a zero value leaves a field as it is.
type GameChange struct {
	Name         string
	Tods         models.TodSet
	Jurisdiction string
	Timezone     string
}

// ChangeGame corrects a game that an operator added. CodeConflict: it has draws at a time of day that it would lose.
func (s *Store) ChangeGame(ctx context.Context, id string, change GameChange) (models.Game, error) {
	return s.withOwnGame(ctx, id, func(tx *gorm.DB, g *models.Game) (became string, err error) {
		g.Name, g.Jurisdiction = cmp.Or(change.Name, g.Name), cmp.Or(change.Jurisdiction, g.Jurisdiction)
		g.Tods, g.Timezone = cmp.Or(change.Tods, g.Tods), cmp.Or(change.Timezone, g.Timezone)
		if err := g.Validate(); err != nil {
			return "", err
		}
		var drawn []models.Tod
		if err := tx.Model(&models.Draw{}).Where("game_id = ? AND NOT void", id).Distinct().Pluck("tod", &drawn).Error; err != nil {
			return "", err
		}
		for _, tod := range drawn {
			if !g.Tods.Has(tod) {
				return "", models.Errorf(models.CodeConflict, "%s has %s draws: keep %s among its times of day, or unset those draws first", id, tod, tod)
			}
		}
		return inWords(g), tx.Model(g).Select("name", "tods", "jurisdiction", "timezone").Updates(g).Error
	})
}

// RemoveGame removes a game that an operator added. CodeConflict: it has draws, or had some that were unset.
func (s *Store) RemoveGame(ctx context.Context, id string) (models.Game, error) {
	return s.withOwnGame(ctx, id, func(tx *gorm.DB, g *models.Game) (became string, err error) {
		var draws int64
		if err := tx.Model(&models.Draw{}).Where("game_id = ?", id).Count(&draws).Error; err != nil {
			return "", err
		}
		if draws > 0 {
			return "", models.Errorf(models.CodeConflict, "%s has %s, counting those that were unset: only a game that never had any can be removed", id, models.Count(draws, "draw"))
		}
		return "", tx.Delete(g).Error
	})
}

// withOwnGame calls change, which returns what the game became, with a game that does not come with the product. No
// draws are changed meanwhile.
func (s *Store) withOwnGame(ctx context.Context, id string, change func(tx *gorm.DB, g *models.Game) (became string, err error)) (models.Game, error) {
	g, err := s.Game(ctx, id)
	if err != nil {
		return g, err
	}
	if g.Builtin {
		return g, models.Errorf(models.CodeConflict, "%s comes with the product, and is read from its lottery's feed: it stays as it is. The API lists only games that have draws", id)
	}
	err = s.transaction(ctx, func(tx *gorm.DB) error {
		if _, err := s.lockVersion(tx); err != nil {
			return err
		}
		if err := tx.Take(&g, "id = ?", id).Error; err != nil {
			return err
		}
		was := inWords(&g)
		became, err := change(tx, &g)
		if err != nil {
			return err
		}
		if err := s.bumpDataVersion(tx); err != nil {
			return err
		}
		return s.did(tx, models.AuditEntry{Object: id, Was: was, Became: became})
	})
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return g, models.Errorf(models.CodeConflict, "the game %q was removed meanwhile", id)
	}
	return g, translate(err)
}

// inWords describes a game in the audit log.
func inWords(g *models.Game) string {
	return fmt.Sprintf("%s; %s; %s; %s; %s", g.Name, models.Count(g.Digits, "digit"), g.Tods, g.Jurisdiction, g.Timezone)
}
