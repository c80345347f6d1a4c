package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// All working keys of an account are returned, and the newest of the others.
func TestRecentKeys(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx, plans := t.Context(), models.DefaultPlans()
		a, err := st.CreateAccount(ctx, store.NewAccount{Email: "ann@example.com", Grant: new(models.PlanPro)})
		if err != nil {
			t.Fatal(err)
		}
		add := func(name string, lives time.Duration) store.Key {
			in := store.NewKey{Account: a.ID, Name: name}
			if lives > 0 {
				in.ExpiresAt = new(time.Now().Add(lives).UTC().Truncate(time.Second))
			}
			k, err := st.CreateKey(ctx, plans, in)
			if err != nil {
				t.Fatal(err)
			}
			move(time.Second)
			return k
		}
		if has, err := st.HasKeys(ctx, a.ID); has || err != nil {
			t.Errorf("before the first: %v %v", has, err)
		}
		revoked := add("revoked", 0)
		add("expired", 36*time.Hour)
		graceOver, grace := add("grace over", 0), add("grace", 0)
		add("expires later", 1000*time.Hour)
		if _, err := st.RevokeKey(ctx, revoked.ID); err != nil {
			t.Fatal(err)
		}
		for k, d := range map[string]time.Duration{graceOver.ID: time.Hour, grace.ID: 1000 * time.Hour} {
			if _, _, err := st.RotateKey(ctx, k, d); err != nil {
				t.Fatal(err)
			}
		}
		move(72 * time.Hour)
		names := func(keys []models.APIKey) string {
			var list []string
			for _, k := range keys {
				list = append(list, k.Name)
			}
			return strings.Join(list, ", ")
		}
		live, dead, err := st.RecentKeys(ctx, a.ID, 9)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(live, func(a, b models.APIKey) int { return strings.Compare(a.Name, b.Name) })
		if names(live) != "expires later, grace, grace, grace over" || names(dead) != "grace over, expired, revoked" {
			t.Errorf("live: %s; dead: %s", names(live), names(dead))
		}
		if _, dead, err := st.RecentKeys(ctx, a.ID, 2); err != nil || names(dead) != "grace over, expired" {
			t.Errorf("two: %s, %v", names(dead), err)
		}
		if has, err := st.HasKeys(ctx, a.ID); !has || err != nil {
			t.Errorf("has keys: %v %v", has, err)
		}
		if k, err := st.KeyOf(ctx, a.ID, grace.ID); err != nil || k.Name != "grace" {
			t.Errorf("its own: %+v %v", k, err)
		}
		for account, key := range map[string]string{"acc_other": grace.ID, a.ID: "key_none", "acc_x": "\x00\xff"} {
			if _, err := st.KeyOf(ctx, account, key); models.ErrorCode(err) != models.CodeNotFound {
				t.Errorf("%s of %s: %v", key, account, err)
			}
		}
	})
}

// Working keys are visited once each, whatever lies between them.
func TestKeysAfter(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx, plans := t.Context(), models.DefaultPlans()
		var want []string
		for i := range 4 {
			account := fmt.Sprintf("a%d@example.com", i)
			add := func(expires *time.Time) string {
				k, err := st.CreateKey(ctx, plans, store.NewKey{Account: account, Create: true, Grant: new(models.PlanPro), ExpiresAt: expires})
				if err != nil {
					t.Fatal(err)
				}
				return k.ID
			}
			rotate := func(id string, grace time.Duration) string {
				fresh, _, err := st.RotateKey(ctx, id, grace)
				if err != nil {
					t.Fatal(err)
				}
				return fresh.ID
			}
			add(new(time.Now().Add(36 * time.Hour)))
			if _, err := st.RevokeKey(ctx, add(nil)); err != nil {
				t.Fatal(err)
			}
			rotated := rotate(rotate(add(nil), 0), time.Hour)
			want = append(want, add(nil), add(new(time.Now().Add(1000*time.Hour))), rotated, rotate(rotated, 1000*time.Hour))
		}
		move(72 * time.Hour)
		var got []string
		for last := ""; ; last = got[len(got)-1] {
			keys, err := st.KeysAfter(ctx, last, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(keys) == 0 {
				break
			}
			for _, k := range keys {
				got = append(got, k.ID)
			}
		}
		slices.Sort(got) // the database may have another order
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	})
}

// If several callers make a key for a new address at once, one makes the account, and each gets a key.
func TestKeysOfANewAccountAtOnce(t *testing.T) {
	twoNodes(t, func(t *testing.T, a, b *store.Store) {
		plans := models.DefaultPlans()
		for turn := range 10 {
			in := store.NewKey{Account: fmt.Sprintf("Ann%d@example.com", turn), Create: true}
			var wg sync.WaitGroup
			for _, st := range []*store.Store{a, b} {
				wg.Go(func() {
					if _, err := st.CreateKey(t.Context(), plans, in); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
		if list, err := a.Accounts(t.Context(), store.AccountFilter{}); err != nil || len(list) != 10 {
			t.Errorf("%d accounts, %v", len(list), err)
		}
	})
}

// A key that would end at the moment of its creation is refused.
func TestKeyThatWouldEndNow(t *testing.T) {
	t.Parallel()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: func() time.Time { return fixedNow }})
	for ends, want := range map[time.Time]models.Code{fixedNow: models.CodeInvalid, fixedNow.Add(time.Second): ""} {
		in := store.NewKey{Account: "ann@example.com", Create: true, ExpiresAt: &ends}
		if _, err := st.CreateKey(t.Context(), models.DefaultPlans(), in); models.ErrorCode(err) != want {
			t.Errorf("%s: %v", ends, err)
		}
	}
}
