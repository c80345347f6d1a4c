package store_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Each kind of source that cannot be copied has its own error, and nothing is created or changed.
func TestCopyRefusesSources(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "no", "lottery.db")
	demo := storetest.EmptyURL(t)
	if err := storetest.OpenURL(t, demo, store.Options{}).MarkDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(t.TempDir(), "other.db")
	storetest.Exec(t, "sqlite:"+foreign, "CREATE TABLE dashboards (id INTEGER PRIMARY KEY)")
	cases := map[string]struct {
		url  string
		code models.Code
		says string
	}{
		"missing":         {"sqlite:" + missing, models.CodeNotFound, "there is no database at sqlite:" + missing + " to copy from"},
		"the demo's":      {demo, models.CodeConflict, "belongs to the demo"},
		"another program": {"sqlite:" + foreign, models.CodeConflict, "is a database of another program"},
		"no address":      {"lottery.db", models.CodeInvalid, "the database URL must be"},
		"no file":         {"sqlite:", models.CodeInvalid, "does not name a file"},
	}
	for name, c := range cases {
		if _, err := copyInto(t, c.url, storetest.EmptyURL(t)); models.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Dir(missing)); err == nil {
		t.Error("a missing source was made")
	}
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		st := storetest.OpenURL(t, url, store.Options{})
		for version, says := range map[string]string{"7": "is at 7 and this program needs", "9000": "copy with the newer release"} {
			storetest.Exec(t, url, "DELETE FROM schema_migrations WHERE version_id > 7")
			if version != "7" {
				storetest.Exec(t, url, "INSERT INTO schema_migrations (version_id, is_applied) VALUES ("+version+", TRUE)")
			}
			if _, err := copyInto(t, url, storetest.EmptyURL(t)); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), says) {
				t.Errorf("schema %s of %s: %v", version, st.Dialect(), err)
			}
		}
		empty := storetest.EmptyURL(t)
		if strings.HasPrefix(url, "postgres") {
			empty = storetest.EmptyPostgres(t)
		} else if err := os.WriteFile(strings.TrimPrefix(empty, "sqlite:"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := copyInto(t, empty, storetest.EmptyURL(t)); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "is at 0 and") {
			t.Errorf("no schema: %v", err)
		}
		if found := tables(t, storetest.SQL(t, empty), empty); len(found) != 0 {
			t.Errorf("the source got %v", found)
		}
	})
}

// A target that has been used is refused and left alone; one that was only created is not.
func TestCopyRefusesTargets(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, to string) {
		from := storetest.EmptyURL(t)
		fillPerson(t, storetest.OpenURL(t, from, store.Options{}), storetest.SQL(t, from))
		st, db := storetest.OpenURL(t, to, store.Options{}), storetest.SQL(t, to)
		everything := func() string {
			var all []string
			for _, table := range tables(t, db, to) {
				all = append(all, content(t, db, table, columnsOf(t, db, table))...)
			}
			return strings.Join(all, "\n")
		}
		for table, row := range map[string][2]string{
			"accounts":         {"INSERT INTO accounts (id, status, created_at) VALUES ('acc_1', 'active', '2026-01-01 00:00:00+00:00')", "DELETE FROM accounts"},
			"games":            {"INSERT INTO games (id, name, digits, tods, jurisdiction, timezone, created_at) VALUES ('xx', 'X', 3, 'Day', 'XX', 'UTC', '2026-01-01 00:00:00+00:00')", "DELETE FROM games WHERE id = 'xx'"},
			"quota_counters":   {"INSERT INTO quota_counters (account_id, period_start, used) VALUES ('acc_1', 0, 1)", "DELETE FROM quota_counters"},
			"billing_settings": {"INSERT INTO billing_settings (name, value) VALUES ('webhook', 'we_1')", "DELETE FROM billing_settings"},
		} {
			storetest.Exec(t, to, row[0])
			before := everything()
			if _, err := copyInto(t, from, to); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "(it has rows in "+table+")") {
				t.Errorf("%s: %v", table, err)
			}
			if everything() != before {
				t.Errorf("%s: the target was changed", table)
			}
			storetest.Exec(t, to, row[1])
		}
		storetest.Exec(t, to, "INSERT INTO schema_migrations (version_id, is_applied) VALUES (9000, TRUE)")
		if _, err := copyInto(t, from, to); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "the target's schema is at 9000") {
			t.Errorf("a newer schema: %v", err)
		}
		storetest.Exec(t, to, "DELETE FROM schema_migrations WHERE version_id = 9000")
		if _, err := copyInto(t, to, to); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "are the same database") {
			t.Errorf("itself: %v", err)
		}
		// It was migrated and a server was started, but nothing else happened.
		if err := st.Note(t.Context(), &store.Operator{Who: "grace", Command: "db migrate"}, "", "0009", ""); err != nil {
			t.Fatal(err)
		}
		l, _, err := st.TryLease(t.Context(), "job:cleanup", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.SaveJobRun(t.Context(), l, models.JobRun{Job: "cleanup", StartedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if _, err := copyInto(t, from, to); err != nil {
			t.Fatal(err)
		}
		log, err := st.Audit(t.Context(), store.AuditFilter{})
		if err != nil || len(log) < 4 || log[0].Action != "db copy" || log[1].Action != "db migrate" || log[2].Action == "db migrate" {
			t.Errorf("the audit log is %+v, %v", log, err)
		}
	})
}

// A table that has a column more or less than its schema is not copied, and none is copied into it.
func TestCopyRefusesChangedTables(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, changed string) {
		dialect := storetest.OpenURL(t, changed, store.Options{}).Dialect()
		other := storetest.EmptyURL(t)
		storetest.OpenURL(t, other, store.Options{})
		for _, c := range []struct{ alter, back, says string }{
			{"ADD COLUMN mine TEXT", "DROP COLUMN mine", " has columns that its schema does not know"},
			{"RENAME COLUMN node TO machine", "RENAME COLUMN machine TO node", " has no column node"},
		} {
			storetest.Exec(t, changed, "ALTER TABLE job_runs "+c.alter)
			for _, way := range [][2]string{{changed, other}, {other, changed}} {
				if _, err := copyInto(t, way[0], way[1]); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "the table job_runs of "+dialect+c.says) {
					t.Errorf("%s: %v", c.alter, err)
				}
			}
			storetest.Exec(t, changed, "ALTER TABLE job_runs "+c.back)
		}
		if dialect == store.Postgres {
			storetest.Exec(t, changed, "CREATE SCHEMA theirs; CREATE TABLE theirs.job_runs (mine TEXT)")
		}
		if _, err := copyInto(t, other, changed); err != nil {
			t.Errorf("as it was: %v", err)
		}
	})
}

// A copy that fails or is interrupted leaves the target as it was, and can be repeated.
func TestCopyThatFails(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, to string) {
		from := storetest.EmptyURL(t)
		fillAll(t, from)
		st, db := storetest.OpenURL(t, to, store.Options{}), storetest.SQL(t, to)
		// leftBehind reports rows that a failed copy should not have left.
		leftBehind := func() {
			t.Helper()
			for _, table := range tables(t, db, to) {
				if n := query(t, db, "SELECT count(*) FROM "+table)[0][0]; n != "0" && !slices.Contains([]string{"account_version", "data_version", "games", "meta", "schema_migrations"}, table) {
					t.Errorf("%s has %s rows", table, n)
				}
			}
		}
		source, err := store.OpenSource(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		ctx, cancel := context.WithCancel(t.Context())
		_, err = st.CopyFrom(ctx, source, func(table string, _, _ int64) {
			if table == "usage_days" { // one of the last tables
				cancel()
			}
		})
		if err == nil {
			t.Error("it was not broken off")
		}
		leftBehind()

		// A row that our programs never write, and that violates the target's constraints.
		storetest.Exec(t, from, "PRAGMA ignore_check_constraints = 1; INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at) VALUES ('xx-pick-3', '1979-02-03', 77, 1, '123', 'csv', '2026-01-01 00:00:00+00:00')")
		if _, err := copyInto(t, from, to); err == nil || !strings.Contains(err.Error(), "copy the table draws: ") {
			t.Errorf("an impossible row: %v", err)
		}
		leftBehind()
		storetest.Exec(t, from, "DELETE FROM draws WHERE tod = 77")
		if _, err := copyInto(t, from, to); err != nil {
			t.Error(err)
		}
	})
}
