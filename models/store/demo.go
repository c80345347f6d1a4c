package store

import (
	"context"
	"fmt"

	"lottery/models"
)

// demoID in a SQLite file's header marks it as the demo's. The mark is written before the first table, so that a crash
// never leaves a demo database that looks like a real one.
const demoID = 0x4C44454D // "LDEM"

// IsDemo reports whether the demo made this database.
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

// NotDemo returns an error (CodeConflict) if the demo made this database: real draws must not be mixed with its draws.
func (s *Store) NotDemo(ctx context.Context) error {
	isDemo, err := s.IsDemo(ctx)
	if err != nil || !isDemo {
		return err
	}
	return models.Errorf(models.CodeConflict, "this database belongs to the demo and only takes its made-up draws: use one of your own (--database-url, or database_url)")
}

// MarkDemo makes this database the demo's. Only an empty one should be marked.
func (s *Store) MarkDemo(ctx context.Context) error {
	return unavailable(s.writer(ctx).Exec(fmt.Sprintf("PRAGMA application_id = %d", demoID)).Error)
}

// Empty reports whether nothing was ever put into this database, not even a schema.
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
