package middleware_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"lottery/api/middleware"
	"lottery/api/problem"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A node that looked up a thousand keys soon knows all others except the revoked ones, and sees changes to them.
func TestKeysAreReadAhead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const asked, others = 1_000, 700
		ctx := t.Context()
		plans := models.DefaultPlans()
		made := make([]store.Key, asked+others)
		for i := range made {
			var err error
			if made[i], err = st.CreateKey(ctx, plans, store.NewKey{Account: fmt.Sprintf("a%d@example.com", i/2), Create: true}); err != nil {
				t.Fatal(err)
			}
		}
		revoked, suspended := made[asked], made[asked+2]
		if _, err := st.RevokeKey(ctx, revoked.ID); err != nil {
			t.Fatal(err)
		}
		keys := node(t, st, &clock{at: time.Now()})
		gone, leave := context.WithCancel(ctx)
		leave() // with a canceled context only known keys are accepted
		known := func(k store.Key) bool {
			p, err := keys.Authenticate(gone, k.Secret)
			return err == nil && p.KeyID == k.ID && p.AccountID == k.AccountID
		}
		for _, k := range made[:asked-1] {
			if got := code(t, keys, k.Secret); got != "" {
				t.Fatal(got)
			}
		}
		if known(made[asked+1]) {
			t.Error("keys were read that nobody wanted")
		}
		if got := code(t, keys, made[asked-1].Secret); got != "" {
			t.Fatal(got)
		}
		for _, k := range made[asked+1:] {
			storetest.Until(t, "key "+k.ID, func() bool { return known(k) })
		}
		if known(revoked) || code(t, keys, revoked.Secret) != problem.RevokedAPIKey {
			t.Error("a revoked key was read ahead, or is not said to be one")
		}
		if _, err := st.SetAccountStatus(ctx, suspended.AccountID, models.AccountSuspended); err != nil {
			t.Fatal(err)
		}
		storetest.Until(t, "the suspension", func() bool { return code(t, keys, suspended.Secret) == problem.AccountSuspended })
	})
}

// Keys revoked while they are read ahead are refused once the changes have been processed, at whatever moment
// of the reading that was.
func TestKeysRevokedWhileReadAhead(t *testing.T) {
	t.Parallel()
	const rounds, each = 4, 150
	st, ctx := storetest.Open(t), t.Context()
	made := make([]store.Key, rounds*each)
	for i := range made {
		var err error
		if made[i], err = st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: fmt.Sprintf("a%d@example.com", i), Create: true}); err != nil {
			t.Fatal(err)
		}
	}
	for revoked := range slices.Chunk(made, each) {
		node, err := middleware.NewKeys(ctx, st, models.DefaultPlans(), time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		going, stop := context.WithCancel(ctx)
		var group sync.WaitGroup
		for _, again := range []func() error{
			func() error { _, err := node.Refresh(ctx); return err },
			func() error { return node.ReadAhead(ctx) },
		} {
			group.Go(func() {
				for going.Err() == nil {
					if err := again(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for _, k := range revoked {
			if _, err := st.RevokeKey(ctx, k.ID); err != nil {
				t.Error(err)
			}
		}
		stop()
		group.Wait()
		if _, err := node.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		for _, k := range revoked {
			if got := code(t, node, k.Secret); got != problem.RevokedAPIKey {
				t.Fatalf("the revoked key %s has %q", k.ID, got)
			}
		}
	}
}
