package main

import (
	"fmt"
	"strings"
	"testing"

	"lottery/models/store/storetest"
)

const (
	// manyAccounts is how many accounts take turns in the second half of the table.
	manyAccounts = 10_000
	// manyWarm is the seconds of load before each round with many accounts: nodes return blocks while another server is
	// measured, and an account gets one again after its fifth request, which comes within two seconds.
	manyWarm = 3
)

// quota is the table of what counting costs: the metered path against the unmetered one, on each counter store, for
// one hot account and for many.
func (s *bench) quota(b *testing.B) {
	redis := storetest.NewRedis(b)
	servers := []struct {
		name, base, hot string
	}{
		{"not counted", startYardstick(b, "unmetered", s.sqlite), s.key},
		{"SQLite", s.product.base, s.key},
		{"PostgreSQL", start(b, b.TempDir(), serveArgs(s.postgres)...).base, s.keyPostgres},
		{"Redis", start(b, b.TempDir(), serveArgs(s.sqlite, "--redis-url", redis.URL())...).base, s.key},
	}
	t := newTable(fmt.Sprintf("What counting costs: ten-draw recent, %d connections, rounds in turn, medians (lowest…highest); latencies p50/p99 in ms", benchConnections),
		"accounts", "counted in", "req/s", "ms", "of not counted")
	for _, accounts := range []int{1, manyAccounts} {
		loads, rounds := make([]traffic, len(servers)), 3
		if accounts > 1 {
			rounds = 2 // each takes half a minute
		}
		for i, server := range servers {
			loads[i] = traffic{name: server.name, base: server.base, mix: turnsOf(recentPath, server.hot)}
			if accounts == 1 {
				continue
			}
			loads[i].mix = turnsOf(recentPath, s.accounts...)
			warm := loads[i]
			warm.seconds = 2
			wrk(b, warm) // every key is known before anything is measured
			if i > 0 {
				loads[i].warm = manyWarm
			}
		}
		got := measure(b, rounds, loads...)
		for i, l := range loads {
			t.add(fmt.Sprint(accounts), l.name, rate(got[i]), tails(got[i]), spread("%.2f", ratios(got[i], got[0])))
			if l.name == "Redis" {
				shows(demandRedis, median(ratios(got[i], got[0])) >= redisOfUncounted, "%.2f (%d)", median(ratios(got[i], got[0])), accounts)
			}
			b.ReportMetric(median(ratios(got[i], got[0])), strings.ReplaceAll(fmt.Sprint(accounts, "/", l.name), " ", ""))
		}
	}
	t.print()
}

// turnsOf returns one request per key.
func turnsOf(path string, keys ...string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = key + " " + path
	}
	return out
}
