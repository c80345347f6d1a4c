package middleware_test

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/api/middleware"
	"lottery/api/problem"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// While the database is away, known keys keep working and an unknown one gets 503, not 401; when the database is
// back, changes are seen again. The log says when that begins and when it ends, not at every poll.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	st := storetest.OpenURL(t, server.NewDatabase(t), store.Options{})
	ctx := context.Background()
	plans := models.DefaultPlans()
	var log lines
	keys, err := middleware.NewKeys(ctx, st, plans, time.Now, log.logger())
	if err != nil {
		t.Fatal(err)
	}
	keys.AskEvery(5 * time.Millisecond)
	running, stop := context.WithCancel(ctx)
	defer stop()
	var run sync.WaitGroup
	run.Go(func() { keys.Run(running) })
	seen := storetest.Key(t, st, "a@example.com")
	unseen := storetest.Key(t, st, "b@example.com")
	if got := code(t, keys, seen.Secret); got != "" {
		t.Fatal(got)
	}
	server.Stop()
	if got := code(t, keys, seen.Secret); got != "" {
		t.Errorf("a known key, database away: %q", got)
	}
	if got := code(t, keys, unseen.Secret); got != problem.Unavailable {
		t.Errorf("an unknown key, database away: %q", got)
	}
	if got := code(t, keys, "ldk_nonsense"); got != problem.InvalidAPIKey {
		t.Errorf("nonsense, database away: %q", got)
	}
	server.Start(t)
	storetest.Until(t, "the database's return", func() bool { return code(t, keys, unseen.Secret) == "" })
	if _, err := st.RevokeKey(ctx, seen.ID); err != nil {
		t.Fatal(err)
	}
	storetest.Until(t, "a revocation after its return", func() bool { return code(t, keys, seen.Secret) == problem.RevokedAPIKey })
	stop()
	run.Wait()
	told := log.read(t)
	if len(told) != 2 || told[0]["msg"] != "account changes cannot be read; known keys go on working" || told[1]["msg"] != "account changes can be read again" {
		t.Errorf("%v", told)
	}
}

// If the database under a node loses its last few changes, as when a standby without them takes over, keys revoked
// after that are refused, however many changes were lost and made since; so are keys that were lost.
func TestDatabaseIsPutBack(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]struct{ lost, since int }{"as many": {1, 1}, "fewer": {3, 1}, "more": {1, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, address := t.Context(), storetest.NewPostgres(t)
			create := func(st *store.Store, account string) store.Key {
				t.Helper()
				k := storetest.Key(t, st, account)
				return k
			}
			before := storetest.OpenURL(t, address, store.Options{})
			revoked, stays := create(before, "revoked@example.com"), create(before, "stays@example.com")
			if _, err := before.GrantPlan(ctx, stays.AccountID, new(models.PlanPro)); err != nil { // it may have more keys
				t.Fatal(err)
			}
			if err := before.Close(); err != nil {
				t.Fatal(err)
			}
			putBack := copied(t, address)
			st := storetest.OpenURL(t, address, store.Options{})
			var log lines
			n, err := middleware.NewKeys(ctx, st, models.DefaultPlans(), time.Now, log.logger())
			if err != nil {
				t.Fatal(err)
			}
			var lost store.Key
			for i := range changes.lost {
				lost = create(st, strings.Repeat("l", i+1)+"@example.com")
			}
			first, last := create(st, "stays@example.com"), create(st, "stays@example.com")
			if _, err := n.Refresh(ctx); err != nil {
				t.Fatal(err)
			}
			for _, k := range []store.Key{revoked, first, stays, last, lost} {
				if got := code(t, n, k.Secret); got != "" {
					t.Fatal(got)
				}
			}

			putBack()
			after := storetest.OpenURL(t, address, store.Options{})
			if _, err := after.RevokeKey(ctx, revoked.ID); err != nil {
				t.Fatal(err)
			}
			for i := 1; i < changes.since; i++ {
				create(after, strings.Repeat("s", i)+"@example.com")
			}
			storetest.Until(t, "the database to be read", func() bool { _, err := n.Refresh(ctx); return err == nil })
			for what, want := range map[string]problem.Code{revoked.Secret: problem.RevokedAPIKey, stays.Secret: "", lost.Secret: problem.InvalidAPIKey} {
				if got := code(t, n, what); got != want {
					t.Errorf("a key has %q, want %q", got, want)
				}
			}
			if of, none := n.KnownOf(stays.AccountID), n.KnownOf(lost.AccountID); of != 1 || none != 0 {
				t.Errorf("%d keys of an account are known, and %d of a lost one", of, none)
			}
			if told := log.read(t); len(told) != 1 || told[0]["msg"] != "the database was put back to an earlier state: all known keys are read anew" {
				t.Errorf("the log: %v", told)
			}
		})
	}
}

// copied copies a PostgreSQL database that nobody uses. putBack puts the copy in its place.
func copied(t *testing.T, address string) (putBack func()) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres"
	storetest.Exec(t, u.String(), "CREATE DATABASE "+name+"_copy TEMPLATE "+name)
	return func() {
		storetest.Exec(t, u.String(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'",
			"ALTER DATABASE "+name+" RENAME TO "+name+"_gone", "ALTER DATABASE "+name+"_copy RENAME TO "+name)
	}
}
