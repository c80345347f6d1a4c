package store_test

import (
	"slices"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Stripe is owed the new address of an account that it knows, until it was told just that one.
func TestEmailsOwed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		owed := func(id string) string {
			t.Helper()
			mark, err := st.EmailOwed(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			return mark
		}
		told := func(id, mark string) {
			t.Helper()
			if err := st.EmailTold(ctx, id, mark); err != nil {
				t.Fatal(err)
			}
		}
		change := func(id, email string) {
			t.Helper()
			link := createLink(t, st, store.NewLink{Purpose: models.LinkChangeEmail, Email: email, AccountID: id})
			if _, _, err := st.ChangeEmail(ctx, store.EmailChange{Link: link, Claim: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		ids := map[string]string{}
		for _, name := range []string{"ann", "bob", "cem", "dan"} {
			ids[name] = signIn(t, st, name+"@example.com", name, "").ID
		}
		customers := map[string]string{"ann": "cus_ann", "bob": "cus_bob"}
		for name, customer := range customers {
			pay(t, st, models.BillingAccount{AccountID: ids[name], CustomerID: &customer})
		}
		pay(t, st, models.BillingAccount{AccountID: ids["cem"], Attempt: 1}) // of a customer that was deleted
		for name, id := range ids {
			change(id, name+"@example.org")
			if _, known := customers[name]; (owed(id) != "") != known {
				t.Errorf("%s: %q", name, owed(id))
			}
		}
		before, others := owed(ids["ann"]), owed(ids["bob"])
		change(ids["ann"], "ann@example.net")
		for _, mark := range []string{before, others, ""} {
			told(ids["ann"], mark)
		}
		want := slices.Sorted(slices.Values([]string{ids["ann"], ids["bob"]}))
		if list, err := st.EmailsOwed(ctx); err != nil || !slices.Equal(slices.Sorted(slices.Values(list)), want) {
			t.Errorf("after it was told something else: %v, %v; want %v", list, err, want)
		}
		told(ids["ann"], owed(ids["ann"]))
		if list, err := st.EmailsOwed(ctx); err != nil || !slices.Equal(list, []string{ids["bob"]}) {
			t.Errorf("after it was told: %v, %v", list, err)
		}
	})
}
