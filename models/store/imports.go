package store

import (
	"context"

	"lottery/models"
)

// NewestImports returns, by feed, the newest import of each feed in which not every draw was rejected.
func (s *Store) NewestImports(ctx context.Context) ([]models.ImportRun, error) {
	var list []models.ImportRun
	err := s.reader(ctx).Where("id IN (SELECT MAX(id) FROM import_runs GROUP BY feed)").Order("feed").Find(&list).Error
	if err != nil {
		return nil, unavailable(err)
	}
	taken := list[:0]
	for _, run := range list {
		if run.Summary.AllRejected() { // rare, so the other feeds need no look into each summary
			var earlier []models.ImportRun
			err := s.reader(ctx).Where("feed = ? AND "+s.someTaken(), run.Feed).Order("id DESC").Limit(1).Find(&earlier).Error
			if err != nil {
				return nil, unavailable(err)
			}
			taken = append(taken, earlier...)
			continue
		}
		taken = append(taken, run)
	}
	return taken, nil
}

// someTaken is SQL for the negation of models.ImportSummary.AllRejected.
func (s *Store) someTaken() string {
	if s.dialect == Postgres {
		return "((summary::json->>'rejected')::bigint = 0 OR (summary::json->>'rejected')::bigint < (summary::json->>'draws')::bigint)"
	}
	return "(json_extract(summary, '$.rejected') = 0 OR json_extract(summary, '$.rejected') < json_extract(summary, '$.draws'))"
}
