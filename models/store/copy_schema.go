package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/glebarez/sqlite"
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
	tx, err := gorm.Open(sqlite.Dialector{Conn: db}, gormConfig())
	if err != nil {
		return made, fmt.Errorf("read the schema: %w", err)
	}
	if made.tables, err = tablesOf(tx.WithContext(ctx)); err != nil {
		return made, fmt.Errorf("read the schema: %w", err)
	}
	return made, nil
}

// tablesOf returns the tables of a SQLite database, without goose's.
func tablesOf(tx *gorm.DB) (tables []schemaTable, err error) {
	var add func(name string) error
	add = func(name string) error {
		if slices.ContainsFunc(tables, func(t schemaTable) bool { return t.name == name }) {
			return nil
		}
		var parents, columns []string
		err := tx.Raw("SELECT DISTINCT \"table\" FROM pragma_foreign_key_list(?) WHERE \"table\" <> ?", name, name).Scan(&parents).Error
		if err != nil {
			return err
		}
		for _, parent := range parents {
			if err := add(parent); err != nil {
				return err
			}
		}
		err = tx.Raw("SELECT name FROM pragma_table_info(?) ORDER BY cid", name).Scan(&columns).Error
		tables = append(tables, schemaTable{name, columns})
		return err
	}
	var names []string
	err = tx.Raw("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> 'schema_migrations' ORDER BY name").
		Scan(&names).Error
	for _, name := range names {
		err = errors.Join(err, add(name))
	}
	return tables, err
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
