package quota_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// unheard is a Redis whose answers are lost, but for those to trials.
type unheard struct {
	*quota.Redis
	lose atomic.Bool
	lost atomic.Int64
}

func (u *unheard) ApplyQuota(ctx context.Context, ops []store.QuotaOp) ([]store.QuotaResult, time.Time, error) {
	r, now, err := u.Redis.ApplyQuota(ctx, ops)
	if u.lose.Load() && err == nil {
		u.lost.Add(1)
		return nil, time.Time{}, fmt.Errorf("the answer is lost: %w", store.ErrQuotaUnclear)
	}
	return r, now, err
}

// A Redis that was started anew, or whose place another took, while a node did not know whether it had been heard is asked,
// and counts again.
func TestRedisIsRestartedInDoubt(t *testing.T) {
	t.Parallel()
	waitForMidnight(t)
	srv := storetest.NewRedis(t)
	l := &unheard{Redis: openRedis(t, srv)}
	n := watch(t, l, quota.Options{Volatile: true})
	n.burst(t, "acc", 10, 1, 1000)
	l.lose.Store(true)
	storetest.Until(t, "a contact with a mark, and a question for it, to be lost", func() bool { n.get(t, "acc", 1000); return l.lost.Load() >= 3 })
	srv.Stop()
	srv.Lose(t)
	srv.Start(t)
	l.lose.Store(false)
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	closeNode(t, n.Store)
	// The contact by which it was found to be away had no mark: what was in flight then may be counted twice.
	if got := counted(t, l, "acc"); got < n.served.Load() || got > n.served.Load()+1 {
		t.Errorf("served %d, counted %d", n.served.Load(), got)
	}
}

// A Redis that was started anew between two requests, with counters of a while ago, is there: whoever finds that out tells
// it what it knows and asks again, and admits nothing by itself.
func TestRestartedRedisIsNotAway(t *testing.T) {
	t.Parallel()
	waitForMidnight(t)
	srv := storetest.NewRedis(t)
	first, second := watch(t, openRedis(t, srv), quota.Options{Volatile: true}), watch(t, openRedis(t, srv), quota.Options{Volatile: true})
	served := first.burst(t, "acc", 50, 1, 100) + second.burst(t, "acc", 20, 1, 100)
	srv.Stop()
	srv.Lose(t)
	srv.Start(t)
	for _, n := range []*watched{second, first} {
		served += n.burst(t, "acc", 100, 1, 100)
		if n.Away() || n.away(t) != 0 {
			t.Error("it is taken for one that is away")
		}
		closeNode(t, n.Store)
	}
	if served != 100 {
		t.Errorf("served %d of 100", served)
	}
}
