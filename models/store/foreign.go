package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"lottery/models"
)

// notForeign refuses a SQLite file with another program's tables (CodeConflict): a mistyped path would put ours
// among them. It uses a separate connection before the file is opened for work, since that turns on the write-ahead
// log for the other program too.
func notForeign(ctx context.Context, path string) (err error) {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return err
	}
	db, err := sql.Open("sqlite", sqliteURI(path, url.Values{"_pragma": {"busy_timeout(5000)", "query_only(1)"}}))
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return notForeignTables(ctx, path, db)
}

// notForeignTables is notForeign for a file that is open.
func notForeignTables(ctx context.Context, path string, db *sql.DB) error {
	var ours, others int
	const query = "SELECT (SELECT count(*) FROM pragma_table_info('schema_migrations') WHERE name = 'version_id'), " +
		"(SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*')"
	if err := db.QueryRowContext(ctx, query).Scan(&ours, &others); err != nil {
		return unopened(path, err)
	}
	if ours == 0 && others > 0 {
		return errForeign(path)
	}
	return nil
}

// notForeignSchema is notForeign for PostgreSQL, where other programs may have tables in the same schema, except with
// names of ours. Other programs also have a table schema_migrations.
func (s *Store) notForeignSchema(ctx context.Context, databaseURL string) error {
	var found struct{ Ours, Theirs int }
	const query = "SELECT count(*) FILTER (WHERE relname = 'schema_migrations' AND known) AS ours, count(*) FILTER (WHERE NOT known) AS theirs FROM (" +
		"SELECT relname, EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'version_id') AS known " +
		"FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " +
		"WHERE n.nspname = current_schema() AND relname IN ('schema_migrations', 'accounts', 'draws', 'games')) tables"
	if err := s.reader(ctx).Raw(query).Scan(&found).Error; err != nil {
		return unavailable(err)
	}
	if found.Ours == 0 && found.Theirs > 0 {
		return errForeign(redact(databaseURL, databaseURL))
	}
	return nil
}

func errForeign(database string) error {
	return models.Errorf(models.CodeConflict, "%s is a database of another program, and was left as it is: give this service a database of its own (--database-url, or database_url)", database)
}
