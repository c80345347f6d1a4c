package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
)

// JobRuns returns the last run of every job that ever ran, by job name.
func (s *Store) JobRuns(ctx context.Context) (map[string]*models.JobRun, error) {
	var list []*models.JobRun
	if err := s.reader(ctx).Find(&list).Error; err != nil {
		return nil, unavailable(err)
	}
	runs := make(map[string]*models.JobRun, len(list))
	for _, r := range list {
		runs[r.Job] = r
	}
	return runs, nil
}

// SaveJobRun stores the state of a run under its job's lease: a node that lost the lease cannot
// overwrite its successor's record.
func (s *Store) SaveJobRun(ctx context.Context, l Lease, r models.JobRun) error {
	return translate(s.under(ctx, l, func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&r).Error
	}))
}
