package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"lottery/models"
)

// mergeSQLite merges on its own connection: temporary tables belong to a connection, and staging on the store's one
// writing connection would block counters and keys although it locks nothing.
func (s *Store) mergeSQLite(ctx context.Context, basis int64, merges []Merge, now time.Time) error {
	return s.withMerger(ctx, func(db *gorm.DB) error {
		counts, err := stageSQLite(db, merges)
		if err != nil {
			return fmt.Errorf("stage the draws: %w", err)
		}
		emptyLog(db)
		return db.Transaction(func(tx *gorm.DB) error {
			return s.applyMerges(tx, basis, merges, counts, now)
		})
	})
}

// withMerger runs fn with a connection of its own to the database. It waits for the lock longer than requests may,
// since an import has time.
func (s *Store) withMerger(ctx context.Context, fn func(db *gorm.DB) error) (err error) {
	settings := url.Values{
		"_pragma": {"busy_timeout(30000)", "journal_mode(WAL)", logLimit, "synchronous(NORMAL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	db, err := gorm.Open(sqlite.Open(sqliteURI(s.path, settings)), gormConfig())
	if err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	pool.SetMaxOpenConns(1)
	return fn(db.WithContext(ctx))
}

// logLimit is the size to which SQLite cuts its log when it starts over at the beginning of it: 1,000 pages, after which
// it begins to write the log back. Without it, the log of a large import keeps its size while a server runs.
const logLimit = "journal_size_limit(4194304)"

// emptyLog writes SQLite's log back into the file, without waiting for anybody, so that a large transaction starts over
// at its beginning. If that transaction fails, such as on a full disk, the next change then cuts the log. Otherwise the
// log would go on filling the disk, and there might be no room to write it back.
func emptyLog(db *gorm.DB) {
	db.Exec("PRAGMA wal_checkpoint(PASSIVE)") // if it fails, the transaction works all the same
}

// errTempFull means that SQLite's temporary file cannot grow. SQLite looks for a folder in this order
// (https://sqlite.org/tempfiles.html#temporary_file_storage_locations).
var errTempFull error = &models.Error{
	Code: models.CodeUnavailable, Message: "the folder for temporary files is full (TMPDIR, or if that is not set, /var/tmp or /tmp): free up space, or set TMPDIR to another folder",
}

// stageSQLite fills the stage in one transaction, which touches only the temporary file and so locks nothing.
func stageSQLite(db *gorm.DB, merges []Merge) (counts []staged, err error) {
	err = db.Exec(fmt.Sprintf(createStage, "TEXT")).Error
	if err == nil {
		err = db.Exec("BEGIN DEFERRED").Error
	}
	if err == nil {
		counts, err = stage(inserting(db), merges, func(d models.Date) any { return d.String() })
	}
	if err == nil {
		err = db.Exec("COMMIT").Error
	}
	if diskFull(err) {
		err = errTempFull
	}
	return counts, err
}
