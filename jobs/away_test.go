package jobs_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lottery/jobs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A node that loses the database stops its job before another node may start it; once the database is back, one does.
func TestDatabaseAway(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a lock that cannot be kept")
	}
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	url := server.NewDatabase(t)
	node := func(name string) *jobs.Runner {
		return &jobs.Runner{Store: storetest.OpenURL(t, url, store.Options{}), Node: name, Log: quietly}
	}
	a, b := node("a"), node("b")
	begun := make(chan struct{})
	j := jobs.Job{Name: "long", When: yearly, Limit: time.Hour, Run: func(ctx context.Context) (string, error) {
		close(begun)
		<-ctx.Done()
		return "", ctx.Err()
	}}
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { _, err = a.RunDue(t.Context(), &j) })
	<-begun
	server.Stop()
	wg.Wait() // it ends by itself, or the test does at its time limit
	if err == nil || !strings.Contains(err.Error(), "its lock could not be kept") {
		t.Errorf("it ended with %v", err)
	}
	server.Start(t)
	heir := j
	heir.Run = func(context.Context) (string, error) { return "done", nil }
	deadline := time.Now().Add(2 * time.Minute)
	for {
		ran, err := b.RunDue(t.Context(), &heir)
		if ran && err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody took over: %v", err)
		}
		time.Sleep(100 * time.Millisecond) // the lock ends by the database's clock
	}
	if got := lastRun(t, a, "long"); got.Node != "b" || got.FinishedAt == nil || got.Failed {
		t.Errorf("%+v", got)
	}
	if _, err := a.RunByHand(t.Context(), &heir); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the node that had lost it: %v", err)
	}
}

// stopping returns a publisher at which the sync is told to stop.
func stopping(stop func()) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done()
	}
}

// A sync that is told to stop does not blame a feed for it.
func TestStoppedSync(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, stop := context.WithCancel(t.Context())
	b.virginia4()
	b.answer(va3, stopping(stop))
	if _, err := b.sync.Run(ctx, jobs.SyncOptions{Feed: models.FeedVirginia}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	sources, err := b.store.FeedSources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range sources {
		if strings.HasSuffix(src.Address, va3) && src.Error != "" {
			t.Errorf("blamed: %q", src.Error)
		}
	}
}

// A database that neither answers nor refuses blocks neither the search for due jobs nor a shutdown.
func TestDatabaseHangs(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{Patience: 200 * time.Millisecond})
	j := jobs.Job{Name: "any", When: yearly, Limit: time.Hour, Run: func(context.Context) (string, error) { return "done", nil }}
	for _, table := range []string{"leases", "job_runs"} {
		answer := storetest.Lock(t, url, table)
		storetest.Soon(t, "to begin a job, without "+table, func() {
			if ran, err := (&jobs.Runner{Store: st, Node: "a", Log: quietly}).RunDue(t.Context(), &j); ran || models.ErrorCode(err) != models.CodeUnavailable {
				t.Errorf("%s: ran %v, %v", table, ran, err)
			}
		})
		answer()
	}
	b := newBench(t)
	b.sync.Store = st
	b.virginia4()
	ctx, stop := context.WithCancel(t.Context())
	b.answer(va3, stopping(func() {
		storetest.Lock(t, url, "feed_sources")
		stop()
	}))
	storetest.Soon(t, "to stop a sync", func() {
		if _, err := b.sync.Run(ctx, jobs.SyncOptions{Feed: models.FeedVirginia}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}
