package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store/storetest"
)

const (
	manyDraws   = 1_000_000
	fewDraws    = manyDraws / 10
	allAccounts = 100_000
	// someAccounts is how many of them are busy in one row: each several times a second.
	someAccounts = 5_000

	repeatedRequests = 20
	// parameterRound is brief, and there are many: on a machine that others use as well, the medians of twice as many
	// rounds of half the length vary by a third less.
	parameterRound = 350 * time.Millisecond
	// listRound is long enough to ask for more lists than the server keeps: each round asks for the same ones.
	listRound = 700 * time.Millisecond
)

// BenchmarkScale measures what the amount of data costs: draws, parameters, accounts. `make bench` runs it.
func BenchmarkScale(b *testing.B) {
	needWrk(b)
	few, many, postgres := storetest.EmptyURL(b), storetest.EmptyURL(b), storetest.EmptyPostgres(b)
	keyFew, _ := fill(b, few, tenGames(fewDraws)...)
	key, tookSQLite := fill(b, many, tenGames(manyDraws)...)
	keyPostgres, tookPostgres := fill(b, postgres, tenGames(manyDraws)...)
	accounts := fillAccounts(b, allAccounts, many, postgres)

	t := newTable(fmt.Sprintf("%d draws, %d accounts with keys, of which one asks", manyDraws, allAccounts), "database", "import s", "start to ready s", "resident MiB, idle", "under load, highest", "holds")
	onFew := startOps(b, few)
	onMany, readySQLite := startAgain(b, many)
	onPostgres, readyPostgres := startAgain(b, postgres)
	idle, _ := onMany.resident(b)
	idlePostgres, _ := onPostgres.resident(b)

	b.Run("Parameters", func(b *testing.B) {
		parameters(b, server{onFew, keyFew}, server{onMany, key})
	})
	b.Run("Lists", func(b *testing.B) { longLists(b, server{onMany, key}) })
	wrk(b, traffic{name: "PostgreSQL", base: onPostgres.base, path: scalePath, key: keyPostgres})
	for _, row := range []struct {
		name  string
		took  time.Duration
		ready []float64
		idle  int
		p     *process
	}{{"SQLite", tookSQLite, readySQLite, idle, onMany}, {"PostgreSQL", tookPostgres, readyPostgres, idlePostgres, onPostgres}} {
		_, peak := row.p.resident(b)
		took, ready := row.took.Seconds(), median(row.ready)
		quick, soon, small := took < 22, ready < 3, peak <= 200
		t.add(row.name, fmt.Sprintf("%.1f", took), spread("%.1f", row.ready), fmt.Sprint(row.idle), fmt.Sprint(peak), holds(quick && soon && small))
		shows(demandMemory, small, "%d idle, %d under load (%s)", row.idle, peak, row.name)
		shows(demandReady, soon, "%.1f (%s)", ready, row.name)
		shows(demandImport, quick, "%.1f (%s)", took, row.name)
	}
	t.print()
	b.Run("Accounts", func(b *testing.B) { manyKeys(b, server{onMany, key}, accounts) })
}

// startAgain starts a server three times, since the first one may be slowed by what the database still does after an
// import. It returns the last server, and how many seconds each took to be ready.
func startAgain(b *testing.B, url string) (p *process, ready []float64) {
	b.Helper()
	for range benchRounds {
		if p != nil {
			p.stop(b)
		}
		began := time.Now()
		p = startOps(b, url)
		ready = append(ready, time.Since(began).Seconds())
	}
	return p, ready
}

// server is a process and a key to it.
type server struct {
	p   *process
	key string
}

// parameters prints the table of repeated against random requests, and of few draws against many. Twenty of the random
// requests are repeated in turn, since a single one may cost more or less than most. The lists of requests are made in
// advance, equally long, with a different X-Request-Id in each request, so that wrk's own cost of walking a list is the
// same for all.
func parameters(b *testing.B, few, many server) {
	t := newTable(fmt.Sprintf("%d requests again and again, and random ones; %d and %d draws: rounds of %v in turn, medians (lowest…highest)", repeatedRequests, fewDraws, manyDraws, parameterRound),
		"path", "repeated req/s", "random req/s", "random of repeated", fmt.Sprintf("random over %d req/s", fewDraws), fmt.Sprintf("%d of %d draws", manyDraws, fewDraws), "within 10 %")
	var rows []*parameterRow
	for _, path := range []struct {
		name, coding string
		random       randomRequest
	}{
		{"recent", "", func(rng *rand.Rand, _ models.Date) string {
			return fmt.Sprintf("/v1/draws/recent?game=%s&count=%d&tod=%s", anyGame(rng), 5+rng.IntN(11), anyTod(rng))
		}},
		{"date", "", func(rng *rand.Rand, first models.Date) string {
			return fmt.Sprintf("/v1/draws/date/%s", anyDate(rng, first))
		}},
		{"search", "", func(rng *rand.Rand, first models.Date) string {
			return fmt.Sprintf("/v1/draws/search?number=%03d&limit=10&to=%s", rng.IntN(1000), anyDate(rng, first+models.Date(fewDays/3)))
		}},
		{"by-sum", "", func(rng *rand.Rand, first models.Date) string {
			return fmt.Sprintf("/v1/draws/by-sum?game=%s&sum=%d&limit=10&to=%s", anyGame(rng), 7+rng.IntN(14), anyDate(rng, first+models.Date(fewDays/3)))
		}},
		{"by-pair", "", func(rng *rand.Rand, first models.Date) string {
			return fmt.Sprintf("/v1/draws/by-pair?game=%s&pair=%02d&limit=10&to=%s", anyGame(rng), rng.IntN(100), anyDate(rng, first+models.Date(fewDays/3)))
		}},
		{"by-sum, 100 draws, gzip", "gzip", func(rng *rand.Rand, first models.Date) string {
			return fmt.Sprintf("/v1/draws/by-sum?game=%s&sum=%d&to=%s", anyGame(rng), 7+rng.IntN(14), anyDate(rng, first+models.Date(fewDays/3)))
		}},
		{"stats of a range", "", func(rng *rand.Rand, first models.Date) string {
			return fmt.Sprintf("/v1/stats?game=%s&from=%s&to=%s", anyGame(rng), anyDate(rng, first)-100, benchLastDay-models.Date(rng.IntN(100)))
		}},
	} {
		random, randomFew := randomRequests(many.key, manyDays, path.random), randomRequests(few.key, fewDays, path.random)
		repeated := slices.Repeat(random[:repeatedRequests], len(random)/repeatedRequests)
		of := func(name, base string, mix []string) traffic {
			return traffic{name: name, base: base, coding: path.coding, mix: mix, brief: parameterRound}
		}
		row := &parameterRow{name: path.name, loads: []traffic{
			of("repeated", many.p.base, repeated), of("random", many.p.base, random), of("random, few", few.p.base, randomFew),
		}}
		row.measure(b, 4, row.loads)
		row.measure(b, 4, row.loads[:2]) // few rounds cannot separate values so close to each other
		rows = append(rows, row)
	}
	// Measure those again that are least certain, whatever their median.
	doubtful := slices.SortedFunc(slices.Values(rows), func(x, y *parameterRow) int { return cmp.Compare(x.certainty(), y.certainty()) })
	for _, row := range doubtful[:settledRows] {
		row.measure(b, 6, row.loads)
	}
	var allCold, allSize named
	for _, row := range rows {
		cold, size := median(row.cold), median(row.size)
		t.add(row.name, rate(row.got[0]), rate(row.got[1]), spread("%.2f", row.cold), rate(row.got[2]), spread("%.2f", row.size), holds(min(cold, size) >= nearlyAll))
		allCold.add(row.name, cold)
		allSize.add(row.name, size)
	}
	t.print()
	shows(demandRandom, allCold.lowest() >= nearlyAll, "%v", &allCold)
	shows(demandSize, allSize.lowest() >= nearlyAll, "%v", &allSize)
}

// settledRows is how many rows of parameters are measured for six more rounds, 7 s in all each.
const settledRows = 2

// parameterRow is a path with repeated and random requests, and random ones over few draws.
type parameterRow struct {
	name       string
	loads      []traffic
	got        [3]series
	cold, size []float64 // ratios of random to repeated, and of random to random over few draws
}

// measure adds rounds of the loads, or of the first two.
func (p *parameterRow) measure(b *testing.B, rounds int, loads []traffic) {
	b.Helper()
	more := measure(b, rounds, loads...)
	for i := range more {
		p.got[i] = append(p.got[i], more[i]...)
	}
	p.cold = append(p.cold, ratios(more[1], more[0])...)
	if len(more) > 2 {
		p.size = append(p.size, ratios(more[1], more[2])...)
	}
}

// certainty returns how far the row is from what is demanded, in units of how far its rounds are from each other.
func (p *parameterRow) certainty() float64 {
	of := func(rounds []float64) float64 {
		return math.Abs(median(rounds)-nearlyAll) * math.Sqrt(float64(len(rounds))) / (slices.Max(rounds) - slices.Min(rounds))
	}
	return min(of(p.cold), of(p.size))
}

// longLists prints the table of lists of a thousand draws, whose compressed form is cached: lists requested repeatedly,
// lists never requested before, and plain ones, which are always made anew.
func longLists(b *testing.B, s server) {
	t := newTable(fmt.Sprintf("Lists of 1,000 of %d draws, compressed with gzip: rounds of %v in turn, medians (lowest…highest)", manyDraws, listRound),
		"path", "plain, random req/s", "random req/s", "of plain", "repeated req/s", "random of repeated")
	for _, path := range []struct {
		name   string
		random randomRequest
	}{
		{"by-sum", func(rng *rand.Rand, first models.Date) string {
			return fmt.Sprintf("/v1/draws/by-sum?game=%s&sum=%d&limit=1000&to=%s", anyGame(rng), 10+rng.IntN(8), anyDate(rng, first+manyDays/2))
		}},
		{"by-pair", func(rng *rand.Rand, first models.Date) string {
			return fmt.Sprintf("/v1/draws/by-pair?game=%s&pair=%02d&limit=1000&to=%s", anyGame(rng), rng.IntN(100), anyDate(rng, first+manyDays/2))
		}},
	} {
		random := randomRequests(s.key, manyDays, path.random)
		of := func(name, coding string, mix []string) traffic {
			return traffic{name: name, base: s.p.base, coding: coding, mix: mix, brief: listRound}
		}
		got := measure(b, benchRounds, of("plain", "", random), of("random", "gzip", random),
			of("repeated", "gzip", slices.Repeat(random[:repeatedRequests], len(random)/repeatedRequests)))
		cold := ratios(got[1], got[2])
		t.add(path.name, rate(got[0]), rate(got[1]), spread("%.2f", ratios(got[1], got[0])), rate(got[2]), spread("%.2f", cold))
		shows(demandLongLists, median(cold) >= nearlyAll, "%.2f (%s; %.2f of the same list plain)", median(cold), path.name, median(ratios(got[1], got[0])))
	}
	t.print()
}

// randomRequest is a request about draws of the days from first on.
type randomRequest func(rng *rand.Rand, first models.Date) string

// randomRequests returns more requests with key than any round sends.
func randomRequests(key string, days int, random randomRequest) []string {
	rng := rand.New(rand.NewPCG(7, 7))
	out := make([]string, 20_000)
	for i := range out {
		out[i] = key + " " + random(rng, benchLastDay-models.Date(days-1))
	}
	return out
}

// How many days of draws the data sets have.
const (
	manyDays = manyDraws / 10 / benchTods
	fewDays  = fewDraws / 10 / benchTods
)

func anyGame(rng *rand.Rand) string { return tenGames(0)[rng.IntN(10)].id }
func anyTod(rng *rand.Rand) string {
	return []string{"Morning", "Day", "Evening", "Night"}[rng.IntN(benchTods)]
}

func anyDate(rng *rand.Rand, first models.Date) models.Date {
	return first + models.Date(rng.IntN(int(benchLastDay-first)+1))
}

// manyKeys prints the table of one account against some, and many, that take turns. The requests of one account are as
// many as those that they are compared with, so that wrk's own cost of walking a list is the same. All accounts together
// come last, since the writes that they leave behind would disturb the others.
func manyKeys(b *testing.B, s server, keys []string) {
	t := newTable(fmt.Sprintf("%d accounts with keys, counted in SQLite: ten-draw recent, medians (lowest…highest); latencies p50/p99 in ms", allAccounts),
		"accounts that take turns", "req/s", "ms", "of one", "resident MiB, highest")
	accounts := func(keys ...string) traffic {
		return traffic{base: s.p.base, mix: turnsOf(scalePath, keys...), seconds: 2}
	}
	one := func(n int) traffic { return accounts(slices.Repeat([]string{s.key}, n)...) }
	all := accounts(keys...)
	first := all
	first.seconds = 3 // not long enough for a second turn
	never := measure(b, 1, first)[0]
	first.seconds = 7
	wrk(b, first) // the server knows every key now
	some := accounts(keys[:someAccounts]...)
	some.warm = 2
	got := measure(b, benchRounds, one(someAccounts), some, one(allAccounts))
	_, peak := s.p.resident(b)
	t.add("1", rate(got[0]), tails(got[0]), "", fmt.Sprint(peak))
	someOfOne := ratios(got[1], got[0])
	t.add(fmt.Sprint(someAccounts), rate(got[1]), tails(got[1]), spread("%.2f", someOfOne), "")
	t.add(fmt.Sprintf("1, as many requests as %d", allAccounts), rate(got[2]), tails(got[2]), "", "")
	firstOfOne := never.rates()[0] / median(got[2].rates())
	t.add(fmt.Sprint(allAccounts, ", each for the first time"), rate(never), tails(never), spread("%.2f", []float64{firstOfOne}), "")
	last := measure(b, benchRounds, all)[0]
	_, peak = s.p.resident(b)
	lastOfOne := ratios(last, got[2])
	t.add(fmt.Sprint(allAccounts), rate(last), tails(last), spread("%.2f", lastOfOne), fmt.Sprint(peak))
	t.print()
	shows(demandAccounts, median(someOfOne) >= nearlyAll, "%d accounts in turn: %.2f of the rate of one, in a database with all of them (that database beside an empty one: the line on 10 × the draws)", someAccounts, median(someOfOne))
	shows(demandAllAccounts, min(median(lastOfOne), firstOfOne) >= nearlyAll, "%.2f of the rate of one, %.2f for their first requests", median(lastOfOne), firstOfOne)
}

const scalePath = "/v1/draws/recent?game=bench-1"
