package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// bench is what the tables about one data set share: both databases, filled, and the product on SQLite.
type bench struct {
	sqlite, postgres string   // database addresses
	key, keyPostgres string   // keys that do not run out
	accounts         []string // their keys, in both
	product          *process
}

// BenchmarkSpeed measures the product against the yardsticks of the contract, on 320,000 draws. `make bench` runs it;
// the tables go to standard output.
func BenchmarkSpeed(b *testing.B) {
	needWrk(b)
	s := &bench{sqlite: storetest.EmptyURL(b), postgres: storetest.EmptyPostgres(b)}
	s.key, _ = fill(b, s.sqlite, benchGames...)
	s.keyPostgres, _ = fill(b, s.postgres, benchGames...)
	s.accounts = fillAccounts(b, manyAccounts, s.sqlite, s.postgres)
	inEach(b, fillSQL, s.sqlite, s.postgres)
	s.product = startOps(b, s.sqlite)
	b.Run("Answers", s.answers)
	b.Run("Hotspots", s.hotspots)
	b.Run("Quota", s.quota)
	b.Run("Import", s.imports)
	printContract()
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

// What section 10 of the contract demands.
const (
	recentOfBare     = 0.8
	recentPerRequest = 10
	otherOfBare      = 0.6
	redisOfUncounted = 0.4
	nearlyAll        = 0.9 // within 10 %
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

// answerRows returns every path with few and many connections, plain and compressed, and then other codings, forms and
// more digits. Only plain answers have an SQL yardstick, which compresses nothing.
func answerRows() (rows []answerRow) {
	for _, path := range endpointPaths {
		for _, coding := range []string{"", "gzip"} {
			for _, conns := range []int{benchConnections, 1, 256} {
				l := answerRow{path, coding, conns, 2, coding == ""}
				if path == recentPath && l.sql {
					l.rounds = 5
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
	measured := make([]measuredRow, len(rows))
	for i, l := range rows {
		m := &measured[i]
		m.answerRow, m.size = l, len(all[i].Body)
		before := s.product.spending(b)
		s.beside(b, m, bare, l.rounds)
		m.gc = s.product.gcShare(b, before)
		if l.sql {
			onSQLite, onPostgres := l.of("SQLite", onSQLite, s.key), l.of("PostgreSQL", onPostgres, s.keyPostgres)
			onSQLite.brief, onPostgres.brief = sqlRound, sqlRound
			for _, load := range []traffic{onSQLite, onPostgres} {
				m.onSQL = append(m.onSQL, measure(b, 1, load)...)
				awaitIdle()
			}
		}
	}
	s.settle(b, measured, bare)
	b.ReportMetric(median(measured[0].ofBare()), "recent-of-bare")
	t := newTable(fmt.Sprintf("Every path, metered in SQLite: rounds of %v in turn, medians (lowest…highest); latencies p50/p99 in ms", answerRound),
		"path", "coding", "KB", "connections", "product req/s", "ms", "bare req/s", "ms", "of bare", "SQL on SQLite req/s", "ms", "SQL on PostgreSQL req/s", "ms", "times SQL", "GC %", "holds")
	var ofPlain, ofCompressed named
	for i := range measured {
		m := &measured[i]
		t.add(m.cells()...)
		m.judge(&ofPlain, &ofCompressed)
	}
	t.print()
	shows(demandOthers, min(ofPlain.lowest(), ofCompressed.lowest()) >= otherOfBare, "plain %v; compressed %v", &ofPlain, &ofCompressed)
}

// measuredRow is a row and what was measured for it.
type measuredRow struct {
	answerRow

	size          int // of the answer, in bytes
	product, bare series
	onSQL         []series // on SQLite, on PostgreSQL; nil = not asked
	gc            float64  // the collector's share of the product's processor time, in percent
}

func (l *answerRow) of(name, base, key string) traffic {
	return traffic{name: name, base: base, path: l.path, key: key, coding: l.coding, conns: l.conns, brief: answerRound}
}

// beside measures a row's product and bare for some more rounds.
func (s *bench) beside(b *testing.B, m *measuredRow, bare string, rounds int) {
	got := measure(b, rounds, m.of("product", s.product.base, s.key), m.of("bare", bare, s.key))
	m.product, m.bare = append(m.product, got[0]...), append(m.bare, got[1]...)
}

const (
	// settleTime is how long rows are measured again in all.
	settleTime = 14 * time.Second
	// nearDemand is how far from what is demanded a row is measured again in any case, relative to that.
	nearDemand = 0.2
	// farApart is the ratio of a row's highest to its lowest ratio above which it is measured again.
	farApart = 1.25
)

// settle measures again the rows that are near what is demanded, on either side, nearest first, and then those whose
// rounds differ most, whatever their median: if the machine did something else in one of two rounds, neither is worth
// much.
func (s *bench) settle(b *testing.B, rows []measuredRow, bare string) {
	until := time.Now().Add(settleTime)
	var near, apart []*measuredRow
	for i := range rows {
		if m := &rows[i]; m.distance() < nearDemand {
			near = append(near, m)
		} else if m.apart() >= farApart {
			apart = append(apart, m)
		}
	}
	slices.SortStableFunc(near, func(x, y *measuredRow) int { return cmp.Compare(x.distance(), y.distance()) })
	slices.SortStableFunc(apart, func(x, y *measuredRow) int { return cmp.Compare(y.apart(), x.apart()) })
	for _, m := range append(near, apart...) {
		if time.Now().After(until) {
			return
		}
		s.beside(b, m, bare, 3)
	}
}

func (m *measuredRow) ofBare() []float64 { return ratios(m.product, m.bare) }

// apart returns the highest of a row's ratios divided by the lowest.
func (m *measuredRow) apart() float64 { return slices.Max(m.ofBare()) / slices.Min(m.ofBare()) }

// distance returns how far the median is from what is demanded, relative to that.
func (m *measuredRow) distance() float64 { return math.Abs(median(m.ofBare())/m.least() - 1) }

// least returns what section 10 of the contract demands.
func (m *measuredRow) least() float64 {
	if strings.HasPrefix(m.path, recentPath) && m.size < 10_000 {
		return recentOfBare
	}
	return otherOfBare
}

// timesSQL returns the product's rate divided by that of SQL on the quicker database; 0 = SQL completed no response.
func (m *measuredRow) timesSQL() float64 {
	most := max(median(m.onSQL[0].rates()), median(m.onSQL[1].rates()))
	if most == 0 {
		return 0
	}
	return median(m.product.rates()) / most
}

// judge records what the row shows about section 10 of the contract: ten-draw recent by itself, the others for all of
// them.
func (m *measuredRow) judge(plain, compressed *named) {
	ofBare, name := median(m.ofBare()), fmt.Sprintf("%s, %d connections", m.path, m.conns)
	switch {
	case m.least() == recentOfBare:
		shows(demandRecent, ofBare >= recentOfBare, "%.2f (%s, %d)", ofBare, cmp.Or(m.coding, "plain"), m.conns)
	case m.coding == "":
		plain.add(name, ofBare)
	default:
		compressed.add(name, ofBare)
	}
	if m.path == recentPath && m.sql {
		shows(demandSQL, m.timesSQL() >= recentPerRequest, "%.0f (%d)", m.timesSQL(), m.conns)
	}
}

// cells returns the row as printed, and whether it meets section 10 of the contract.
func (m *measuredRow) cells() []string {
	ok := median(m.ofBare()) >= m.least()
	bySQL := []string{"", "", "", "", ""}
	if m.onSQL != nil {
		bySQL = []string{rate(m.onSQL[0]), tails(m.onSQL[0]), rate(m.onSQL[1]), tails(m.onSQL[1]), "–"}
		if times := m.timesSQL(); times > 0 {
			ok = ok && (m.path != recentPath || times >= recentPerRequest)
			bySQL[4] = fmt.Sprintf("%.0f", times)
		}
	}
	row := []string{m.path, cmp.Or(m.coding, "none"), fmt.Sprintf("%.1f", float64(m.size)/1000), fmt.Sprint(m.conns),
		rate(m.product), tails(m.product), rate(m.bare), tails(m.bare), spread("%.2f", m.ofBare())}
	return append(append(row, bySQL...), fmt.Sprintf("%.1f", m.gc), holds(ok))
}
