package store_test

import (
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A cleared flag stays cleared when the same thing is seen again, but is raised again when it is done again.
func TestFlagsRaisedAgain(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		t.Parallel()
		ctx, now := t.Context(), time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		st := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return now }})
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		want := func(n int, detail string, raised time.Time) {
			t.Helper()
			list, err := st.Flags(ctx, "acc_1")
			ok(err)
			if len(list) != n || n == 1 && (list[0].Detail != detail || !list[0].RaisedAt.Equal(raised)) {
				t.Errorf("%+v, want %d: %s at %s", list, n, detail, raised)
			}
		}
		flag := models.AccountFlag{AccountID: "acc_1", Kind: models.FlagSuspended, Ref: "sub_1", Detail: "first"}
		first := now
		ok(st.RaiseFlagAnew(ctx, flag))
		now, flag.Detail = now.Add(time.Hour), "second"
		ok(st.RaiseFlag(ctx, flag))
		ok(st.RaiseFlagAnew(ctx, flag))
		want(1, "first", first) // it was never cleared
		for n := range 2 {      // flags cleared before are not returned again
			cleared, err := st.ClearFlags(ctx, "acc_1")
			ok(err)
			if len(cleared) != 1-n {
				t.Errorf("%+v were cleared", cleared)
			}
		}
		ok(st.RaiseFlag(ctx, flag))
		want(0, "", now)
		ok(st.RaiseFlagAnew(ctx, flag))
		want(1, "second", now)
	})
}

// Flags are listed of one account or of all, and second customers of one account.
func TestFlagsOfAnAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		for _, f := range []models.AccountFlag{
			{AccountID: "acc_1", Kind: models.FlagSecondCustomer, Ref: "cus_1"},
			{AccountID: "acc_2", Kind: models.FlagSecondCustomer, Ref: "cus_2"},
			{AccountID: "acc_1", Kind: models.FlagRefund, Ref: "ch_1"},
		} {
			if err := st.RaiseFlag(ctx, f); err != nil {
				t.Fatal(err)
			}
		}
		for id, want := range map[string]string{"acc_1": "cus_1 ch_1", "acc_2": "cus_2", "acc_3": "", "": "cus_1 cus_2 ch_1"} {
			list, err := st.Flags(ctx, id)
			refs := []string{}
			for _, f := range list {
				refs = append(refs, f.Ref)
			}
			if got := strings.Join(refs, " "); err != nil || got != want {
				t.Errorf("of %q: %q, %v; want %q", id, got, err, want)
			}
		}
		if _, err := st.ClearFlags(ctx, "acc_2"); err != nil {
			t.Fatal(err)
		}
		if list, err := st.Flags(ctx, ""); err != nil || len(list) != 2 {
			t.Errorf("those of another account were cleared: %+v, %v", list, err)
		}
		for id, want := range map[string]string{"acc_1": "cus_1", "acc_2": "cus_2", "acc_3": ""} { // cleared or not
			if ids, err := st.SecondCustomers(ctx, id); err != nil || strings.Join(ids, " ") != want {
				t.Errorf("of %q: %v, %v; want %q", id, ids, err, want)
			}
		}
	})
}
