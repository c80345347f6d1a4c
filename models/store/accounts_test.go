package store_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Accounts are listed oldest first, by the plan in force, and found by any part of their address; a closed one
// is listed only on request.
func TestAccounts(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		free, pro := models.PlanFree, models.PlanPro
		var ids []string
		for _, in := range []store.NewAccount{
			{Email: "ann@example.com"}, {Email: "bob@example.com", Grant: &pro}, {Email: "eve@example.org", Grant: &free},
			{Email: "dan@example.com"}, {Email: "fay@example.com"}, {Email: "gus@example.com", Grant: &pro},
		} {
			a, err := st.CreateAccount(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, a.ID)
			move(time.Second)
		}
		for _, paying := range []string{ids[2], ids[3]} {
			l, _, err := st.TryLease(ctx, "billing:"+paying, time.Hour)
			if err == nil {
				_, err = st.StoreBilling(ctx, l, store.BillingChange{Billing: models.BillingAccount{AccountID: paying}, Plan: &pro})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := st.DeleteAccount(ctx, ids[5]); err != nil {
			t.Fatal(err)
		}
		names := map[string]string{ids[5]: "gus"}
		list := func(f store.AccountFilter) string {
			found, err := st.Accounts(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			var some []string
			for _, a := range found {
				if a.EmailKey != nil {
					names[a.ID], _, _ = strings.Cut(*a.EmailKey, "@")
				}
				some = append(some, names[a.ID])
			}
			return strings.Join(some, " ")
		}
		for _, c := range []struct {
			filter store.AccountFilter
			want   string
		}{
			{store.AccountFilter{}, "ann bob eve dan fay"},
			{store.AccountFilter{Plan: free}, "ann eve fay"}, // eve pays, but was granted less
			{store.AccountFilter{Plan: pro}, "bob dan"},
			{store.AccountFilter{Search: "XAMPLE.Org"}, "eve"},
			{store.AccountFilter{Status: models.AccountClosed}, "gus"},
			{store.AccountFilter{Status: models.AccountActive, Plan: pro}, "bob dan"},
		} {
			if got := list(c.filter); got != c.want {
				t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
			}
		}
	})
}

// A daily limit may be 0, but not less.
func TestLimitOfNoRequests(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, _ func(time.Duration)) {
		ctx := t.Context()
		storetest.Account(t, st, "ann@example.com")
		a, err := st.OverrideLimit(ctx, "ann@example.com", new(0))
		if err != nil || a.DailyLimit(models.DefaultPlans()) != 0 {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := st.OverrideLimit(ctx, a.ID, new(-1)); models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("less than none: %v", err)
		}
		if a, err = st.OverrideLimit(ctx, a.ID, nil); err != nil || a.DailyLimit(models.DefaultPlans()) != 100 {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// Closing an account keeps the times at which keys of it were revoked before.
func TestClosingKeepsRevocations(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		var ids []string
		for range 2 {
			k := storetest.Key(t, st, "ann@example.com")
			ids = append(ids, k.ID)
		}
		revoked, err := st.RevokeKey(ctx, ids[0])
		if err != nil {
			t.Fatal(err)
		}
		move(time.Hour)
		a, err := st.DeleteAccount(ctx, "ann@example.com")
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]time.Time{ids[0]: *revoked.RevokedAt, ids[1]: *a.DeletedAt} {
			k, err := st.KeyOf(ctx, a.ID, id)
			if err != nil || k.RevokedAt == nil || !k.RevokedAt.Equal(want) {
				t.Errorf("%+v, %v; want one revoked at %s", k, err, want)
			}
		}
	})
}

// Any committed change is signalled in this process; one that is rolled back, or another process's, is not.
func TestOwnChangesAreTold(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		st, other := storetest.OpenURL(t, url, store.Options{}), storetest.OpenURL(t, url, store.Options{})
		told := func() bool {
			select {
			case <-st.AccountsChanged():
				return true
			default:
				return false
			}
		}
		k := storetest.Key(t, st, "a@example.com")
		if !told() || told() {
			t.Error("a new key is not told once")
		}
		if _, err := other.SetAccountStatus(ctx, "a@example.com", models.AccountSuspended); err != nil {
			t.Fatal(err)
		}
		if _, err := st.SetAccountStatus(ctx, "nobody@example.com", models.AccountSuspended); err == nil {
			t.Error("an account that there is not was suspended")
		}
		if _, _, err := st.RotateKey(ctx, "key_none", time.Hour); err == nil {
			t.Error("a key that there is not was rotated")
		}
		if told() {
			t.Error("somebody else's change is told, or one that failed")
		}
		for range 3 {
			if _, err := st.SetAccountStatus(ctx, "a@example.com", models.AccountActive); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := st.RevokeKey(ctx, k.ID); err != nil {
			t.Fatal(err)
		}
		if !told() {
			t.Error("changes that nobody took are not told")
		}
	})
}

// A node whose database has been replaced by an older backup cannot tell from the numbers of changes which accounts have
// changed, whether the other database has fewer changes, as many or more. It follows that database's changes from then on.
func TestAccountChangesOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	for kind, open := range map[string]func(testing.TB) string{"sqlite": storetest.URL, "postgres": storetest.NewPostgres} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			before := storetest.OpenURL(t, open(t), store.Options{})
			suspend := func(st *store.Store, name string) string {
				a := storetest.Account(t, st, name+"@example.com")
				if _, err := st.SetAccountStatus(t.Context(), a.ID, models.AccountSuspended); err != nil {
					t.Fatal(err)
				}
				return a.ID
			}
			for _, name := range []string{"ann", "bob", "cyd"} {
				suspend(before, name)
			}
			since, err := before.NewestAccountChange(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			after := storetest.OpenURL(t, open(t), store.Options{})
			for _, name := range []string{"dan", "eve", "fay"} { // fewer changes, as many, more
				suspend(after, name)
				_, newest, known, err := after.AccountChanges(t.Context(), since)
				if err != nil || known {
					t.Errorf("%s: known %v, %v", name, known, err)
				}
				ids, newest, known, err := after.AccountChanges(t.Context(), newest)
				if err != nil || !known || len(ids) != 0 {
					t.Errorf("%s: then %q, known %v, %v", name, ids, known, err)
				}
				want := suspend(after, "another-"+name)
				if ids, _, known, err = after.AccountChanges(t.Context(), newest); err != nil || !known || !slices.Equal(ids, []string{want}) {
					t.Errorf("%s: changed %q, want %q, known %v, %v", name, ids, want, known, err)
				}
			}
		})
	}
}

// Nothing changes an account that is closed, or makes keys for it: somebody may close it while an operator is at work.
func TestClosedAccountStaysAsItIs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, pro, limit := t.Context(), models.PlanPro, 7
		id := storetest.Account(t, st, "ann@example.com").ID
		if _, err := st.DeleteAccount(ctx, id); err != nil {
			t.Fatal(err)
		}
		before, err := st.KeptAccount(ctx, id)
		if err != nil || before.Status != models.AccountClosed || before.Email != nil {
			t.Fatalf("%+v, %v", before, err)
		}
		for name, change := range map[string]func() (models.Account, error){
			"address": func() (models.Account, error) {
				return st.CorrectAccount(ctx, id, store.AccountCorrection{Email: new("eve@example.com")})
			},
			"name": func() (models.Account, error) {
				return st.CorrectAccount(ctx, id, store.AccountCorrection{Name: new("Eve")})
			},
			"plan":   func() (models.Account, error) { return st.GrantPlan(ctx, id, &pro) },
			"limit":  func() (models.Account, error) { return st.OverrideLimit(ctx, id, &limit) },
			"resume": func() (models.Account, error) { return st.SetAccountStatus(ctx, id, models.AccountActive) },
			"delete": func() (models.Account, error) { return st.DeleteAccount(ctx, id) },
			"key": func() (models.Account, error) {
				k, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: id, Name: "late"})
				return k.Account, err
			},
		} {
			if _, err := change(); models.ErrorCode(err) != models.CodeNotFound || !strings.Contains(err.Error(), "is closed") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after, err := st.KeptAccount(ctx, id); err != nil || !reflect.DeepEqual(after, before) {
			t.Errorf("%+v became %+v, %v", before, after, err)
		}
		if keys, err := st.Keys(ctx, id); err != nil || len(keys) != 0 {
			t.Errorf("%d keys, %v", len(keys), err)
		}
	})
}
