package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// filling writes rows into a table, within a transaction, and returns their number; next returns nil after the last row.
type filling func(table schemaTable, next func() ([]any, error)) (int64, error)

// inFilling runs fn in one transaction that is suited to a very large number of rows.
func (s *Store) inFilling(ctx context.Context, fn func(tx *gorm.DB, fill filling) error) error {
	if s.dialect == Postgres {
		return s.fillPostgres(ctx, fn)
	}
	return s.fillSQLite(ctx, fn)
}

// fillPostgres fills with COPY.
func (s *Store) fillPostgres(ctx context.Context, fn func(tx *gorm.DB, fill filling) error) error {
	return s.writer(ctx).Connection(func(db *gorm.DB) error {
		conn, ok := db.Statement.ConnPool.(*sql.Conn)
		if !ok {
			return fmt.Errorf("copy on a %T", db.Statement.ConnPool)
		}
		return db.Transaction(func(tx *gorm.DB) error {
			return fn(tx, func(table schemaTable, next func() ([]any, error)) (filled int64, err error) {
				err = conn.Raw(func(driver any) error {
					c, ok := driver.(*stdlib.Conn)
					if !ok {
						return fmt.Errorf("copy on a %T", driver)
					}
					filled, err = c.Conn().CopyFrom(ctx, pgx.Identifier{table.name}, table.columns, pgx.CopyFromFunc(next))
					return err
				})
				return filled, err
			})
		})
	})
}

// fillSQLite fills on a separate connection, like an import's merge.
func (s *Store) fillSQLite(ctx context.Context, fn func(tx *gorm.DB, fill filling) error) error {
	err := s.withMerger(ctx, func(db *gorm.DB) error {
		emptyLog(db)
		return db.Transaction(func(tx *gorm.DB) error {
			return fn(tx, func(table schemaTable, next func() ([]any, error)) (int64, error) {
				return insertMany(ctx, tx.Statement.ConnPool, table, next)
			})
		})
	})
	if Locked(err) {
		return unavailable(err)
	}
	return err
}

// insertMany writes rows, stageRows per statement.
func insertMany(ctx context.Context, into gorm.ConnPool, table schemaTable, next func() ([]any, error)) (copied int64, err error) {
	one := "(" + strings.TrimSuffix(strings.Repeat("?,", len(table.columns)), ",") + ")"
	insert := "INSERT INTO " + table.name + ` ("` + strings.Join(table.columns, `", "`) + `") VALUES ` + one
	full := insert + strings.Repeat(","+one, stageRows-1)
	var args []any
	for {
		row, err := next()
		if err != nil {
			return copied, err
		}
		if row == nil {
			break
		}
		copied++
		if args = append(args, row...); len(args) < stageRows*len(row) {
			continue
		}
		if _, err := into.ExecContext(ctx, full, args...); err != nil {
			return copied, err
		}
		args = args[:0]
	}
	if rest := len(args) / len(table.columns); rest > 0 {
		_, err = into.ExecContext(ctx, insert+strings.Repeat(","+one, rest-1), args...)
	}
	return copied, err
}
