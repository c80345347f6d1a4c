package store

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"lottery/models"
)

// Source is a database to fill another from (CopyFrom). It is only read.
type Source struct {
	store *Store
	url   string
	name  string // the URL without its passwords
}

// OpenSource opens the database at databaseURL for CopyFrom without changing anything, not even SQLite's journal mode.
// CodeNotFound: there is none; CodeConflict: its schema is not this program's, or the demo made it.
func OpenSource(ctx context.Context, databaseURL string) (*Source, error) {
	from := &Source{url: databaseURL, name: redact(databaseURL, databaseURL)}
	var err error
	if path, ok := SQLiteFile(databaseURL); ok {
		from.store, err = openReadOnly(ctx, path)
	} else {
		from.store, err = Open(ctx, databaseURL, Options{})
	}
	if err != nil {
		return nil, err
	}
	if err := from.check(ctx); err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return from, nil
}

// openReadOnly opens an existing SQLite file. Unlike Open it keeps the journal mode, which is stored in the file, and
// does not write another program's log back into it.
func openReadOnly(ctx context.Context, path string) (*Store, error) {
	if path == "" || strings.ContainsAny(path, "?#") || strings.HasPrefix(path, ":memory:") {
		return nil, models.Errorf(models.CodeInvalid, "the database URL sqlite:%s does not name a file; use sqlite:data/lottery.db", path)
	}
	if !Exists("sqlite:" + path) {
		return nil, models.Errorf(models.CodeNotFound, "there is no database at sqlite:%s to copy from", path)
	}
	db, err := gorm.Open(sqlite.Open(sqliteURI(path, url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)", "query_only(1)"}})), gormConfig())
	if err != nil {
		return nil, unopened(path, err)
	}
	s := &Store{dialect: SQLite, path: path, read: db, now: func() time.Time { return time.Now().UTC() }}
	pool, err := db.DB()
	if err == nil {
		err = notForeignTables(ctx, path, pool)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the connections.
func (from *Source) Close() error { return from.store.Close() }

// Is reports whether databaseURL names this same database, as far as that is possible without opening it.
func (from *Source) Is(databaseURL string) bool {
	path, ok := SQLiteFile(databaseURL)
	if !ok {
		return databaseURL == from.url
	}
	return sameFile(path, from.store.path)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// check refuses databases that cannot be copied.
func (from *Source) check(ctx context.Context) error {
	isDemo, err := from.store.IsDemo(ctx)
	if err != nil {
		return err
	}
	if isDemo {
		return models.Errorf(models.CodeConflict, "%s belongs to the demo, and its made-up draws are not copied", from.name)
	}
	current, err := schemaVersion(from.store.reader(ctx))
	if err != nil {
		return err
	}
	schema, err := readSchema(ctx)
	if err != nil {
		return err
	}
	switch {
	case current < schema.version:
		return models.Errorf(models.CodeConflict, "the schema of %s is at %d and this program needs %d: stop the servers that use it and bring it there "+
			"(`lotteryadmin db migrate --database-url URL`, with its URL), then copy again", from.name, current, schema.version)
	case current > schema.version:
		return models.Errorf(models.CodeConflict, "the schema of %s is at %d and this program knows %d: copy with the newer release", from.name, current, schema.version)
	}
	return nil
}

// schemaVersion returns the number of the newest migration applied; 0 = none.
func schemaVersion(tx *gorm.DB) (current int64, err error) {
	there, err := hasTable(tx, "schema_migrations")
	if err != nil || !there {
		return 0, unavailable(err)
	}
	err = tx.Raw("SELECT coalesce(max(version_id), 0) FROM schema_migrations WHERE is_applied").Scan(&current).Error
	return current, unavailable(err)
}
