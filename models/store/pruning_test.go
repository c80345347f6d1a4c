package store

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// What has expired is looked for in an index, where the table can be large: on SQLite requests wait meanwhile.
func TestExpiredRowsHaveAnIndex(t *testing.T) {
	t.Parallel()
	st, _ := onSQLite(t, Options{})
	all := append(st.stale(time.Now(), 0),
		stale{"usage", "usage_days", "account_id, day, endpoint, class", "day", "day < ?", []any{"2026-01-01"}})
	for _, old := range all {
		if slices.Contains([]string{"closed addresses", "locks", "job runs"}, old.what) {
			continue // few rows
		}
		for _, step := range steps(t, st, st.write.Explain(pruning(old.table, old.key, old.where, old.age, prunedRows), old.args...)) {
			if strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s: %s", old.what, step)
			}
		}
	}
}

// So are records, of which there are many until then.
func TestRecordsHaveAnIndex(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, _ := onSQLite(t, Options{})
	var asked []string
	ask := func(db *gorm.DB) { asked = append(asked, db.Explain(db.Statement.SQL.String(), db.Statement.Vars...)) }
	err := errors.Join(
		st.read.Callback().Query().After("gorm:query").Register("asked", ask),
		st.write.Callback().Update().After("gorm:update").Register("asked", func(db *gorm.DB) {
			if db.Statement.Table == "stripe_events" {
				ask(db)
			}
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	a, err := st.CreateAccount(ctx, NewAccount{Email: "ann@example.com"})
	if err == nil {
		_, err = st.DeleteAccount(ctx, a.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.NewestImports(ctx)
	failed := []error{err}
	_, err = st.MailsNewest(ctx, MailFilter{AccountID: "acc_1"})
	failed = append(failed, err)
	_, err = st.MailsNewest(ctx, MailFilter{Dead: true})
	failed = append(failed, err)
	_, err = st.OutboxState(ctx)
	failed = append(failed, err)
	_, err = st.Events(ctx, EventFilter{AccountID: "acc_1"})
	failed = append(failed, err)
	if _, err = st.AccountOfEvents(ctx, "cus_1"); models.ErrorCode(err) != models.CodeNotFound {
		failed = append(failed, err)
	}
	if err := errors.Join(failed...); err != nil || len(asked) != 8 {
		t.Fatalf("%q, %v", asked, err)
	}
	for _, statement := range asked {
		for _, step := range steps(t, st, statement) {
			// The feeds that were found so far are few, and so are the mails in an index of those that are due or given
			// up.
			few := step == "SCAN feeds" || strings.Contains(step, "INDEX mails_due") || strings.Contains(step, "INDEX mails_failed")
			if strings.HasPrefix(step, "SCAN") && !few {
				t.Errorf("%s: %s", statement, step)
			}
		}
	}
}

// steps returns how SQLite would run the statement.
func steps(t *testing.T, st *Store, statement string) []string {
	t.Helper()
	var plan []struct{ Detail string }
	if err := st.write.Raw("EXPLAIN QUERY PLAN " + statement).Scan(&plan).Error; err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	var steps []string
	for _, step := range plan {
		steps = append(steps, step.Detail)
	}
	return steps
}

// On SQLite, where all other writers wait, a cleanup deletes a little at a time.
func TestCleanupHoldsUpNobodyForLong(t *testing.T) {
	t.Parallel()
	st, _ := onSQLite(t, Options{})
	if err := st.write.Exec("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1200) " +
		"INSERT INTO mails (account_id, kind, data, once, attempts, created_at, sent_at, next_at) SELECT 'acc_1', 'x', '', i, 1, '2020-01-01', '2020-01-01', '2020-01-01' FROM n").Error; err != nil {
		t.Fatal(err)
	}
	var portions []int64
	if err := st.write.Callback().Raw().After("gorm:raw").Register("portions", func(db *gorm.DB) {
		if strings.HasPrefix(db.Statement.SQL.String(), "DELETE FROM mails") {
			portions = append(portions, db.RowsAffected)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Cleanup(t.Context()); err != nil || !slices.Equal(portions, []int64{500, 500, 200}) {
		t.Errorf("%v, %v", portions, err)
	}
}
