package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// bench is what the tables about one data set share: both databases, filled, and the product on SQLite.
type bench struct {
	sqlite, postgres string   // database addresses
	key, keyPostgres string   // that do not run out
	accounts         []string // their keys, in both
	product          *process
}

// BenchmarkSpeed measures the product against the yardsticks of the contract, on 320,000 draws. `make bench` runs it;
// the tables go to standard output.
func BenchmarkSpeed(b *testing.B) {
	needWrk(b)
	s := &bench{sqlite: storetest.URL(b), postgres: storetest.NewPostgres(b)}
	s.key, _ = fill(b, s.sqlite, benchGames...)
	s.keyPostgres, _ = fill(b, s.postgres, benchGames...)
	s.accounts = fillAccounts(b, manyAccounts, s.sqlite, s.postgres)
	inEach(b, fillSQL, s.sqlite, s.postgres)
	s.product = startOps(b, s.sqlite)
	b.Run("Answers", s.answers)
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

// answerRow is a row of the table of answers.
type answerRow struct {
	path, coding string
	conns        int
	rounds       int
	sql          bool // beside SQL too
}

// Rounds of this table are brief, since it has many rows; SQL needs longer for some answers.
const (
	answerRound = 350 * time.Millisecond
	sqlRound    = 450 * time.Millisecond
)

// answerRows is every path with few and many connections, plain and compressed, and then other codings, forms and
// more digits. Plain answers stand beside SQL, which compresses nothing.
func answerRows() (rows []answerRow) {
	for _, path := range endpointPaths {
		for _, coding := range []string{"", "gzip"} {
			for _, conns := range []int{benchConnections, 1, 256} {
				l := answerRow{path, coding, conns, 2, coding == ""}
				switch {
				case path == recentPath && l.sql:
					l.rounds = 7
				case l.sql && conns == benchConnections:
					l.rounds = 3
				}
				rows = append(rows, l)
			}
		}
	}
	const long, five = recentPath + "&count=1000", "/v1/draws/recent?game=bench-pick-5"
	for _, of := range [][2]string{
		{recentPath, "zstd"}, {"/v1/draws/by-pair?game=bench-pick-4&pair=12", "gzip"}, {long + "&format=ndjson", ""}, {long + "&format=csv", ""},
		{"/v1/draws/search?number=123&limit=1000&format=csv", ""}, {five, ""}, {five + "&count=1000", ""}, {five + "&count=1000&format=csv", ""},
	} {
		rows = append(rows, answerRow{of[0], of[1], benchConnections, 2, false})
	}
	return rows
}

// answers is the table of all paths, of connections, codings and forms.
func (s *bench) answers(b *testing.B) {
	rows := answerRows()
	var plain, all []captured
	for _, l := range rows {
		a := fetch(b, s.product.base, l.path, s.key, l.coding)
		if all = append(all, a); l.sql {
			plain = append(plain, a)
		}
	}
	bare := startYardstick(b, "bare", "", all...)
	onSQLite, onPostgres := startYardstick(b, "sql", s.sqlite, plain...), startYardstick(b, "sql", s.postgres, plain...)
	for _, a := range plain {
		if !bytes.Equal(fetch(b, onSQLite, a.URI, s.key, "").Body, a.Body) || !bytes.Equal(fetch(b, onPostgres, a.URI, s.keyPostgres, "").Body, a.Body) {
			b.Fatalf("%s: the answer made by SQL is another", a.URI)
		}
	}
	t := newTable(fmt.Sprintf("Every path, metered in SQLite: rounds of %v in turn, medians (lowest…highest); latencies p50/p99 in ms", answerRound),
		"path", "coding", "KB", "connections", "product req/s", "ms", "bare req/s", "ms", "of bare", "SQL on SQLite req/s", "ms", "SQL on PostgreSQL req/s", "ms", "times SQL", "GC %", "holds")
	for i, l := range rows {
		of := func(name, base, key string) traffic {
			return traffic{name: name, base: base, path: l.path, key: key, coding: l.coding, conns: l.conns, brief: answerRound}
		}
		before := s.product.spending(b)
		got := measure(b, l.rounds, of("product", s.product.base, s.key), of("bare", bare, s.key))
		gc := s.product.gcShare(b, before)
		product, ofBare := got[0], ratios(got[0], got[1])
		least := otherOfBare
		if strings.HasPrefix(l.path, recentPath) && len(all[i].Body) < 10_000 {
			least = recentOfBare
		}
		ok := median(ofBare) >= least
		bySQL := []string{"", "", "", "", ""}
		if l.sql {
			onSQLite, onPostgres := of("SQLite", onSQLite, s.key), of("PostgreSQL", onPostgres, s.keyPostgres)
			onSQLite.brief, onPostgres.brief = sqlRound, sqlRound
			got := measure(b, 1, onSQLite, onPostgres)
			bySQL = []string{rate(got[0]), tails(got[0]), rate(got[1]), tails(got[1]), "–"}
			if most := max(median(got[0].rates()), median(got[1].rates())); most > 0 {
				times := median(product.rates()) / most
				ok = ok && (l.path != recentPath || times >= recentPerRequest)
				bySQL[4] = fmt.Sprintf("%.0f", times)
			}
		}
		row := []string{l.path, cmp.Or(l.coding, "none"), fmt.Sprintf("%.1f", float64(len(all[i].Body))/1000), fmt.Sprint(l.conns),
			rate(product), tails(product), rate(got[1]), tails(got[1]), spread("%.2f", ofBare)}
		t.add(append(append(row, bySQL...), fmt.Sprintf("%.1f", gc), holds(ok))...)
		if i == 0 {
			b.ReportMetric(median(ofBare), "recent-of-bare")
		}
	}
	t.print()
}
