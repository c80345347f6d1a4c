package quota_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ulule/limiter/v3"
	suite "github.com/ulule/limiter/v3/drivers/store/tests"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// backends runs test on each backend; advance says whether blocks are taken in advance on it.
func backends(t *testing.T, test func(t *testing.T, l quota.Backend, advance bool)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, st *store.Store) { test(t, st, true) })
	t.Run("redis", func(t *testing.T) {
		r, err := quota.OpenRedis(storetest.NewRedis(t).URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		test(t, r, false)
	})
}

func newStore(t *testing.T, l quota.Backend, advance bool) *quota.Store {
	t.Helper()
	s := quota.New(l, quota.Options{Advance: advance, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// The limiter library's own suite. Its windows are a minute and ten seconds, so the test avoids the end of a minute.
func TestLibrarySuite(t *testing.T) {
	t.Parallel()
	backends(t, func(t *testing.T, l quota.Backend, advance bool) {
		waitForMinute(t)
		suite.TestStoreSequentialAccess(t, newStore(t, l, advance))
		suite.TestStoreConcurrentAccess(t, newStore(t, l, advance))
	})
}

// waitForMinute avoids the end of a minute, when the suite's counters would restart.
func waitForMinute(t *testing.T) {
	t.Helper()
	if left := 60 - time.Now().Unix()%60; left < 10 {
		time.Sleep(time.Duration(left) * time.Second)
	}
}

// nodes returns n stores on one backend, like n processes.
func nodes(t *testing.T, n int, l quota.Backend, advance bool) []*quota.Store {
	t.Helper()
	list := make([]*quota.Store, n)
	for i := range list {
		list[i] = newStore(t, l, advance)
	}
	return list
}

// ask sends requests concurrently, round robin, and returns how many were served.
func ask(t *testing.T, nodes []*quota.Store, key string, requests, concurrent int, limit int64) int64 {
	t.Helper()
	var served, next atomic.Int64
	var group sync.WaitGroup
	for range concurrent {
		group.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(requests) {
					return
				}
				c, err := nodes[i%int64(len(nodes))].Get(context.Background(), key, limiter.Rate{Period: quota.Day, Limit: limit})
				if err != nil {
					t.Error(err)
				}
				if !c.Reached {
					served.Add(1)
				}
			}
		})
	}
	group.Wait()
	return served.Load()
}

func TestSmallLimitIsExactAtEveryMoment(t *testing.T) {
	t.Parallel()
	backends(t, func(t *testing.T, l quota.Backend, advance bool) {
		three := nodes(t, 3, l, advance)
		if got := ask(t, three, "free", 1000, 1000, 100); got != 100 {
			t.Errorf("served %d of 1000, want 100", got)
		}
		if got := ask(t, three, "free", 50, 10, 100); got != 0 {
			t.Errorf("served %d more", got)
		}
		// An upgrade within the day: refused requests were not counted.
		if got := ask(t, three, "free", 100, 10, 150); got != 50 {
			t.Errorf("after an upgrade: served %d, want 50", got)
		}
		// A downgrade.
		if got := ask(t, three, "free", 100, 10, 100); got != 0 {
			t.Errorf("after a downgrade: served %d, want 0", got)
		}
	})
}

func TestLargeLimitIsExactOnceBlocksAreHome(t *testing.T) {
	t.Parallel()
	backends(t, func(t *testing.T, l quota.Backend, advance bool) {
		three := nodes(t, 3, l, advance)
		served := ask(t, three, "pro", 10_500, 64, 10_000)
		if served > 10_000 {
			t.Fatalf("served %d of a limit of 10,000", served)
		}
		if !advance && served != 10_000 {
			t.Errorf("without blocks ahead: served %d, want 10,000", served)
		}
		t.Logf("served %d at once", served)
		deadline := time.Now().Add(20 * time.Second)
		for served < 10_000 && time.Now().Before(deadline) {
			time.Sleep(100 * time.Millisecond) // idle blocks are given back by the nodes' own clocks
			served += ask(t, three, "pro", 100, 8, 10_000)
		}
		served += ask(t, three, "pro", 500, 8, 10_000)
		if served != 10_000 {
			t.Errorf("served %d, want 10,000", served)
		}
	})
}

// Used and remaining add up to the limit, even while requests are being counted.
func TestUsedAndRemainingAreOfOneMoment(t *testing.T) {
	t.Parallel()
	backends(t, func(t *testing.T, l quota.Backend, advance bool) {
		const limit = 100_000_000
		s := newStore(t, l, advance)
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		defer clients.Wait()
		defer cancel()
		for range 4 {
			clients.Go(func() {
				for ctx.Err() == nil {
					if _, err := s.Get(ctx, "acc", limiter.Rate{Period: quota.Day, Limit: limit}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range 500 {
			used, remaining, _, err := s.Used(ctx, "acc", limit)
			if err != nil || used+remaining != limit {
				t.Fatalf("%d used and %d left of %d: %v", used, remaining, limit, err)
			}
		}
	})
}
