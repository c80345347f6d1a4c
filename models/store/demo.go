package store

import (
	"context"
	"fmt"

	"lottery/models"
)

// demoID marks a SQLite file as the demo's, in its header: the mark is there before the first table is,
// so that no crash leaves a demo database that looks like another.
const demoID = 0x4C44454D // "LDEM"

// IsDemo tells whether the demo made this database.
func (s *Store) IsDemo(ctx context.Context) (bool, error) {
	if s.dialect != SQLite {
		return false, nil
	}
	var id int64
	if err := s.reader(ctx).Raw("PRAGMA application_id").Scan(&id).Error; err != nil {
		return false, unavailable(err)
	}
	return id == demoID, nil
}

// NotDemo is an error (CodeConflict) if the demo made this database: no real draw may come to stand beside its own.
func (s *Store) NotDemo(ctx context.Context) error {
	isDemo, err := s.IsDemo(ctx)
	if err != nil || !isDemo {
		return err
	}
	return models.Errorf(models.CodeConflict, "this database belongs to the demo and only takes its made-up draws: use one of your own (--database-url, or database_url)")
}

// MarkDemo makes this database the demo's. Only an empty one should be marked.
func (s *Store) MarkDemo(ctx context.Context) error {
	if err := s.writer(ctx).Exec(fmt.Sprintf("PRAGMA application_id = %d", demoID)).Error; err != nil {
		return unavailable(err)
	}
	return nil
}

// Empty tells whether nothing was ever put into this database, not even a schema.
func (s *Store) Empty(ctx context.Context) (bool, error) {
	if s.dialect == SQLite {
		var tables int64
		if err := s.reader(ctx).Raw("SELECT count(*) FROM sqlite_master").Scan(&tables).Error; err != nil {
			return false, unavailable(err)
		}
		return tables == 0, nil
	}
	st, err := s.Status(ctx)
	return st.Current == 0, err
}
