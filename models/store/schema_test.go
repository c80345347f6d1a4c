package store_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// sqliteAlone lists what is not in PostgreSQL: the log of SQLite's counters, and an index that would have been read in
// the wrong order there (migration 6).
var sqliteAlone = []string{
	"column quota_log id integer 1 ", "column quota_log counters text 1 ", "index quota_log key  id",
	"index quota_counters quota_counters_period  period_start",
}

// The migrations of SQLite and PostgreSQL make the same tables: columns, types, defaults, keys, references and indexes.
// One that is forgotten for one of them would show as a constraint that does not hold there, or as a slow query.
func TestSchemasAreTheSame(t *testing.T) {
	t.Parallel()
	lite, postgres := "sqlite:"+t.TempDir()+"/lottery.db", storetest.NewPostgres(t)
	of := map[string][]string{}
	for _, url := range []string{lite, postgres} {
		storetest.OpenURL(t, url, store.Options{})
		of[url] = schemaOf(t, url)
	}
	for here, there := range map[string]string{lite: postgres, postgres: lite} {
		for _, line := range of[here] {
			if !slices.Contains(of[there], line) && !slices.Contains(sqliteAlone, line) {
				t.Errorf("only in %s: %s", strings.SplitN(here, ":", 2)[0], line)
			}
		}
	}
}

// sqliteType holds what stands for a type in SQLite, which has no dates and one size of integers.
var sqliteType = map[string]string{
	"smallint": "integer", "bigint": "integer", "bytea": "blob", "date": "text", "timestamp with time zone": "timestamp",
}

var cast = regexp.MustCompile(`::[a-z ]+$`)

// schemaOf describes each column, key, reference and index of a database, and how many checks a table has.
func schemaOf(t *testing.T, url string) (lines []string) {
	t.Helper()
	db := storetest.SQL(t, url)
	columns := `SELECT table_name, column_name, data_type, CASE is_nullable WHEN 'NO' THEN 1 ELSE 0 END, COALESCE(column_default, '') FROM information_schema.columns WHERE table_schema = 'public'`
	indexes := `SELECT t.relname, CASE WHEN x.indisprimary THEN 'key' WHEN x.indisunique THEN 'unique' ELSE i.relname END, CASE WHEN x.indpred IS NULL THEN '' ELSE 'partial' END,
		(SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(x.indkey) WITH ORDINALITY k(att, n) JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.att)
		FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_namespace s ON s.oid = t.relnamespace WHERE s.nspname = 'public'`
	references := `SELECT c.conrelid::regclass::text, a.attname, c.confrelid::regclass::text FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] WHERE c.contype = 'f'`
	checks := `SELECT conrelid::regclass::text, count(*) FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace GROUP BY conrelid`
	if strings.HasPrefix(url, "sqlite:") {
		const from = ` FROM sqlite_master m, %s WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%%'`
		columns = `SELECT m.name, c.name, lower(c.type), c."notnull" OR c.pk > 0, COALESCE(c.dflt_value, '')` + fmt.Sprintf(from, "pragma_table_info(m.name) c")
		indexes = `SELECT m.name, CASE WHEN i."unique" THEN 'unique' ELSE i.name END, CASE WHEN i.partial THEN 'partial' ELSE '' END, (SELECT group_concat(x.name) FROM pragma_index_info(i.name) x)` +
			fmt.Sprintf(from, "pragma_index_list(m.name) i") + ` AND i.origin <> 'pk' UNION ALL
			SELECT m.name, 'key', '', group_concat(c.name, ',' ORDER BY c.pk)` + fmt.Sprintf(from, "pragma_table_info(m.name) c") + ` AND c.pk > 0 GROUP BY m.name`
		references = `SELECT m.name, f."from", f."table"` + fmt.Sprintf(from, "pragma_foreign_key_list(m.name) f")
		checks = `SELECT name, (length(sql) - length(replace(sql, 'CHECK (', ''))) / 7 FROM sqlite_master WHERE type = 'table' AND sql LIKE '%CHECK (%'`
	}
	for kind, statement := range map[string]string{"column": columns, "index": indexes, "reference": references, "checks": checks} {
		for _, row := range query(t, db, statement) {
			if row[0] == "schema_migrations" {
				continue
			}
			if kind == "column" {
				row[2] = cmp.Or(sqliteType[row[2]], row[2])
				row[4] = strings.TrimPrefix(strings.ToLower(cast.ReplaceAllString(row[4], "")), "x") // x'' is SQLite's ''::bytea
			}
			lines = append(lines, kind+" "+strings.Join(row, " "))
		}
	}
	return lines
}
