package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"lottery/models"
	"lottery/models/store/migrations"
)

// schema is the result of the migrations: the one list of tables and columns that cannot miss any. It is read from a
// database in memory, since in PostgreSQL other programs may have tables next to ours.
type schema struct {
	version int64
	tables  []schemaTable // in an order in which referenced tables come first
}

type schemaTable struct {
	name    string
	columns []string
}

func readSchema(ctx context.Context) (made schema, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return made, fmt.Errorf("read the schema: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // each connection would get its own database
	p, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.For(SQLite), goose.WithLogger(goose.NopLogger()), goose.WithTableName("schema_migrations"))
	if err != nil {
		return made, fmt.Errorf("read the schema: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return made, fmt.Errorf("read the schema: %w", err)
	}
	if made.version, err = p.GetDBVersion(ctx); err != nil {
		return made, fmt.Errorf("read the schema: %w", err)
	}
	made.tables, err = tablesOf(ctx, db)
	return made, err
}

// tablesOf returns the tables of a SQLite database, without goose's.
func tablesOf(ctx context.Context, db *sql.DB) ([]schemaTable, error) {
	names, err := texts(ctx, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> 'schema_migrations' ORDER BY name")
	if err != nil {
		return nil, err
	}
	var tables []schemaTable
	var add func(name string) error
	add = func(name string) error {
		if slices.ContainsFunc(tables, func(t schemaTable) bool { return t.name == name }) {
			return nil
		}
		parents, err := texts(ctx, db, "SELECT DISTINCT \"table\" FROM pragma_foreign_key_list(?) WHERE \"table\" <> ?1", name)
		if err != nil {
			return err
		}
		for _, parent := range parents {
			if err := add(parent); err != nil {
				return err
			}
		}
		columns, err := texts(ctx, db, "SELECT name FROM pragma_table_info(?) ORDER BY cid", name)
		tables = append(tables, schemaTable{name, columns})
		return err
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func texts(ctx context.Context, db *sql.DB, query string, args ...any) (list []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// columnType is a column as a database defines it.
type columnType struct {
	Name     string
	Type     string // as declared, in lower case
	Identity bool   // PostgreSQL numbers rows by a sequence, which does not notice numbers that it did not generate
}

// columnTypes returns a table's columns, in table's order. Columns added or dropped by hand are
// an error (CodeConflict).
func (s *Store) columnTypes(tx *gorm.DB, table schemaTable) ([]columnType, error) {
	query := "SELECT name, lower(type) AS type FROM pragma_table_info(?)"
	if s.dialect == Postgres {
		query = "SELECT attname AS name, format_type(atttypid, NULL) AS type, attidentity <> '' AS identity FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid " +
			"JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relname = ? AND attnum > 0 AND NOT attisdropped"
	}
	var found []columnType
	if err := tx.Raw(query, table.name).Scan(&found).Error; err != nil {
		return nil, unavailable(err)
	}
	sorted := make([]columnType, len(table.columns))
	for i, name := range table.columns {
		at := slices.IndexFunc(found, func(c columnType) bool { return c.Name == name })
		if at < 0 {
			return nil, models.Errorf(models.CodeConflict, "the table %s of %s has no column %s, which its schema requires: somebody changed it by hand", table.name, s.dialect, name)
		}
		sorted[i] = found[at]
	}
	if len(found) != len(sorted) {
		return nil, models.Errorf(models.CodeConflict, "the table %s of %s has columns that its schema does not know: somebody changed it by hand", table.name, s.dialect)
	}
	return sorted, nil
}
