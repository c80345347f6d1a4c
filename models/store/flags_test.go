package store_test

import (
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
