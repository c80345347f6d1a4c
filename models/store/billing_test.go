package store_test

import (
	"slices"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A new price replaces the one that checkout sells of the same plan and mode, and no other. The replaced one stays known.
func TestPricesByPlanAndMode(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		for _, p := range []models.KnownPrice{
			{PriceID: "price_other", Plan: "other", Livemode: true},
			{PriceID: "price_test", Plan: models.PlanPro},
			{PriceID: "price_first", Plan: models.PlanPro, Livemode: true},
			{PriceID: "price_second", Plan: models.PlanPro, Livemode: true},
		} {
			p.ProductID, p.Currency, p.UnitAmount = "prod_1", "usd", 4900
			if err := st.SetPrice(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		for livemode, want := range map[bool]map[string]bool{
			true:  {"price_other": true, "price_first": false, "price_second": true},
			false: {"price_test": true},
		} {
			list, err := st.KnownPrices(ctx, livemode)
			if err != nil || len(list) != len(want) {
				t.Errorf("live %v: %+v, %v", livemode, list, err)
			}
			for _, p := range list {
				if current, known := want[p.PriceID]; !known || p.Current != current {
					t.Errorf("live %v: %s is current: %v", livemode, p.PriceID, p.Current)
				}
			}
		}
	})
}

// pay notes what is known about an account's payments.
func pay(t *testing.T, st *store.Store, b models.BillingAccount) {
	t.Helper()
	l, ok, err := st.TryLease(t.Context(), "billing:"+b.AccountID, time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := st.SaveBilling(t.Context(), l, b); err != nil {
		t.Fatal(err)
	}
	if err := st.EndLease(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

// Accounts with a customer are listed page by page, between two bounds.
func TestBillingAccountsAfter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var want []string
		for _, name := range []string{"ann", "bob", "cem", "dan", "eve"} {
			b, customer := models.BillingAccount{AccountID: signIn(t, st, name+"@example.com", name, "").ID, Attempt: 1}, "cus_"+name
			if name != "cem" {
				b.CustomerID, want = &customer, append(want, b.AccountID)
			}
			pay(t, st, b)
		}
		all, err := st.BillingAccountsAfter(t.Context(), "", "", 9) // in the database's order
		if err != nil || !slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(want))) {
			t.Fatalf("%v, %v; want %v", all, err, want)
		}
		for _, c := range []struct {
			after, last string
			limit       int
			want        []string
		}{
			{"", "", 2, all[:2]},
			{all[1], "", 9, all[2:]},
			{all[0], all[2], 9, all[1:3]},
		} {
			got, err := st.BillingAccountsAfter(t.Context(), c.after, c.last, c.limit)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("after %q up to %q, %d at most: %v, %v; want %v", c.after, c.last, c.limit, got, err, c.want)
			}
		}
	})
}

// Checkout forgets the page of the account that was closed, not of another.
func TestCheckoutOfAnOpenAccountIsKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, page := t.Context(), "https://checkout.example/"
		ann, bob := signIn(t, st, "ann@example.com", "ann", ""), signIn(t, st, "bob@example.com", "bob", "")
		if _, err := st.DeleteAccount(ctx, bob.ID); err != nil {
			t.Fatal(err)
		}
		for id, kept := range map[string]bool{ann.ID: true, bob.ID: false} {
			pay(t, st, models.BillingAccount{AccountID: id, SessionURL: &page})
			if b, err := st.BillingAccount(ctx, id); err != nil || (b.SessionURL != nil) != kept {
				t.Errorf("%+v, %v; kept should be %v", b, err, kept)
			}
		}
	})
}
