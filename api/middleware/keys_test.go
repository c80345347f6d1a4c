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

func TestMain(m *testing.M) { storetest.Main(m) }

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// node returns the keys of one node, refreshing in the background.
func node(t *testing.T, st *store.Store, c *clock) *middleware.Keys {
	t.Helper()
	keys, err := middleware.NewKeys(context.Background(), st, models.DefaultPlans(), c.now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run(t, keys)
	return keys
}

func run(t *testing.T, keys *middleware.Keys) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { keys.Run(ctx) })
	t.Cleanup(func() { cancel(); done.Wait() })
}

// code is the problem that Authenticate returns: "" for a good key.
func code(t *testing.T, k *middleware.Keys, key string) problem.Code {
	t.Helper()
	_, err := k.Authenticate(context.Background(), key)
	if err == nil {
		return ""
	}
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok {
		t.Fatalf("not a problem: %v", err)
	}
	return p.Code
}

// A change made by this process is seen without polling the database: somebody who has just paid tries at once.
func TestOwnChangesAreSeenAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		keys, err := middleware.NewKeys(ctx, st, models.DefaultPlans(), time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		keys.AskEvery(time.Hour)
		run(t, keys)
		k := storetest.Key(t, st, "a@example.com")
		if got := code(t, keys, k.Secret); got != "" {
			t.Fatalf("a new key: %q", got)
		}
		for limit := range 3 {
			if _, err := st.OverrideLimit(ctx, "a@example.com", &limit); err != nil {
				t.Fatal(err)
			}
			storetest.Until(t, "the new limit", func() bool {
				p, err := keys.Authenticate(ctx, k.Secret)
				return err == nil && p.DailyLimit == limit
			})
		}
	})
}

func TestChangesByOthersAreSeen(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := &clock{at: time.Now()}
		keys := node(t, storetest.OpenURL(t, url, store.Options{}), c)
		st := storetest.OpenURL(t, url, store.Options{})
		if got := code(t, keys, secret.NewKey()); got != problem.InvalidAPIKey {
			t.Fatalf("an unknown key: %q", got)
		}
		first := storetest.Key(t, st, "a@example.com")
		if got := code(t, keys, first.Secret); got != "" {
			t.Fatalf("a new key: %q", got)
		}

		if _, err := st.SetAccountStatus(ctx, "a@example.com", models.AccountSuspended); err != nil {
			t.Fatal(err)
		}
		storetest.Until(t, "the suspension", func() bool { return code(t, keys, first.Secret) == problem.AccountSuspended })
		if _, err := st.SetAccountStatus(ctx, "a@example.com", models.AccountActive); err != nil {
			t.Fatal(err)
		}
		storetest.Until(t, "the resumption", func() bool { return code(t, keys, first.Secret) == "" })

		limit := 7
		if _, err := st.OverrideLimit(ctx, "a@example.com", &limit); err != nil {
			t.Fatal(err)
		}
		storetest.Until(t, "the new limit", func() bool {
			p, err := keys.Authenticate(ctx, first.Secret)
			return err == nil && p.DailyLimit == 7
		})

		second, _, err := st.RotateKey(ctx, first.ID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got := code(t, keys, second.Secret); got != "" {
			t.Fatalf("the key that replaced: %q", got)
		}
		if got := code(t, keys, first.Secret); got != "" {
			t.Fatalf("the key in its grace period: %q", got)
		}
		storetest.Until(t, "the end of the grace period", func() bool {
			c.move(2 * time.Hour)
			return code(t, keys, first.Secret) == problem.RevokedAPIKey
		})

		if _, err := st.RevokeKey(ctx, second.ID); err != nil {
			t.Fatal(err)
		}
		storetest.Until(t, "the revocation", func() bool { return code(t, keys, second.Secret) == problem.RevokedAPIKey })
	})
}

func TestKeysOfADeletedAccountAreRevoked(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st := storetest.Open(t)
	keys := node(t, st, &clock{at: time.Now()})
	k := storetest.Key(t, st, "a@example.com")
	if got := code(t, keys, k.Secret); got != "" {
		t.Fatal(got)
	}
	if _, err := st.DeleteAccount(ctx, "a@example.com"); err != nil {
		t.Fatal(err)
	}
	storetest.Until(t, "the deletion", func() bool { return code(t, keys, k.Secret) == problem.RevokedAPIKey })
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	c := &clock{at: time.Now()}
	keys := node(t, st, c)
	until := c.now().Add(time.Hour)
	k, err := st.CreateKey(context.Background(), models.DefaultPlans(), store.NewKey{Account: "a@example.com", Create: true, ExpiresAt: &until})
	if err != nil {
		t.Fatal(err)
	}
	if got := code(t, keys, k.Secret); got != "" {
		t.Fatal(got)
	}
	c.move(time.Hour)
	if got := code(t, keys, k.Secret); got != problem.ExpiredAPIKey {
		t.Fatal(got)
	}
}

// idleKeys returns keys on which Run is not running, and their clock.
func idleKeys(t *testing.T) (*store.Store, *middleware.Keys, *clock) {
	t.Helper()
	st := storetest.Open(t)
	c := &clock{at: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	keys, err := middleware.NewKeys(t.Context(), st, models.DefaultPlans(), c.now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return st, keys, c
}

func TestLastUseIsWrittenToTheMinute(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st, keys, c := idleKeys(t)
	k := storetest.Key(t, st, "a@example.com")
	lastUsed := func() string {
		stored, err := st.Keys(ctx, k.AccountID)
		if err != nil {
			t.Fatal(err)
		}
		if stored[0].LastUsedAt == nil {
			return ""
		}
		return stored[0].LastUsedAt.UTC().Format(time.RFC3339)
	}
	for _, step := range []struct {
		move time.Duration
		want string
	}{{0, "2026-03-04T05:06:00Z"}, {30 * time.Second, "2026-03-04T05:06:00Z"}, {30 * time.Second, "2026-03-04T05:07:00Z"}} {
		c.move(step.move)
		if got := code(t, keys, k.Secret); got != "" {
			t.Fatal(got)
		}
		keys.Flush(ctx)
		if got := lastUsed(); got != step.want {
			t.Errorf("last used %q, want %q", got, step.want)
		}
	}

	// A refused request is no use of a key, but its principal is known all the same.
	if _, err := st.SetAccountStatus(ctx, k.AccountID, models.AccountSuspended); err != nil {
		t.Fatal(err)
	}
	c.move(time.Hour)
	later, err := middleware.NewKeys(ctx, st, models.DefaultPlans(), c.now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p, err := later.Authenticate(ctx, k.Secret)
	if err == nil || p == nil || p.AccountID != k.AccountID || p.KeyID != k.ID || p.KeyPrefix != k.Prefix {
		t.Errorf("%+v, %v", p, err)
	}
	later.Flush(ctx)
	if got := lastUsed(); got != "2026-03-04T05:07:00Z" {
		t.Errorf("a refused request made the last use %q", got)
	}
}

// More keys than one query writes, used in two different minutes, while Run is running.
func TestLastUsesOfManyKeys(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, keys, c := idleKeys(t)
	want := map[string]time.Time{} // by account
	for i := range 450 {
		k, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: fmt.Sprintf("a%d@example.com", i), Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if i == 225 {
			c.move(time.Minute)
		}
		if got := code(t, keys, k.Secret); got != "" {
			t.Fatal(got)
		}
		want[k.AccountID] = c.now().Truncate(time.Minute)
	}
	go keys.Run(ctx)
	for account, at := range want {
		storetest.Until(t, "the last use of a key", func() bool {
			stored, err := st.Keys(ctx, account)
			if err != nil {
				t.Fatal(err)
			}
			return stored[0].LastUsedAt != nil && stored[0].LastUsedAt.Equal(at)
		})
	}
}

// A key revoked while a node looks it up for the first time is refused once the change has been processed: tested
// repeatedly, at different moments of a busy lookup.
func TestKeysRevokedWhileLookedUp(t *testing.T) {
	t.Parallel()
	const accounts, each = 60, 10
	st, ctx := storetest.Open(t), t.Context()
	keys := make([][]string, accounts)
	for a := range keys {
		for i := range each {
			k, err := st.CreateKey(ctx, models.DefaultPlans(), store.NewKey{Account: fmt.Sprintf("a%d@example.com", a), Create: i == 0, Grant: new(models.PlanPro)})
			if err != nil {
				t.Fatal(err)
			}
			keys[a] = append(keys[a], k.Secret)
		}
	}
	for round := range accounts {
		node, err := middleware.NewKeys(ctx, st, models.DefaultPlans(), time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		mine, victim := keys[round][:each-1], keys[round][each-1]
		for _, key := range mine { // so that there is something to reload
			if got := code(t, node, key); got != "" {
				t.Fatal(got)
			}
		}
		polling, stop := context.WithCancel(ctx)
		var polls, others sync.WaitGroup
		polls.Go(func() {
			for polling.Err() == nil {
				_, _ = node.Refresh(polling)
			}
		})
		for a := range keys {
			if a != round {
				for _, key := range keys[a] {
					others.Go(func() { _, _ = node.Authenticate(ctx, key) })
				}
			}
		}
		others.Go(func() { _, _ = node.Authenticate(ctx, victim) })
		others.Go(func() {
			time.Sleep(time.Duration(2000+round*150) * time.Microsecond) // somewhere during the lookups
			if _, err := st.RevokeKey(ctx, victim); err != nil {
				t.Error(err)
			}
		})
		others.Wait()
		stop()
		polls.Wait()
		newest, err := st.NewestAccountChange(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if seen, err := node.Refresh(ctx); err != nil || seen != newest {
			t.Fatalf("worked off %v of %v: %v", seen, newest, err)
		}
		if got := code(t, node, victim); got != problem.RevokedAPIKey {
			t.Fatalf("round %d: the revoked key has %q", round, got)
		}
	}
}
