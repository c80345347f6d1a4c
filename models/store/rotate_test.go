package store_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// The number of rotated keys that still work is bounded; without grace a key can always be rotated.
func TestRotatedKeysHaveABound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		key := storetest.Key(t, st, "ann@example.com")
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
		key, _, err := st.RotateKey(t.Context(), key.ID, 0)
		if err != nil {
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

// The error for a key that cannot be rotated says why, and what to do.
func TestKeysThatCannotBeRotated(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: now})
	made := func(expires *time.Time) string {
		t.Helper()
		key, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "ann@example.com", Create: true, Grant: new(models.PlanPro), ExpiresAt: expires})
		if err != nil {
			t.Fatal(err)
		}
		return key.ID
	}
	soon := now().Add(time.Hour)
	inGrace, dead, revoked, expired := made(nil), made(nil), made(nil), made(&soon)
	for id, grace := range map[string]time.Duration{inGrace: aDay, dead: 0} {
		if _, _, err := st.RotateKey(t.Context(), id, grace); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.RevokeKey(t.Context(), revoked); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(2 * time.Hour))
	const again = " has already been rotated: only an active key can be rotated; if you did not see the key that replaced it, rotate that one"
	for id, want := range map[string]string{
		inGrace: again, dead: again,
		revoked: " is revoked: only an active key can be rotated; create a new one instead",
		expired: " has expired: only an active key can be rotated; create a new one instead",
	} {
		_, _, err := st.RotateKey(t.Context(), id, time.Hour)
		if models.ErrorCode(err) != models.CodeConflict || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want it to end with %q", err, want)
		}
	}
}

// The bound holds if keys of an account are rotated concurrently.
func TestRotatedKeysHaveABoundAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var ids []string
		for i := range 12 {
			key, err := st.CreateKey(t.Context(), models.DefaultPlans(), store.NewKey{Account: "ann@example.com", Create: i == 0, Grant: new(models.PlanPro)})
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
		for range 16 { // opens the pool's connections, so that none has to be made below
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

// Keys that have expired, were revoked or are in their grace period leave room for others, up to the plan's number. A
// successor has its predecessor's expiry; a key replaced without grace is revoked in its row, whatever the clocks say;
// revoking again changes nothing. Every change is signalled to the nodes.
func TestRoomForKeys(t *testing.T) {
	movable(t, func(t *testing.T, st *store.Store, move func(time.Duration)) {
		ctx := t.Context()
		var last int64
		told := func(what string, want bool) {
			t.Helper()
			n, err := st.NewestAccountChange(ctx)
			if err != nil || (n.Number > last) != want {
				t.Errorf("%s: change %d after %d, %v", what, n.Number, last, err)
			}
			last = n.Number
		}
		create := func(want models.Code, expires *time.Time) store.Key {
			t.Helper()
			k, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: "ann@example.com", Name: "laptop", Create: true, ExpiresAt: expires})
			if models.ErrorCode(err) != want {
				t.Fatalf("a key: %v, want %q", err, want)
			}
			told("a key", want == "")
			return k
		}
		ends := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
		first, second := create("", &ends), create("", nil)
		create(models.CodeConflict, nil)

		fresh, old, err := st.RotateKey(ctx, first.ID, time.Hour)
		if err != nil || fresh.Name != "laptop" || fresh.ExpiresAt == nil || !fresh.ExpiresAt.Equal(ends) || old.RevokedAt != nil || old.GraceUntil == nil {
			t.Fatalf("%+v for %+v, %v", fresh.APIKey, old, err)
		}
		told("a rotation", true)
		create(models.CodeConflict, nil) // the old key, in its grace period, does not count; the new one does

		if _, _, err := st.RotateKey(ctx, second.ID, 0); err != nil {
			t.Fatal(err)
		}
		dead, err := st.KeyOf(ctx, second.AccountID, second.ID)
		if err != nil || dead.RevokedAt == nil {
			t.Errorf("rotated without grace: %+v, %v", dead, err)
		}
		told("a rotation without grace", true)
		create(models.CodeConflict, nil)

		move(72 * time.Hour)
		third := create("", nil) // fresh has expired
		create(models.CodeConflict, nil)
		revoked, err := st.RevokeKey(ctx, third.ID)
		if err != nil {
			t.Fatal(err)
		}
		told("a revocation", true)
		move(time.Hour)
		if again, err := st.RevokeKey(ctx, third.ID); err != nil || again.RevokedAt == nil || again.RevokedAt.Sub(*revoked.RevokedAt).Abs() > time.Second {
			t.Errorf("revoked again: %+v, %v", again, err)
		}
		told("a revocation again", false)
		create("", nil)
		create(models.CodeConflict, nil)
	})
}
