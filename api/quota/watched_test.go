package quota_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/ulule/limiter/v3"

	"lottery/api/quota"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// server is a backend's server that can be stopped and started.
type server interface {
	Stop()
	Start(t testing.TB)
}

// servers runs test on each backend that has a server, giving it a server of its own.
func servers(t *testing.T, test func(t *testing.T, srv server, l quota.Backend, advance bool)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		srv := storetest.NewPostgresServer(t)
		test(t, srv, storetest.OpenURL(t, srv.NewDatabase(t), store.Options{}), true)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		srv := storetest.NewRedis(t)
		test(t, srv, openRedis(t, srv), false)
	})
}

func openRedis(t *testing.T, srv *storetest.Redis) *quota.Redis {
	t.Helper()
	r, err := quota.OpenRedis(srv.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// watched is a node whose log and metrics a test can read.
type watched struct {
	*quota.Store
	log     *storetest.Buffer
	metrics *prometheus.Registry
	served  atomic.Int64
	slowest atomic.Int64 // nanoseconds
}

func watch(t *testing.T, l quota.Backend, opts quota.Options) *watched {
	t.Helper()
	w := &watched{log: &storetest.Buffer{}, metrics: prometheus.NewRegistry()}
	opts.Log, opts.Metrics = slog.New(slog.NewTextHandler(w.log, nil)), quota.NewMetrics()
	opts.Metrics.Register(w.metrics)
	w.Store = quota.New(l, opts)
	return w
}

func (w *watched) away(t *testing.T) float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "lottery_quota_store_away" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("there is no metric lottery_quota_store_away")
	return 0
}

// decisions returns the number of requests by decision, from the metrics.
func (w *watched) decisions(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "lottery_quota_decisions_total" {
				got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return got
}

// get sends one request and records how long it took.
func (w *watched) get(t *testing.T, key string, limit int64) bool {
	began := time.Now()
	c, err := w.Get(context.Background(), key, limiter.Rate{Period: quota.Day, Limit: limit})
	if err != nil {
		t.Error(err)
	}
	took := int64(time.Since(began))
	for old := w.slowest.Load(); took > old && !w.slowest.CompareAndSwap(old, took); old = w.slowest.Load() {
	}
	if !c.Reached {
		w.served.Add(1)
	}
	return !c.Reached
}

// burst sends n requests concurrently and returns how many were served.
func (w *watched) burst(t *testing.T, key string, n, concurrent int, limit int64) int64 {
	var served, next atomic.Int64
	var group sync.WaitGroup
	for range concurrent {
		group.Go(func() {
			for next.Add(1) <= int64(n) {
				if w.get(t, key, limit) {
					served.Add(1)
				}
			}
		})
	}
	group.Wait()
	return served.Load()
}

// untilWaiting waits until so many of key's requests wait, while the backend's answer is held back.
func (w *watched) untilWaiting(t *testing.T, key string, requests int) {
	t.Helper()
	storetest.Until(t, "requests to wait for the next contact", func() bool { return w.Waiting(key) == requests })
}

// remaining waits for pending contacts and returns what the node then knows to remain.
func (w *watched) remaining(t *testing.T, key string, limit int64) int64 {
	t.Helper()
	w.Settle()
	c, err := w.Peek(context.Background(), key, limiter.Rate{Period: quota.Day, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return c.Remaining
}

// counted is the backend's count of key for today.
func counted(t *testing.T, l quota.Backend, key string) int64 {
	t.Helper()
	var used int64
	storetest.Until(t, "the backend's word", func() bool {
		r, _, err := l.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaPeek, Key: key, Period: quota.Day}})
		if err == nil {
			used = r[0].Used
		}
		return err == nil
	})
	return used
}

func closeNode(t *testing.T, n *quota.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}
