package store_test

import (
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A change and its entry in the audit log are one: a change that is rolled back, or that no
// operator makes, leaves no entry.
func TestAudit(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		o := &store.Operator{Who: "grace", Origin: "here", Command: "keys create"}
		ctx := store.WithOperator(t.Context(), o)
		plans := models.DefaultPlans()
		full := plans[models.PlanFree]
		full.MaxKeys = 0
		in := store.NewKey{Account: "ann@example.com", Create: true, Grant: new(models.PlanPro)}
		if _, err := st.CreateKey(ctx, models.Plans{models.PlanPro: full}, in); models.ErrorCode(err) != models.CodeConflict {
			t.Fatal(err)
		}
		entries := func(f store.AuditFilter, want int) []models.AuditEntry {
			t.Helper()
			list, err := st.Audit(t.Context(), f)
			if err != nil || len(list) != want {
				t.Fatalf("%d entries, want %d (%v): %+v", len(list), want, err, list)
			}
			return list
		}
		entries(store.AuditFilter{}, 0)
		key, err := st.CreateKey(ctx, plans, in)
		if err != nil || !o.Noted() {
			t.Fatal(err, o)
		}
		if _, err := st.RevokeKey(t.Context(), key.ID); err != nil { // by the customer, not an operator
			t.Fatal(err)
		}
		e := entries(store.AuditFilter{}, 1)[0]
		if e.Who != "grace" || e.Origin != "here" || e.Action != "keys create" || e.AccountID != key.AccountID || e.Object != key.ID || e.Became != "pro" || e.Result != "done" {
			t.Errorf("%+v", e)
		}
		move(time.Hour)
		if err := st.Note(t.Context(), &store.Operator{Who: "bob", Command: "draws sync"}, "", "all feeds", "failed"); err != nil {
			t.Fatal(err)
		}
		if e := entries(store.AuditFilter{Limit: 1}, 1)[0]; e.Who != "bob" || e.Result != "failed" {
			t.Errorf("%+v", e)
		}
		entries(store.AuditFilter{Since: e.At.Add(time.Minute)}, 1)
		entries(store.AuditFilter{Since: e.At}, 2)
		entries(store.AuditFilter{AccountID: key.AccountID}, 1)
		if of, err := st.AuditOf(t.Context(), key.AccountID, 9); err != nil || len(of) != 0 { // the history of its plan
			t.Errorf("%+v %v", of, err)
		}
		move(4*365*aDay - 30*time.Minute)
		if got := gone(t, st); got != "audit entries 1" {
			t.Errorf("after four years: %s", got)
		}
	})
}

// An operator's grant of a plan, too, is recorded under the operator's name.
func TestAuditOfBilledPlan(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		a := storetest.Account(t, st, "ann@example.com")
		l, _, err := st.TryLease(t.Context(), "billing:x", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		ctx := store.WithOperator(t.Context(), &store.Operator{Who: "grace", Command: "billing sync"})
		if _, err := st.StoreBilling(ctx, l, store.BillingChange{Billing: models.BillingAccount{AccountID: a.ID}, Plan: new(models.PlanPro), Actor: "operator"}); err != nil {
			t.Fatal(err)
		}
		if list, err := st.AuditOf(t.Context(), a.ID, 9); err != nil || len(list) != 1 || list[0].Who != "grace" || list[0].Became != "pro" {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// What an operator typed can be written down, whatever it is: PostgreSQL refuses what is not UTF-8, and so would a copy
// of a SQLite database that had it.
func TestNoteOfBytes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if err := st.Note(t.Context(), &store.Operator{Who: "ada", Command: "games remove"}, "", "a\xffb", "failed: not_found"); err != nil {
			t.Fatal(err)
		}
		if list, err := st.Audit(t.Context(), store.AuditFilter{}); err != nil || len(list) != 1 || list[0].Object != "a\uFFFDb" {
			t.Errorf("%+v %v", list, err)
		}
	})
}
