package store

import (
	"context"

	"lottery/models"
)

// newestRuns is SQL for the ids of the newest import of each feed, found by one look into the index for each feed.
const newestRuns = "WITH RECURSIVE feeds (feed) AS (SELECT MIN(feed) FROM import_runs" +
	" UNION ALL SELECT (SELECT MIN(feed) FROM import_runs WHERE feed > feeds.feed) FROM feeds WHERE feeds.feed IS NOT NULL)" +
	" SELECT (SELECT MAX(id) FROM import_runs WHERE feed = feeds.feed) FROM feeds WHERE feed IS NOT NULL"

// NewestImports returns, by feed, the newest import of each feed in which not every draw was rejected.
func (s *Store) NewestImports(ctx context.Context) ([]models.ImportRun, error) {
	var list []models.ImportRun
	err := s.reader(ctx).Where("id IN (" + newestRuns + ")").Order("feed").Find(&list).Error
	if err != nil {
		return nil, unavailable(err)
	}
	taken := list[:0]
	for _, run := range list {
		if run.Summary.AllRejected() { // rare, so the other feeds need no look into each summary
			var earlier []models.ImportRun
			err := s.reader(ctx).Where("feed = ? AND "+s.someTaken("import_runs"), run.Feed).Order("id DESC").Limit(1).Find(&earlier).Error
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

// outdatedRun is SQL for an import after which its feed had one that says more: any other, or at least one in which not
// every draw was rejected if that is true of this one.
func (s *Store) outdatedRun() string {
	return "EXISTS (SELECT 1 FROM import_runs AS later WHERE later.feed = import_runs.feed AND later.id > import_runs.id" +
		" AND (" + s.someTaken("later") + " OR NOT " + s.someTaken("import_runs") + "))"
}

// someTaken is SQL for the negation of models.ImportSummary.AllRejected, for a row of import_runs by its name in the
// query.
func (s *Store) someTaken(run string) string {
	rejected, draws := "json_extract("+run+".summary, '$.rejected')", "json_extract("+run+".summary, '$.draws')"
	if s.dialect == Postgres {
		rejected, draws = "("+run+".summary::json->>'rejected')::bigint", "("+run+".summary::json->>'draws')::bigint"
	}
	return "(" + rejected + " = 0 OR " + rejected + " < " + draws + ")"
}
