package quota_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ulule/limiter/v3"

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

// What one node knows, a Redis that has forgotten is told by it although nobody asks there again, and no other node begins
// the day anew. A look at the counter before that makes the node that knows forget nothing.
func TestRedisIsToldByThoseWhoKnow(t *testing.T) {
	t.Parallel()
	waitForMidnight(t)
	for name, looks := range map[string]int{"unasked": 0, "looked at": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := storetest.NewRedis(t)
			knows, other := watch(t, openRedis(t, srv), quota.Options{Volatile: true}), watch(t, openRedis(t, srv), quota.Options{Volatile: true})
			const limit, accounts = 20, 100
			for i := range accounts {
				knows.burst(t, strconv.Itoa(i), limit, 4, limit)
			}
			srv.Stop()
			srv.Lose(t)
			srv.Start(t)
			if looks > 0 {
				knows.burst(t, "of this one nobody knows", 1, 1, limit)
			}
			for range looks {
				got, err := knows.Peek(t.Context(), "0", limiter.Rate{Period: quota.Day, Limit: limit})
				if err != nil || got.Remaining != 0 {
					t.Errorf("%d of an account that has used all remain, %v", got.Remaining, err)
				}
			}
			l := openRedis(t, srv)
			for i := range accounts {
				key := strconv.Itoa(i)
				storetest.Until(t, "counter "+key+" to be told", func() bool { return counted(t, l, key) == limit })
				if got := other.burst(t, key, 5, 1, limit); got != 0 {
					t.Errorf("served %d beyond the limit", got)
				}
			}
			closeNode(t, knows.Store)
			closeNode(t, other.Store)
		})
	}
}
