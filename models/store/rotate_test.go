package store_test

import (
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Rotated keys that still work have a bound; without grace a key can always be rotated.
func TestRotatedKeysHaveABound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		key, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "ann@example.com", Create: true})
		if err != nil {
			t.Fatal(err)
		}
		first := key.ID
		rotations := 0
		for ; rotations < 100; rotations++ {
			fresh, _, err := st.RotateKey(t.Context(), key.ID, time.Hour)
			if models.ErrorCode(err) == models.CodeConflict {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			key = fresh
		}
		if rotations != 50 {
			t.Errorf("%d rotations with grace", rotations)
		}
		if key, _, err = st.RotateKey(t.Context(), key.ID, 0); err != nil {
			t.Errorf("without grace: %v", err)
		}
		if _, err := st.RevokeKey(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if _, _, err := st.RotateKey(t.Context(), key.ID, time.Hour); err != nil {
			t.Errorf("after one was revoked: %v", err)
		}
	})
}
