package quota_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ulule/limiter/v3"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// unheard is a Redis whose answers get lost, except those to trials.
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

// A Redis that is restarted or replaced while a node does not know whether it was heard is asked, and counts again.
func TestRedisIsRestartedInDoubt(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	srv := storetest.NewRedis(t)
	l := &unheard{Redis: openRedis(t, srv)}
	n := watch(t, l, quota.Options{Volatile: true, Replaceable: true})
	n.burst(t, "acc", 10, 1, 1000)
	l.lose.Store(true)
	storetest.Until(t, "a contact with a mark, and a question for it, to be lost", func() bool { n.get(t, "acc", 1000); return l.lost.Load() >= 3 })
	srv.Stop()
	srv.Lose(t)
	srv.Start(t)
	l.lose.Store(false)
	storetest.Until(t, "recovery", func() bool { return !n.Away() })
	closeNode(t, n.Store)
	// The contact that found Redis away had no mark: what was in flight then may be counted twice.
	if got := counted(t, l, "acc"); got < n.served.Load() || got > n.served.Load()+1 {
		t.Errorf("served %d, counted %d", n.served.Load(), got)
	}
}

// A Redis that restarted between two requests with older counters is not away: the node that finds out tells it what it
// knows, asks again, and admits nothing by itself.
func TestRestartedRedisIsNotAway(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	srv := storetest.NewRedis(t)
	first, second := watch(t, openRedis(t, srv), quota.Options{Volatile: true, Replaceable: true}), watch(t, openRedis(t, srv), quota.Options{Volatile: true, Replaceable: true})
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

// A Redis that lost its counters, once or again, is told what a node knows even if that node gets no more requests, so no
// other node starts the day anew. A peek at the counter before that does not make the node forget.
func TestRedisIsToldByThoseWhoKnow(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	for name, c := range map[string]struct{ losses, looks int }{"unasked": {1, 0}, "looked at": {1, 3}, "twice": {2, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := storetest.NewRedis(t)
			knows, other := watch(t, openRedis(t, srv), quota.Options{Volatile: true, Replaceable: true}), watch(t, openRedis(t, srv), quota.Options{Volatile: true, Replaceable: true})
			const limit, accounts = 20, 100
			for i := range accounts {
				knows.burst(t, strconv.Itoa(i), limit, 4, limit)
			}
			for range c.losses {
				srv.Stop()
				srv.Lose(t)
				srv.Start(t)
				if c.looks > 0 {
					knows.burst(t, "of this one nobody knows", 1, 1, limit)
				}
				for range c.looks {
					got, err := knows.Peek(t.Context(), "0", limiter.Rate{Period: quota.Day, Limit: limit})
					if err != nil || got.Remaining != 0 {
						t.Errorf("%d of an account that has used all remain, %v", got.Remaining, err)
					}
				}
				for i, l := 0, openRedis(t, srv); i < accounts; i++ {
					key := strconv.Itoa(i)
					storetest.Until(t, "counter "+key+" to be told", func() bool { return counted(t, l, key) == limit })
				}
			}
			for i := range accounts {
				if got := other.burst(t, strconv.Itoa(i), 5, 1, limit); got != 0 {
					t.Errorf("served %d beyond the limit", got)
				}
			}
			closeNode(t, knows.Store)
			closeNode(t, other.Store)
		})
	}
}

// A node that is stopped tells a Redis what it knows and that has lost it, even if nothing was asked of it since, or if
// Redis returns only while the node waits to tell it what it served meanwhile.
func TestClosingNodeTellsWhatItKnows(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	for name, away := range map[string]bool{"at once": false, "after an outage": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := storetest.NewRedis(t)
			n := watch(t, openRedis(t, srv), quota.Options{Volatile: true, Replaceable: true})
			const accounts = 30
			for i := range accounts {
				n.burst(t, strconv.Itoa(i), 10, 1, 100)
			}
			srv.Stop()
			srv.Lose(t)
			var closed sync.WaitGroup
			if away {
				n.burst(t, "0", 5, 1, 100)
				closed.Go(func() { closeNode(t, n.Store) })
				time.Sleep(500 * time.Millisecond)
			}
			srv.Start(t)
			if !away {
				closeNode(t, n.Store)
			}
			closed.Wait()
			l := openRedis(t, srv)
			for i := range accounts {
				want := int64(10)
				if away && i == 0 {
					want = 15
				}
				if got := counted(t, l, strconv.Itoa(i)); got != want {
					t.Errorf("account %d: %d are counted, want %d", i, got, want)
				}
			}
		})
	}
}
