package store_test

import (
	"sync"
	"sync/atomic"
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

// The bound holds when keys of an account are rotated at the same moment.
func TestRotatedKeysHaveABoundAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		pro := models.PlanPro
		var ids []string
		for i := range 12 {
			key, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "ann@example.com", Create: i == 0, Grant: &pro})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, key.ID)
		}
		last := ids[0]
		for range 49 {
			fresh, _, err := st.RotateKey(t.Context(), last, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			last = fresh.ID
		}
		var warm, rotate sync.WaitGroup
		for range 16 { // the pool's connections are open then, and none waits for another to be made
			warm.Go(func() {
				for range 50 {
					_, _ = st.Keys(t.Context(), "")
				}
			})
		}
		warm.Wait()
		var rotated atomic.Int32
		for _, id := range ids[1:] {
			rotate.Go(func() {
				if _, _, err := st.RotateKey(t.Context(), id, time.Hour); err == nil {
					rotated.Add(1)
				}
			})
		}
		rotate.Wait()
		if rotated.Load() != 1 {
			t.Errorf("%d rotated keys live on, 50 may", 49+rotated.Load())
		}
	})
}
