package store

import (
	"os"

	"lottery/models"
)

// replaced tells of a SQLite file that is no more where it was opened: it was moved, removed, or put back from a backup under
// the running server, which goes on reading and writing the one that is gone.
func (s *Store) replaced() error {
	if s.opened == nil {
		return nil
	}
	if now, err := os.Stat(s.path); err == nil && os.SameFile(s.opened, now) {
		return nil
	}
	return models.Errorf(models.CodeUnavailable, "%s is not the file that was opened: it was moved or replaced, and changes go to the old file; restart the servers", s.path)
}
