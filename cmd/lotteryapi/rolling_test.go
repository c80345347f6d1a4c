package main

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// Three servers behind a balancer are stopped and started one after the other, under load: no request fails.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	key := newKey(t, url, "busy@example.com", "--plan", "pro")
	if out, code := admin(t, url, "accounts", "set-limit", "busy@example.com", "100000000"); code != 0 {
		t.Fatalf("set-limit: %s", out)
	}
	args := serveArgs(url, "--drain-delay", "1s")
	nodes := make([]*process, 3)
	bases := make([]string, len(nodes))
	for i := range nodes {
		nodes[i] = start(t, t.TempDir(), args...)
		bases[i] = nodes[i].base
	}
	f := &fleet{client: &http.Client{Timeout: 30 * time.Second}}
	b := newBalancer(t, bases...)

	var done atomic.Bool
	var served, failed atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for !done.Load() {
				res, body, err := f.send(b.base, http.MethodGet, countedPath, key, nil)
				if err != nil || res.StatusCode != http.StatusOK {
					failed.Add(1)
					t.Errorf("a request failed: %v %v %s", err, res, body)
					return
				}
				served.Add(1)
			}
		})
	}
	before := int64(0)
	for i, n := range nodes {
		storetest.Until(t, "requests to go on", func() bool { return served.Load() > before+100 || failed.Load() > 0 })
		if code := n.stop(t); code != 0 {
			t.Errorf("server %d ended with %d:\n%s", i, code, n.stderr)
		}
		before = served.Load()
		again := append([]string{}, args...)
		again[2] = strings.TrimPrefix(bases[i], "http://") // where the balancer looks for it
		nodes[i] = start(t, t.TempDir(), again...)
		storetest.Until(t, "the balancer to see it", func() bool { return b.nodes[i].ready.Load() })
	}
	done.Store(true)
	group.Wait()
	t.Logf("%d requests served, %d failed", served.Load(), failed.Load())
	// And not one was counted twice or not at all.
	storetest.Until(t, "what the servers held to come home", func() bool { return usedToday(t, url, "busy@example.com") == int(served.Load()) })
}
