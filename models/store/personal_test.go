package store_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// holding returns the tables that contain any of the words, in whatever column and case.
func holding(t *testing.T, db *sql.DB, url string, words ...string) []string {
	t.Helper()
	var list []string
	for _, table := range tables(t, db, url) {
		for _, row := range query(t, db, "SELECT * FROM "+table) { //nolint:unqueryvet // every column is what is looked through
			text := strings.ToLower(strings.Join(row, "\x00"))
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) }) {
				list = append(list, table)
				break
			}
		}
	}
	return list
}

// personOf is what may be stored anywhere about an account's person.
var personOf = []string{"Ada@Example.com", "Lovelace", "ada.new@example.com"}

// fillPerson makes an account with data in every table that can hold any about it.
func fillPerson(t *testing.T, st *store.Store, db *sql.DB) models.Account {
	t.Helper()
	ctx := t.Context()
	plans := models.DefaultPlans()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	operator := store.WithOperator(ctx, &store.Operator{Who: "grace", Origin: "here", Command: "accounts create"})
	a, err := st.CreateAccount(operator, store.NewAccount{Email: "Ada@Example.com", Name: "Ada Lovelace", Grant: new(models.PlanPro)})
	ok(err)
	expires := time.Now().Add(30 * aDay)
	_, err = st.CreateKey(operator, plans, store.NewKey{Account: a.ID, Name: "Lovelace's laptop", ExpiresAt: &expires})
	ok(err)
	link := store.NewLink{Hash: secret.Hash("sign-in"), Purpose: models.LinkSignIn, Email: "Ada@Example.com", PerHour: 9}
	err = st.CreateLink(ctx, link)
	ok(err)
	_, err = st.SignIn(ctx, plans, store.SignIn{Link: link.Hash, Session: secret.Hash("session"), NewID: "acc_x"})
	ok(err)
	err = st.CreateLink(ctx, store.NewLink{Hash: secret.Hash("change"), Purpose: models.LinkChangeEmail, Email: "ada.new@example.com", AccountID: a.ID, PerHour: 9})
	ok(err)
	l, _, err := st.TryLease(ctx, "billing:"+a.ID, time.Hour)
	ok(err)
	cus, cs, url, period := "cus_1", "cs_1", "https://pay.test/?e=ada@example.com", time.Now().Add(aDay)
	_, err = st.StoreBilling(ctx, l, store.BillingChange{
		Billing: models.BillingAccount{AccountID: a.ID, CustomerID: &cus, SessionID: &cs, SessionURL: &url, SessionExpiresAt: &period}, Plan: new(models.PlanPro), Actor: "stripe", Reason: "paid",
		Flags: []models.AccountFlag{{AccountID: a.ID, Kind: models.FlagRefund, Ref: "ch_1", Detail: "refunded to ada@example.com"}, {AccountID: a.ID, Kind: models.FlagDispute, Ref: "dp_1", Detail: "disputed"}},
		Mails: []models.Mail{{AccountID: a.ID, Kind: models.MailWelcomePro, Data: "{}", Once: "welcome:" + a.ID}},
	})
	ok(err)
	mails, err := st.MailsNewest(ctx, store.MailFilter{AccountID: a.ID})
	ok(err)
	ok(st.MailFailed(ctx, mails[0].Once, "550 no such user: ada@example.com", 0))
	_, err = db.ExecContext(ctx, "UPDATE mails SET data = '{\"name\":\"Lovelace\"}'")
	ok(err)
	_, err = st.AddEvent(ctx, models.StripeEvent{ID: "evt_1", Type: "invoice.paid", AccountID: a.ID, State: models.EventDone, Outcome: "sent to ada@example.com"})
	ok(err)
	ok(st.AddUsage(ctx, []models.UsageDay{row(a.ID, models.DateOf(time.Now()), "/v1/games", 2, 7)}))
	_, err = st.WarnUsage(ctx, a.ID, models.QuotaUsed{Day: models.DateOf(time.Now()), Percent: 80}, false)
	ok(err)
	add := store.QuotaOp{Kind: store.QuotaAdd, Key: a.ID, Period: aDay, Start: models.PeriodStart(time.Now(), aDay), N: 7}
	_, _, err = st.ApplyQuota(ctx, []store.QuotaOp{add})
	ok(err)
	return a
}

// holdNobody lists text columns beside a person's data that hold IDs and states of Stripe, or a word of ours.
var holdNobody = []string{
	"billing_accounts.subscription_id", "billing_accounts.status", "billing_accounts.price_id", "links.intent",
	"stripe_events.api_version", "stripe_events.object_id", "stripe_events.customer_id",
}

// unfilled returns the text columns of tables in which no row holds anything.
func unfilled(t *testing.T, db *sql.DB, tables []string) (list []string) {
	t.Helper()
	for _, table := range tables {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table) //nolint:unqueryvet // every column is what is looked through
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.ColumnTypes()
		_ = rows.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			column := c.Name()
			if c.DatabaseTypeName() == "TEXT" && query(t, db, "SELECT count(*) FROM "+table+" WHERE "+column+" <> ''")[0][0] == "0" {
				list = append(list, table+"."+column)
			}
		}
	}
	return list
}

// counters is the table that has a counter which was just changed.
func counters(st *store.Store) string {
	if st.Dialect() == store.SQLite {
		return "quota_log"
	}
	return "quota_counters"
}

// After an account is deleted, no table contains its person's address or name.
func TestDeletedAccountIsForgotten(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st, db := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url)
		a := fillPerson(t, st, db)
		before := []string{"account_flags", "accounts", "api_keys", "billing_accounts", "links", "mails", "stripe_events"}
		if got := holding(t, db, url, personOf...); !slices.Equal(got, before) {
			t.Fatalf("before: %v, want %v", got, before) // the scan misses something, or the test lacks a table
		}
		empty := slices.DeleteFunc(unfilled(t, db, before), func(column string) bool { return slices.Contains(holdNobody, column) })
		if len(empty) > 0 {
			t.Errorf("%v: let fillPerson store something there, in a word of personOf, or name it in holdNobody", empty)
		}
		other, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "bob@example.com", Name: "bob's", Create: true})
		if err != nil {
			t.Fatal(err)
		}
		operator := store.WithOperator(t.Context(), &store.Operator{Who: "grace", Origin: "here", Command: "accounts delete"})
		if _, err := st.DeleteAccount(operator, a.ID); err != nil {
			t.Fatal(err)
		}
		if got := holding(t, db, url, personOf...); len(got) > 0 {
			t.Errorf("the address or the name still stands in %v", got)
		}
		// What stays refers to the account only by its id; docs/decisions/0013-audit.md says why each does.
		stays := []string{"account_changes", "account_flags", "accounts", "api_keys", "audit_entries", "billing_accounts", "departures", "leases", counters(st), "stripe_events", "usage_days", "usage_warnings"}
		if got := holding(t, db, url, a.ID); !slices.Equal(got, stays) {
			t.Errorf("its id stands in %v, want %v", got, stays)
		}
		flags, err := st.Flags(t.Context(), a.ID)
		if err != nil || len(flags) != 2 || flags[0].Detail != "" || flags[1].Detail != "disputed" {
			t.Errorf("%+v %v", flags, err)
		}
		if keys, err := st.Keys(t.Context(), other.AccountID); err != nil || len(keys) != 1 || keys[0].Name != "bob's" || keys[0].RevokedAt != nil {
			t.Errorf("of somebody else: %+v %v", keys, err)
		}
		if _, err := st.Record(t.Context(), a.ID); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("exported after it was deleted: %v", err)
		}
	})
}

// A sync or checkout that began before its account was deleted does not bring back what was forgotten.
func TestDeletedAccountStaysForgotten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		a := storetest.Account(t, st, "ann@example.com")
		lease, ok, err := st.TryLease(ctx, "billing:"+a.ID, time.Minute)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		customer, session, url := "cus_1", "cs_1", "https://checkout.example/cs_1#ann@example.com"
		was := models.BillingAccount{AccountID: a.ID, CustomerID: &customer, SessionID: &session, SessionURL: &url}
		if err := st.SaveBilling(ctx, lease, was); err != nil {
			t.Fatal(err)
		}
		if b, err := st.BillingAccount(ctx, a.ID); err != nil || b.SessionURL == nil {
			t.Fatalf("%+v %v", b, err)
		}
		if _, err := st.DeleteAccount(ctx, a.ID); err != nil { // while Stripe is being asked
			t.Fatal(err)
		}
		forgotten := func(after string) {
			t.Helper()
			b, err := st.BillingAccount(ctx, a.ID)
			if err != nil || b.SessionID != nil || b.SessionURL != nil || b.CustomerID == nil {
				t.Errorf("after %s: %+v %v", after, b, err)
			}
		}
		done, err := st.StoreBilling(ctx, lease, store.BillingChange{
			Billing: was, Plan: new(models.PlanPro), Actor: "stripe",
			Mails: []models.Mail{{AccountID: a.ID, Kind: models.MailWelcomePro, Data: "{}", Once: "x"}},
		})
		if err != nil || done.Account.BilledPlan != nil || done.Changed {
			t.Errorf("a sync gives it a plan: %+v %v", done, err)
		}
		if mails, err := st.MailsNewest(ctx, store.MailFilter{AccountID: a.ID}); err != nil || len(mails) > 0 {
			t.Errorf("a sync writes to it: %+v %v", mails, err)
		}
		forgotten("a sync")
		if err := st.SaveBilling(ctx, lease, was); err != nil {
			t.Fatal(err)
		}
		forgotten("a checkout")
	})
}

// Everything held about an account is in its export: a new table or column must get its place there, and
// in what deletion removes.
func TestRecordIsWhole(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st, db := storetest.OpenURL(t, url, store.Options{}), storetest.SQL(t, url)
		a := fillPerson(t, st, db)
		r, err := st.Record(t.Context(), "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if r.Account.ID != a.ID || len(r.Keys) != 1 || len(r.Usage) != 1 || len(r.Warnings) != 1 || r.Billing.CustomerID == nil || len(r.Changes) != 3 ||
			len(r.Flags) != 2 || len(r.Events) != 1 || len(r.Mails) != 1 || len(r.Sessions) != 1 || len(r.Links) != 2 {
			t.Errorf("%+v", r)
		}
		if r.Warnings[0].Percent != 80 || r.Usage[0].Requests != 7 {
			t.Errorf("%+v %+v", r.Warnings, r.Usage)
		}
		// Left out: technical data for nodes and clocks, and departures, which begin when an account ends.
		exported := []string{"account_flags", "accounts", "api_keys", "audit_entries", "billing_accounts", "links", "mails", "sessions", "stripe_events", "usage_days", "usage_warnings"}
		technical := []string{"account_changes", "leases", counters(st)}
		want := slices.Sorted(slices.Values(slices.Concat(exported, technical)))
		if got := holding(t, db, url, a.ID, "ada@example.com"); !slices.Equal(got, want) {
			t.Errorf("tables that hold something of an account: %v, want %v", got, want)
		}
	})
}

// Nothing that was deleted stays in SQLite's file.
func TestDeletedIsOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lottery.db")
	st, err := store.Open(t.Context(), "sqlite:"+path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Prepare(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	const address = "eve.of.destruction@example.com"
	a := storetest.Account(t, st, address)
	for i := range 4 {
		if err := st.CreateLink(t.Context(), store.NewLink{Hash: [32]byte{byte(i)}, Purpose: models.LinkSignIn, Email: address, PerHour: 9}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.DeleteAccount(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if n := bytes.Count(file, []byte("eve.of.destruction")); err != nil || n > 0 {
		t.Errorf("%v: the address stands in the file %d times", err, n)
	}
}
