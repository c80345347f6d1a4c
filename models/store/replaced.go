package store

import (
	"os"

	"lottery/models"
)

// replaced returns an error if the SQLite file is no longer where it was opened: it was moved, removed or restored from
// a backup under the running server, which would continue to read and write the file that is gone.
func (s *Store) replaced() error {
	if s.opened == nil {
		return nil
	}
	if now, err := os.Stat(s.path); err == nil && os.SameFile(s.opened, now) {
		return nil
	}
	return models.Errorf(models.CodeUnavailable, "%s is not the file that was opened: it was moved or replaced, and changes go to the old file; restart the servers", s.path)
}
