package store_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// notCopied lists the tables that are not compared, since a copy has its own.
var notCopied = []string{"leases", "meta", "quota_counters", "quota_log", "schema_migrations"}

// eachPair runs test with the addresses of two new databases, for every combination of kinds.
func eachPair(t *testing.T, test func(t *testing.T, from, to string)) {
	t.Helper()
	kinds := map[string]func(testing.TB) string{"sqlite": storetest.EmptyURL, "postgres": storetest.EmptyPostgres}
	for one, fresh := range kinds {
		for other, empty := range kinds {
			t.Run(one+" to "+other, func(t *testing.T) {
				t.Parallel()
				test(t, fresh(t), empty(t))
			})
		}
	}
}

// copyInto prepares the target and copies into it.
func copyInto(t *testing.T, from, to string) (store.Copied, error) {
	t.Helper()
	source, err := store.OpenSource(t.Context(), from)
	if err != nil {
		return store.Copied{}, err
	}
	defer source.Close()
	st := storetest.OpenURL(t, to, store.Options{})
	return st.CopyFrom(store.WithOperator(t.Context(), &store.Operator{Who: "grace", Command: "db copy"}), source, nil)
}

// fillAll puts something into every table, using the store's functions where they exist.
func fillAll(t *testing.T, url string) {
	t.Helper()
	ctx := t.Context()
	st, db := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	fillPerson(t, st, db)
	plans := models.DefaultPlans()

	suspended, err := st.CreateAccount(ctx, store.NewAccount{Email: "bob@example.com", Name: `Bøb 🎲 "quoted", \N \\ 'and'`})
	ok(err)
	limit := 7
	_, err = st.OverrideLimit(ctx, suspended.ID, &limit)
	ok(err)
	_, err = st.SetAccountStatus(ctx, suspended.ID, models.AccountSuspended)
	ok(err)
	closed, err := st.CreateAccount(ctx, store.NewAccount{Email: "eve@example.com"})
	ok(err)
	_, err = st.CreateKey(ctx, plans, store.NewKey{Account: closed.ID, Name: "gone"})
	ok(err)
	_, _, err = st.ApplyQuota(ctx, []store.QuotaOp{{Kind: store.QuotaTake, Key: closed.ID, Period: aDay, Need: 1, Limit: 9}})
	ok(err)
	_, err = st.DeleteAccount(ctx, closed.ID)
	ok(err)
	ada, err := st.Account(ctx, "ada@example.com")
	ok(err)
	revoked, err := st.CreateKey(ctx, plans, store.NewKey{Account: ada.ID, Name: "revoked"})
	ok(err)
	_, err = st.RevokeKey(ctx, revoked.ID)
	ok(err)
	rotated, err := st.CreateKey(ctx, plans, store.NewKey{Account: ada.ID, Name: "rotated"})
	ok(err)
	_, _, err = st.RotateKey(ctx, rotated.ID, time.Hour)
	ok(err)
	ok(st.TouchKeys(ctx, []string{rotated.ID}, time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.FixedZone("", -5*3600))))

	_, err = st.AddGame(ctx, models.Game{ID: "xx-pick-3", Name: "Täglich 3", Digits: 3, Tods: models.NewTodSet(models.Night), Jurisdiction: "XX", Timezone: "America/Chicago"})
	ok(err)
	var changes []store.DrawChange
	first := models.NewDate(1980, time.January, 1)
	for i := range 2500 {
		slot := models.Slot{GameID: "xx-pick-3", Date: first + models.Date(i/2), Tod: models.Night, Sequence: 1 + i%2}
		addons := ""
		if i%3 == 0 {
			addons = `{"fireball":"7","multiplier":"10"}`
		}
		changes = append(changes, store.DrawChange{Slot: slot, Number: fmt.Sprintf("%03d", i%1000), Addons: addons})
	}
	run := models.ImportRun{Feed: models.FeedCSV, Source: "draws.csv", FinishedAt: time.Now(), Summary: models.ImportSummary{Inserted: 2500}}
	mergeDraws(t, st, store.Merge{Run: run, Changes: slices.Values(changes)})
	_, err = st.SetDraw(ctx, store.OperatorDraw{Slot: changes[3].Slot, Number: "999", Reason: "on paper"})
	ok(err)
	_, err = st.UnsetDraw(ctx, changes[4].Slot, "never drawn")
	ok(err)

	at := time.Now().UTC().Truncate(time.Microsecond)
	ok(st.SaveFeedSource(ctx, models.FeedSource{Feed: models.FeedCSV, Address: "https://example.com/a?b=c", ETag: `W/"1"`, Size: 1 << 40, Rejected: models.Texts{"line 1", "2"}, CheckedAt: &at, WholeAt: &at}))
	l, _, err := st.TryLease(ctx, "job:sync", time.Hour)
	ok(err)
	ok(st.SaveJobRun(ctx, l, models.JobRun{Job: "sync", StartedAt: at, FinishedAt: &at, Node: "a", Failed: true, Failures: 3}))
	ok(st.SetPrice(ctx, models.KnownPrice{PriceID: "price_1", ProductID: "prod_1", Plan: models.PlanPro, UnitAmount: 1900, Currency: "usd", Livemode: true}))
	ok(st.SetBillingSetting(ctx, "webhook", "we_1"))
}

// content returns a table's rows, sorted, in a form that is the same for both databases.
func content(t *testing.T, db *sql.DB, table, columns string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT "+columns+" FROM "+table)
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for rows.Next() {
		cells, into := make([]any, len(types)), make([]any, len(types))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var line strings.Builder
		for i, cell := range cells {
			switch v := cell.(type) {
			case time.Time:
				if cell = v.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano); types[i].DatabaseTypeName() == "DATE" {
					cell = v.Format(time.DateOnly)
				}
			case bool:
				if cell = 0; v {
					cell = 1
				}
			case []byte:
				cell = fmt.Sprintf("%x", v)
			}
			fmt.Fprintf(&line, "%s=%v|", types[i].Name(), cell)
		}
		list = append(list, line.String())
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// columnsOf returns a table's columns by name: databases have them in different orders.
func columnsOf(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" LIMIT 0") //nolint:unqueryvet // the columns are what is asked for
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || rows.Err() != nil {
		t.Fatal(err, rows.Err())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// noBytes is an empty value of a column for bytes.
func noBytes(url string) string {
	if strings.HasPrefix(url, "sqlite:") {
		return "x''"
	}
	return "''"
}

// A copy has every row of every table with every column, and continues the numbering.
func TestCopyIsWhole(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, from, to string) {
		fillAll(t, from)
		source, target := storetest.SQL(t, from), storetest.SQL(t, to)
		if _, err := source.ExecContext(t.Context(), "UPDATE links SET mailbox = "+noBytes(from)+" WHERE purpose = 'sign_in'"); err != nil { // as a link of an earlier release
			t.Fatal(err)
		}
		done, err := copyInto(t, from, to)
		if err != nil {
			t.Fatal(err)
		}
		var rows int64
		for _, table := range tables(t, source, from) {
			if slices.Contains(notCopied, table) {
				continue
			}
			columns := columnsOf(t, source, table)
			if other := columnsOf(t, target, table); other != columns {
				t.Errorf("%s has the columns %s and %s", table, columns, other)
			}
			want, got := content(t, source, table, columns), content(t, target, table, columns)
			if len(want) == 0 {
				t.Errorf("%s is not filled by this test", table)
			}
			if table == "audit_entries" { // plus this copy's own entry
				got = slices.DeleteFunc(got, func(line string) bool { return strings.Contains(line, "action=db copy|") })
			}
			if !slices.Equal(want, got) {
				t.Errorf("%s: %d rows, want %d:\n%.600s\n%.600s", table, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			at := slices.IndexFunc(done.Tables, func(c store.CopiedTable) bool { return c.Table == table })
			if at < 0 || done.Tables[at].Rows != int64(len(want)) {
				t.Errorf("%s is told as %v", table, done.Tables)
			}
		}
		for _, c := range done.Tables {
			rows += c.Rows
		}
		if rows != done.Rows || done.Rows < 2500 {
			t.Errorf("%d rows are told, %d in all", done.Rows, rows)
		}
		if got := query(t, target, "SELECT value FROM meta WHERE name = 'oldest_schema'"); strings.HasPrefix(to, "sqlite:") != (got[0][0] == "8") {
			t.Errorf("the copy may be opened by programs that know %v", got)
		}
	})
}

// The store returns the same from a copy as from its source, and can continue from there.
func TestCopyGoesOn(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, from, to string) {
		fillAll(t, from)
		if _, err := copyInto(t, from, to); err != nil {
			t.Fatal(err)
		}
		a, b := storetest.OpenURL(t, from, store.Options{}), storetest.OpenURL(t, to, store.Options{})
		one, other := said(t, a), said(t, b)
		for i := range one {
			if len(other) != len(one) || one[i] != other[i] {
				t.Fatalf("the source says %.300s (line %d of %d), the copy %.300s", one[i], i, len(one), other[min(i, len(other)-1)])
			}
		}
		copied, err := b.Audit(t.Context(), store.AuditFilter{Limit: 1})
		if err != nil || copied[0].Action != "db copy" || copied[0].Who != "grace" || copied[0].Object == "" || copied[0].Result != "done" {
			t.Errorf("the audit log ends with %+v, %v", copied, err)
		}
		// New rows in every table that numbers its rows.
		if err := b.RaiseFlag(t.Context(), models.AccountFlag{AccountID: "acc_1", Kind: models.FlagDispute}); err != nil {
			t.Error(err)
		}
		if err := b.CreateLink(t.Context(), store.NewLink{Hash: secret.Hash("new"), Purpose: models.LinkSignIn, Email: "new@example.com", PerHour: 9}); err != nil {
			t.Error(err)
		}
		slot := models.Slot{GameID: "xx-pick-3", Date: models.NewDate(1980, time.January, 1), Tod: models.Night, Sequence: 1}
		if _, err := b.UnsetDraw(t.Context(), slot, "a revision"); err != nil {
			t.Error(err)
		}
		mergeDraws(t, b, store.Merge{Run: models.ImportRun{Feed: models.FeedCSV, Source: "more", FinishedAt: time.Now()}})
		if _, err := b.CreateAccount(t.Context(), store.NewAccount{Email: "new@example.com"}); err != nil {
			t.Error(err)
		}
	})
}

// said returns what the store says about its accounts, games, draws and counters, as lines of JSON.
func said(t *testing.T, st *store.Store) []string {
	t.Helper()
	ctx := t.Context()
	var all []any
	ok := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	accounts, err := st.Accounts(ctx, store.AccountFilter{})
	ok(accounts, err)
	for _, a := range accounts {
		if a.Status != models.AccountClosed {
			r, err := st.Record(ctx, a.ID)
			ok(r, err)
		}
		keys, err := st.Keys(ctx, a.ID)
		ok(keys, err)
		ok(applyQuota(t, st, peeking(a.ID))[0].Used, nil)
	}
	games, err := st.Games(ctx)
	ok(games, err)
	version, err := st.DataVersion(ctx)
	ok(version, err)
	sources, err := st.FeedSources(ctx)
	ok(sources, err)
	runs, err := st.JobRuns(ctx)
	ok(runs, err)
	imports, err := st.NewestImports(ctx)
	ok(imports, err)
	prices, err := st.KnownPrices(ctx, true)
	ok(prices, err)
	addons, draws := exportedLines(t, st, store.DrawFilter{})
	ok([]any{addons, draws}, nil)
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	// To the microsecond, which both databases guarantee. PostgreSQL's times are in this machine's zone.
	return strings.Split(anyTime.ReplaceAllStringFunc(string(text), func(text string) string {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Error(err)
		}
		return at.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
	}), "\n")
}

var anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

// Today's counters are the same in the copy as in the source, wherever SQLite has them: in its table, its log, or both.
func TestCopyOfCounters(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, from, to string) {
		st := storetest.OpenURL(t, from, store.Options{})
		take := func(key string, n int64) {
			applyQuota(t, st, taking(key, n, 100))
		}
		take("acc-table", 5)
		take("acc-both", 30)
		if _, err := st.Cleanup(t.Context()); err != nil { // moves the log to the table
			t.Fatal(err)
		}
		take("acc-both", 40)
		take("acc-both", 20)
		take("acc-log", 100)
		applyQuota(t, st, store.QuotaOp{Kind: store.QuotaReset, Key: "acc-table", Period: aDay})
		if _, err := copyInto(t, from, to); err != nil {
			t.Fatal(err)
		}
		copied := storetest.OpenURL(t, to, store.Options{})
		for key, want := range map[string]int64{"acc-table": 100, "acc-both": 10, "acc-log": 0} {
			r := applyQuota(t, copied, taking(key, 1000, 100))[0]
			if r.Granted != want || r.Used != 100 {
				t.Errorf("%s is granted %d more, want %d", key, r.Granted, want)
			}
		}
	})
}

// Both databases have the same tables, except for SQLite's log of counters: CopyFrom reads the list
// from SQLite's migrations.
func TestSchemasHaveTheSameTables(t *testing.T) {
	t.Parallel()
	sqlite, postgres := storetest.EmptyURL(t), storetest.EmptyPostgres(t)
	storetest.OpenURL(t, sqlite, store.Options{})
	storetest.OpenURL(t, postgres, store.Options{})
	a, b := storetest.SQL(t, sqlite), storetest.SQL(t, postgres)
	one := slices.DeleteFunc(tables(t, a, sqlite), func(table string) bool { return table == "quota_log" })
	if other := tables(t, b, postgres); !slices.Equal(one, other) {
		t.Fatalf("SQLite has %v and PostgreSQL %v", one, other)
	}
	for _, table := range one {
		if table == "schema_migrations" {
			continue // goose's table
		}
		if c, d := columnsOf(t, a, table), columnsOf(t, b, table); c != d {
			t.Errorf("%s has the columns %s and %s", table, c, d)
		}
	}
}
