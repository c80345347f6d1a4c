package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"gorm.io/gorm"

	"lottery/models"
)

// DataVersion returns the current state of all draws and games.
func (s *Store) DataVersion(ctx context.Context) (models.DataVersion, error) {
	if err := s.replaced(); err != nil {
		return models.DataVersion{}, err
	}
	v, err := dataVersion(s.urgent(ctx))
	return v, unavailable(err)
}

func dataVersion(tx *gorm.DB) (models.DataVersion, error) {
	var v models.DataVersion
	err := tx.Table("data_version").Select("number", "token", "updated_at").Where("id = 1").Take(&v).Error
	v.UpdatedAt = v.UpdatedAt.UTC()
	return v, err
}

// bumpDataVersion moves the version within tx. The row stays locked until commit, so versions are
// numbered in commit order.
func (s *Store) bumpDataVersion(tx *gorm.DB) error {
	var token [8]byte
	rand.Read(token[:]) // never fails since Go 1.24: it crashes the program instead
	err := tx.Table("data_version").Where("id = 1").Updates(map[string]any{
		"number": gorm.Expr("number + 1"), "token": hex.EncodeToString(token[:]), "updated_at": s.now(),
	}).Error
	if err != nil {
		return fmt.Errorf("move the data version: %w", err)
	}
	return nil
}
