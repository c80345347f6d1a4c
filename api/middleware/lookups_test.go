package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"lottery/api/middleware"
	"lottery/api/problem"
	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Many new keys, mixed with unknown ones, are requested at once: each gets its own answer. Then
// all their accounts change.
func TestManyKeysAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		keys, err := middleware.NewKeys(ctx, st, models.DefaultPlans(), time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		const n = 450
		made := make([]store.Key, n)
		for i := range made {
			if made[i], err = st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: fmt.Sprintf("a%d@example.com", i), Create: true}); err != nil {
				t.Fatal(err)
			}
		}
		all := func(check func(i int, p *middleware.Principal, err error)) {
			var wg sync.WaitGroup
			for i := range made {
				wg.Go(func() {
					p, err := keys.Authenticate(context.Background(), made[i].Secret)
					check(i, p, err)
				})
				wg.Go(func() {
					_, err := keys.Authenticate(context.Background(), secret.NewKey())
					if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != problem.InvalidAPIKey {
						t.Errorf("a key that was never made: %v", err)
					}
				})
			}
			wg.Wait()
		}
		all(func(i int, p *middleware.Principal, err error) {
			if err != nil || p.AccountID != made[i].AccountID || p.KeyID != made[i].ID {
				t.Errorf("key %d of account %s: %+v, %v", i, made[i].AccountID, p, err)
			}
		})
		for i := range made {
			if i%2 == 0 {
				if _, err := st.RevokeKey(ctx, made[i].ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		go keys.Run(ctx)
		for i := range made {
			if i%2 == 0 {
				storetest.Until(t, "a revocation", func() bool { return code(t, keys, made[i].Secret) == problem.RevokedAPIKey })
			}
		}
		all(func(i int, _ *middleware.Principal, err error) {
			if revoked := err != nil; revoked != (i%2 == 0) {
				t.Errorf("key %d after every other one was revoked: %v", i, err)
			}
		})
	})
}

// silent returns a node whose database hangs until answer is called, and a key that the node has not seen yet.
func silent(t *testing.T) (keys *middleware.Keys, made store.Key, answer func()) {
	t.Helper()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	made = storetest.Key(t, st, "a@example.com")
	return node(t, st, &clock{at: time.Now()}), made, storetest.Lock(t, url, "api_keys")
}

// A database that hangs: requests that need it get an answer in time, their keys are not read later, and
// everything works again afterwards.
func TestLookUpsOfADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	keys, made, answer := silent(t)
	var wg sync.WaitGroup
	for range 1000 { // more than two queries ask for
		wg.Go(func() {
			if got := code(t, keys, made.Secret); got != problem.Unavailable {
				t.Errorf("while the database hangs: %q", got)
			}
		})
	}
	wg.Wait()
	if n := keys.Waiting(); n > 0 {
		t.Errorf("%d look-ups are to be read that nobody waits for", n)
	}
	answer()
	storetest.Until(t, "the database's return", func() bool { return code(t, keys, made.Secret) == "" })
}

// While a database hangs, one request waits to see whether it is back. The others are refused at once, without a log
// line each: they would take the places of requests with known keys.
func TestLookUpsDoNotWaitInVain(t *testing.T) {
	t.Parallel()
	keys, made, answer := silent(t)
	if got := code(t, keys, made.Secret); got != problem.Unavailable {
		t.Fatalf("while the database hangs: %q", got)
	}
	time.Sleep(200 * time.Millisecond) // until a new attempt is allowed
	const strangers = 50
	told := make(chan error, strangers)
	for range strangers {
		go func() {
			_, err := keys.Authenticate(context.Background(), secret.NewKey())
			told <- err
		}()
	}
	late := time.After(time.Second)
	for i := range strangers - 1 {
		select {
		case err := <-told:
			if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != problem.Unavailable || !p.Logged {
				t.Errorf("while the database hangs: %+v", err)
			}
		case <-late:
			t.Fatalf("%d of %d wait", strangers-i, strangers)
		}
	}
	answer()
	storetest.Until(t, "the database's return", func() bool { return code(t, keys, made.Secret) == "" })
}

// Last uses that cannot be written because the row of a key is locked do not delay account changes.
func TestChangesAreSeenWhileLastUsesHang(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	var made []store.Key
	for _, account := range []string{"a@example.com", "b@example.com"} {
		k := storetest.Key(t, st, account)
		made = append(made, k)
	}
	storetest.Hold(t, url, "SELECT 1 FROM api_keys WHERE id = '"+made[0].ID+"' FOR UPDATE")
	keys := node(t, st, &clock{at: time.Now()})
	for _, k := range made {
		if got := code(t, keys, k.Secret); got != "" {
			t.Fatal(got)
		}
	}
	storetest.UntilBlocked(t, storetest.SQL(t, url), 1)
	if _, err := st.RevokeKey(ctx, made[1].ID); err != nil {
		t.Fatal(err)
	}
	storetest.Until(t, "a revocation", func() bool { return code(t, keys, made[1].Secret) == problem.RevokedAPIKey })
}
