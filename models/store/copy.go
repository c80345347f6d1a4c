package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// copyRule is how a table is copied, if not all rows into an empty table.
type copyRule struct {
	left  bool   // the table is not copied
	from  string // for SQLite, read this instead of the table
	where string // which rows are copied
	fresh string // rows that an unused target may hold; copied rows replace them
}

var copyRules = map[string]copyRule{
	// Who is working on what at this moment: nobody, since the servers are stopped.
	"leases": {left: true, fresh: "TRUE"},
	// SQLite only: its contents are copied as quota_counters.
	"quota_log":      {left: true},
	"quota_counters": {from: foldedCounters},
	// Which programs may open a database follows from its own migrations.
	"meta":            {where: "name <> '" + metaOldestSchema + "'"},
	"games":           {fresh: "builtin"},
	"data_version":    {fresh: "TRUE"},
	"account_version": {fresh: "TRUE"},
	// A server was started on the target and found nothing to do.
	"job_runs": {fresh: "TRUE"},
	// What was done on the target stays, after what was done on the source.
	"audit_entries": {fresh: "TRUE"},
}

// foldedCounters is SQLite's counters: each has the value from the newest row of the log that names it, else from the
// table. Columns that are not grouped come from the row with the maximum (https://sqlite.org/lang_select.html#bareagg).
const foldedCounters = `(SELECT account_id, period_start, used, NULL AS server, NULL AS former FROM (
	SELECT account_id, period_start, used, max(id) FROM (
		SELECT account_id, period_start, used, 0 AS id FROM quota_counters
		UNION ALL SELECT value->>'a', value->>'s', value->>'u', quota_log.id FROM quota_log, json_each(quota_log.counters))
	GROUP BY account_id, period_start))`

// Copied is the result of CopyFrom.
type Copied struct {
	From   string // the source's URL without its passwords
	Tables []CopiedTable
	Rows   int64
}

// CopiedTable says how many rows of a table were copied.
type CopiedTable struct {
	Table string
	Rows  int64
}

// CopyProgress receives how many rows of a table have been copied, a few times a second, and always 0 at its beginning.
type CopyProgress func(table string, done, total int64)

// CopyFrom fills this database, whose schema must be up to date and which must hold nothing yet, with everything that
// the source holds at one moment. It does so in one transaction, so a failed copy leaves nothing behind. CodeConflict:
// this database holds something, or is the source itself.
func (s *Store) CopyFrom(ctx context.Context, from *Source, progress CopyProgress) (Copied, error) {
	done := Copied{From: from.name}
	if err := s.NotDemo(ctx); err != nil {
		return done, err
	}
	made, err := readSchema(ctx)
	if err != nil {
		return done, err
	}
	if s.dialect == Postgres { // it has no such table
		made.tables = slices.DeleteFunc(made.tables, func(t schemaTable) bool { return t.name == "quota_log" })
	}
	read := from.store.snapshot(from.store.reader(ctx))
	if read.Error != nil {
		return done, unavailable(read.Error)
	}
	defer read.Rollback()
	if err := from.store.mayBeIdle(read); err != nil {
		return done, err
	}
	c := copying{from: from.store, read: read, to: s, schema: made, tell: progress}
	if progress == nil {
		c.tell = func(string, int64, int64) {}
	}
	err = s.inFilling(ctx, func(tx *gorm.DB, fill filling) error {
		c.tx, c.fill = tx, fill
		if err := s.mayBeIdle(tx); err != nil {
			return err
		}
		if err := c.refuse(); err != nil {
			return err
		}
		var err error
		if done.Tables, err = c.copyTables(); err != nil {
			return err
		}
		for _, t := range done.Tables {
			done.Rows += t.Rows
		}
		return s.did(tx, models.AuditEntry{Object: from.name, Became: models.Count(done.Rows, "row")})
	})
	if diskFull(err) {
		err = ErrDiskFull
	}
	return done, err
}

// mayBeIdle exempts a transaction from the limit of giveUpDeadClients: one side of a copy may need long for a statement
// while the other waits.
func (s *Store) mayBeIdle(tx *gorm.DB) error {
	if s.dialect == SQLite {
		return nil
	}
	return unavailable(tx.Exec("SET LOCAL " + idleInTransaction + " = 0").Error)
}

// copying is the state of one CopyFrom.
type copying struct {
	from   *Store
	read   *gorm.DB // the source's snapshot
	to     *Store
	tx     *gorm.DB
	fill   filling
	schema schema
	tell   CopyProgress
}

// refuse checks whether the target may be filled. On PostgreSQL nobody else can write to it from then on.
func (c *copying) refuse() error {
	if same, err := c.same(); err != nil || same {
		if err == nil {
			err = models.Errorf(models.CodeConflict, "source and target are the same database: give another one to copy from (--from) or to fill (--database-url, or database_url)")
		}
		return err
	}
	if err := c.lock(); err != nil {
		return err
	}
	current, err := schemaVersion(c.tx)
	if err != nil {
		return err
	}
	if current != c.schema.version {
		return models.Errorf(models.CodeConflict, "the target's schema is at %d and this program knows %d: copy with the newer release", current, c.schema.version)
	}
	var held []string
	for _, t := range c.schema.tables {
		condition := "TRUE"
		if rule := copyRules[t.name]; rule.fresh != "" {
			condition = "NOT (" + rule.fresh + ")"
		} else if rule.where != "" {
			condition = rule.where
		}
		var holds bool
		if err := c.tx.Raw("SELECT EXISTS (SELECT 1 FROM " + t.name + " WHERE " + condition + ")").Scan(&holds).Error; err != nil {
			return unavailable(err)
		}
		if holds {
			held = append(held, t.name)
		}
	}
	if len(held) > 0 {
		return models.Errorf(models.CodeConflict, "the target is in use and was left as it is (it has rows in %s): copy into a new database", strings.Join(held, ", "))
	}
	return nil
}

// same reports whether source and target are one database. For PostgreSQL addresses do not tell that, but a lock does.
func (c *copying) same() (bool, error) {
	switch {
	case c.from.dialect != c.to.dialect:
		return false, nil
	case c.from.dialect == SQLite:
		return sameFile(c.from.path, c.to.path), nil
	}
	const query = "SELECT pg_try_advisory_xact_lock(hashtext(current_schema()), ?::int)"
	number := rand.Int32()
	var held, free bool
	if err := c.read.Raw(query, number).Scan(&held).Error; err != nil {
		return false, unavailable(err)
	}
	if err := c.tx.Raw(query, number).Scan(&free).Error; err != nil {
		return false, unavailable(err)
	}
	return held && !free, nil
}

// lock keeps others from writing to the target; on SQLite the transaction has done so from its beginning.
func (c *copying) lock() error {
	if c.to.dialect == SQLite {
		return nil
	}
	if err := c.tx.Exec("SET LOCAL lock_timeout = '10s'").Error; err != nil {
		return unavailable(err)
	}
	var names []string
	for _, t := range c.schema.tables {
		names = append(names, t.name)
	}
	if err := c.tx.Exec("LOCK TABLE " + strings.Join(names, ", ") + " IN EXCLUSIVE MODE").Error; err != nil {
		return &models.Error{Code: models.CodeUnavailable, Message: "another program is using the target: stop the servers that use it, then copy again", Err: err}
	}
	return nil
}

// copyTables copies every table, and counts the rows on both sides.
func (c *copying) copyTables() ([]CopiedTable, error) {
	var own []models.AuditEntry // the target's
	if err := c.tx.Order("id").Find(&own).Error; err != nil {
		return nil, unavailable(err)
	}
	var list []CopiedTable
	for _, t := range c.schema.tables {
		if copyRules[t.name].left {
			continue
		}
		rows, err := c.copyTable(t)
		if err != nil {
			return nil, err
		}
		list = append(list, CopiedTable{t.name, rows})
	}
	for i := range own {
		own[i].ID = 0 // it gets a new number after the source's
	}
	if err := c.tx.CreateInBatches(&own, 100).Error; err != nil { // of none, it does nothing
		return nil, fmt.Errorf("keep the target's audit log: %w", err)
	}
	return list, nil
}

func (c *copying) copyTable(t schemaTable) (int64, error) {
	rule := copyRules[t.name]
	source, where := t.name, ""
	if rule.from != "" && c.from.dialect == SQLite {
		source = rule.from
	}
	if rule.where != "" {
		where = " WHERE " + rule.where
	}
	var total, copied, stored int64
	if err := c.read.Raw("SELECT count(*) FROM " + source + " AS t" + where).Scan(&total).Error; err != nil {
		return 0, fmt.Errorf("count the table %s of the source: %w", t.name, err)
	}
	if rule.fresh != "" {
		if err := c.tx.Exec("DELETE FROM " + t.name).Error; err != nil {
			return 0, fmt.Errorf("make room in the table %s: %w", t.name, err)
		}
	}
	if _, err := c.from.columnTypes(c.read, t); err != nil {
		return 0, err
	}
	types, err := c.to.columnTypes(c.tx, t)
	if err != nil {
		return 0, err
	}
	c.tell(t.name, 0, total)
	if total > 0 {
		if copied, err = c.copyRows("SELECT "+selected(t.columns)+" FROM "+source+" AS t"+where, t, types, total); err != nil {
			return 0, fmt.Errorf("copy the table %s: %w", t.name, err)
		}
	}
	if err := c.tx.Raw("SELECT count(*) FROM " + t.name + where).Scan(&stored).Error; err != nil {
		return 0, fmt.Errorf("count the table %s: %w", t.name, err)
	}
	if copied != total || stored != total {
		return 0, fmt.Errorf("the table %s has %d rows in the source and %d in the target after %d were copied: nothing was kept", t.name, total, stored, copied)
	}
	return total, c.goOn(t, types)
}

// copyRows fills a table with the result of a query on the source.
func (c *copying) copyRows(query string, t schemaTable, types []columnType, total int64) (copied int64, err error) {
	rows, err := c.read.Raw(query).Rows()
	if err != nil {
		return 0, fmt.Errorf("read the source: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return c.fill(t, c.rows(rows, t, types, total))
}

// selected lists columns with a prefix, so that SQLite cannot take quoted names for strings.
func selected(columns []string) string { return `t."` + strings.Join(columns, `", t."`) + `"` }

// rows returns the source's rows, converted for the target.
func (c *copying) rows(rows *sql.Rows, t schemaTable, types []columnType, total int64) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		row, into := make([]any, len(types)), make([]any, len(types))
		for i := range row {
			into[i] = &row[i]
		}
		last := time.Now()
		for done := int64(1); rows.Next(); done++ {
			err := rows.Scan(into...)
			for i := 0; i < len(row) && err == nil; i++ {
				if row[i], err = converted(row[i], types[i].Type); err != nil {
					err = fmt.Errorf("%s.%s of %s: %w", t.name, types[i].Name, firstOf(t, row), err)
				}
			}
			if !yield(row, err) || err != nil {
				return
			}
			if done%1024 == 0 && time.Since(last) > time.Second/4 {
				last = time.Now()
				c.tell(t.name, done, total)
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// firstOf identifies a row by its first column, which is an id or the beginning of one.
func firstOf(t schemaTable, row []any) string { return fmt.Sprintf("%s %v", t.columns[0], row[0]) }

// converted returns a value of one database as the other's column accepts it: SQLite has dates as text,
// and booleans as numbers.
func converted(v any, to string) (any, error) {
	switch v := v.(type) {
	case time.Time:
		if to == "text" {
			return v.Format(time.DateOnly), nil
		}
		return v.UTC(), nil
	case []byte:
		if v == nil { // SQLite's empty one; NULL is no []byte
			return []byte{}, nil
		}
	case int64:
		if to == "boolean" {
			return v != 0, nil
		}
	case string:
		switch to {
		case "date":
			day, err := time.Parse(time.DateOnly, v)
			if err != nil {
				return nil, fmt.Errorf("%q is no date", v)
			}
			return day, nil
		case "timestamp with time zone":
			return nil, fmt.Errorf("%q is no time", v)
		}
	}
	return v, nil
}

// goOn makes PostgreSQL number new rows after the copied ones, and updates its statistics of the table.
func (c *copying) goOn(t schemaTable, types []columnType) error {
	if c.to.dialect != Postgres {
		return nil
	}
	for _, column := range types {
		if !column.Identity {
			continue
		}
		var newest int64
		if err := c.tx.Raw("SELECT coalesce(max(" + column.Name + "), 0) FROM " + t.name).Scan(&newest).Error; err != nil {
			return fmt.Errorf("number the rows of %s: %w", t.name, err)
		}
		var sequence string
		if err := c.tx.Raw("SELECT pg_get_serial_sequence(?, ?)", t.name, column.Name).Scan(&sequence).Error; err != nil {
			return fmt.Errorf("number the rows of %s: %w", t.name, err)
		}
		// Unlike setval, this is rolled back with the transaction.
		if err := c.tx.Exec(fmt.Sprintf("ALTER SEQUENCE %s RESTART WITH %d", sequence, max(newest, 0)+1)).Error; err != nil {
			return fmt.Errorf("number the rows of %s: %w", t.name, err)
		}
	}
	if err := c.tx.Exec("ANALYZE " + t.name).Error; err != nil {
		return fmt.Errorf("look at the table %s: %w", t.name, err)
	}
	return nil
}
