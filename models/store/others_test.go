package store_test

import (
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// What is done to one account, key or day leaves the others alone.
func TestOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		ann, bob := signIn(t, st, "ann@example.com", "ann", ""), signIn(t, st, "bob@example.com", "bob", "")
		if err := st.EndSessions(ctx, ann.ID); err != nil || lives(t, st, "ann") || !lives(t, st, "bob") {
			t.Errorf("sessions: %v", err)
		}
		keys := map[string]store.Key{}
		for _, a := range []models.Account{ann, bob} {
			k, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: a.ID})
			if err != nil {
				t.Fatal(err)
			}
			keys[a.ID] = k
		}
		eve := signIn(t, st, "eve@example.com", "eve", "")
		for id, want := range map[string]bool{ann.ID: true, eve.ID: false} {
			if has, err := st.HasKeys(ctx, id); err != nil || has != want {
				t.Errorf("has keys: %v, %v; want %v", has, err, want)
			}
		}
		if _, err := st.KeyOf(ctx, ann.ID, keys[bob.ID].ID); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("another account's key: %v", err)
		}
		if err := st.TouchKeys(ctx, []string{keys[ann.ID].ID}, time.Now()); err != nil {
			t.Fatal(err)
		}
		for id, used := range map[string]bool{ann.ID: true, bob.ID: false} {
			if k, err := st.KeyOf(ctx, id, keys[id].ID); err != nil || (k.LastUsedAt != nil) != used {
				t.Errorf("last used: %v, %v", k.LastUsedAt, err)
			}
		}
		applyQuota(t, st, store.QuotaOp{Kind: store.QuotaAdd, Key: ann.ID, Period: aDay, Start: models.PeriodStart(time.Now().AddDate(0, 0, -3), aDay), N: 9})
		if used, _, err := st.CountedToday(ctx, ann.ID); err != nil || used != 0 {
			t.Errorf("counted on another day: %d, %v", used, err)
		}
	})
}

// An unknown key that an operator gives whole does not appear in the error.
func TestUnknownKeyIsNotRepeated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		key := secret.NewKey()
		_, err := st.RevokeKey(t.Context(), key)
		if models.ErrorCode(err) != models.CodeNotFound || strings.Contains(err.Error(), key[secret.PrefixLength:]) || !strings.Contains(err.Error(), key[:secret.PrefixLength]) {
			t.Errorf("%v", err)
		}
	})
}
