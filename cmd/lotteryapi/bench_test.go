package main

import (
	"bytes"
	"cmp"
	"fmt"
	"testing"

	"lottery/models/store/storetest"
)

// bench is what the tables about one data set share: both databases, filled, and the product on SQLite.
type bench struct {
	sqlite, postgres       string // database addresses
	key, keyPostgres       string // that do not run out
	accounts, accountsPost []string
	product                *process
}

// BenchmarkSpeed measures the product against the yardsticks of the contract, on 320,000 draws. `make bench` runs it;
// the tables go to standard output.
func BenchmarkSpeed(b *testing.B) {
	needWrk(b)
	s := &bench{sqlite: storetest.URL(b), postgres: storetest.NewPostgres(b)}
	s.key, _ = fill(b, s.sqlite, benchGames...)
	s.keyPostgres, _ = fill(b, s.postgres, benchGames...)
	s.accounts, s.accountsPost = fillAccounts(b, s.sqlite, manyAccounts), fillAccounts(b, s.postgres, manyAccounts)
	inBench(b, s.sqlite, fillSQL)
	inBench(b, s.postgres, fillSQL)
	s.product = startOps(b, s.sqlite)
	b.Run("Endpoints", s.endpoints)
	b.Run("Connections", s.connections)
	b.Run("Quota", s.quota)
	b.Run("Import", s.imports)
}

const recentPath = "/v1/draws/recent?game=bench-pick-4"

// endpointPaths is one request for each row of the table.
var endpointPaths = []string{
	recentPath,
	recentPath + "&count=1000",
	"/v1/games",
	"/v1/overview",
	"/v1/stats?game=bench-pick-4&from=2000-01-01&to=2019-12-31",
	"/v1/draws/date/2015-06-15",
	"/v1/draws/history?game=bench-pick-4&year=2015",
	"/v1/draws/search?number=123&limit=10",
	"/v1/draws/search?number=123&limit=1000",
	"/v1/draws/by-sum?game=bench-pick-4&sum=18&limit=10",
	"/v1/draws/by-sum?game=bench-pick-4&sum=18&limit=1000",
	"/v1/draws/by-pair?game=bench-pick-4&pair=12&limit=10",
	"/v1/draws/by-pair?game=bench-pick-4&pair=12&limit=1000",
}

// What section 10 of the contract asks for.
const (
	recentOfBare     = 0.8
	recentPerRequest = 10
	otherOfBare      = 0.6
)

// endpoints is the table of all paths.
func (s *bench) endpoints(b *testing.B) {
	var answers []captured
	for _, path := range endpointPaths {
		answers = append(answers, fetch(b, s.product.base, path, s.key, ""))
	}
	for i := range answers {
		answers[i].Coding = ""
	}
	bare := startYardstick(b, "bare", "", answers...)
	onSQLite, onPostgres := startYardstick(b, "sql", s.sqlite, answers...), startYardstick(b, "sql", s.postgres, answers...)
	for _, a := range answers {
		if !bytes.Equal(fetch(b, onSQLite, a.URI, s.key, "").Body, a.Body) || !bytes.Equal(fetch(b, onPostgres, a.URI, s.keyPostgres, "").Body, a.Body) {
			b.Fatalf("%s: the answer made by SQL is another", a.URI)
		}
	}
	t := newTable(fmt.Sprintf("Every path, metered in SQLite: %d connections, rounds of 1 s in turn, medians (lowest…highest); latencies p50/p99 in ms", benchConnections),
		"path", "KB", "product req/s", "ms", "bare req/s", "ms", "of bare", "SQL on SQLite req/s", "ms", "SQL on PostgreSQL req/s", "ms", "times SQL", "GC %", "holds")
	for i, path := range endpointPaths {
		rounds, turns, least := 1, 3, otherOfBare // a round is some turns with bare and one with SQL
		switch {
		case path == recentPath:
			rounds, least = 3, recentOfBare
		case len(answers[i].Body) < 10_000:
			turns = 2 // short answers vary less
		}
		before := s.product.spending(b)
		product, yardstick := traffic{name: "product", base: s.product.base, path: path, key: s.key}, traffic{name: "bare", base: bare, path: path, key: s.key}
		bySQL := []traffic{{name: "SQLite", base: onSQLite, path: path, key: s.key}, {name: "PostgreSQL", base: onPostgres, path: path, key: s.keyPostgres}}
		got := make([]series, 4)
		for range rounds {
			for i, s := range append(measure(b, turns, product, yardstick), measure(b, 1, bySQL...)...) {
				got[i] = append(got[i], s...)
			}
		}
		gc := s.product.gcShare(b, before)
		ofBare, times := ratios(got[0], got[1]), median(got[0].rates())/max(median(got[2].rates()), median(got[3].rates()))
		ok := median(ofBare) >= least && (path != recentPath || times >= recentPerRequest)
		t.add(path, fmt.Sprintf("%.1f", float64(len(answers[i].Body))/1000), rate(got[0]), tails(got[0]), rate(got[1]), tails(got[1]),
			spread("%.2f", ofBare), rate(got[2]), tails(got[2]), rate(got[3]), tails(got[3]), fmt.Sprintf("%.0f", times), fmt.Sprintf("%.1f", gc), holds(ok))
		if path == recentPath {
			b.ReportMetric(median(ofBare), "recent-of-bare")
		}
	}
	t.print()
}

// connections is the table of few and many connections, of compression, and of other forms and more digits.
func (s *bench) connections(b *testing.B) {
	const long, five = recentPath + "&count=1000", "/v1/draws/recent?game=bench-pick-5"
	loads := []struct {
		path, coding string
		conns        []int
		rounds       int
	}{
		{recentPath, "", []int{1, 32, 256}, benchRounds},
		{recentPath, "gzip", []int{1, 32, 256}, 2},
		{recentPath, "zstd", []int{32}, 2},
		{long, "", []int{1, 32, 256}, 2},
		{long, "gzip", []int{1, 32, 256}, 2},
		{long, "zstd", []int{32}, 2},
		{long + "&format=ndjson", "", []int{32}, 2},
		{long + "&format=csv", "", []int{32}, benchRounds},
		{"/v1/draws/search?number=123&limit=1000&format=csv", "", []int{32}, benchRounds},
		{five, "", []int{32}, 2},
		{five + "&count=1000", "", []int{32}, benchRounds},
		{five + "&count=1000&format=csv", "", []int{32}, benchRounds},
	}
	answers := make([]captured, len(loads))
	for i, l := range loads {
		answers[i] = fetch(b, s.product.base, l.path, s.key, l.coding)
	}
	bare := startYardstick(b, "bare", "", answers...)
	t := newTable("Connections, codings, forms and digits: rounds of 1 s in turn, medians (lowest…highest); latencies p50/p99 in ms",
		"path", "coding", "KB", "connections", "product req/s", "ms", "bare req/s", "ms", "of bare")
	for i, l := range loads {
		for _, n := range l.conns {
			got := measure(b, l.rounds,
				traffic{name: "product", base: s.product.base, path: l.path, key: s.key, coding: l.coding, conns: n},
				traffic{name: "bare", base: bare, path: l.path, key: s.key, coding: l.coding, conns: n})
			t.add(l.path, cmp.Or(l.coding, "none"), fmt.Sprintf("%.1f", float64(len(answers[i].Body))/1000), fmt.Sprint(n),
				rate(got[0]), tails(got[0]), rate(got[1]), tails(got[1]), spread("%.2f", ratios(got[0], got[1])))
		}
	}
	t.print()
}
