package store

import (
	"context"

	"lottery/models"
)

// NewestImports is the newest import of each feed, by feed.
func (s *Store) NewestImports(ctx context.Context) ([]models.ImportRun, error) {
	var list []models.ImportRun
	err := s.reader(ctx).Where("id IN (SELECT MAX(id) FROM import_runs GROUP BY feed)").Order("feed").Find(&list).Error
	if err != nil {
		return nil, unavailable(err)
	}
	return list, nil
}
