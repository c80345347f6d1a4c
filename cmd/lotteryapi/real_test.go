package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lottery/models/store/storetest"
)

// The lotteries' own files are imported with lotteryadmin, and every endpoint's responses are compared with an
// independent reading of the same files (realReading), evaluated naively.
func TestRealDraws(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("LOTTERY_REAL_DRAWS")
	if folder == "" {
		t.Skip("LOTTERY_REAL_DRAWS names no folder of the lotteries' published files")
	}
	draws, rejected := realReading(t, folder)
	url := storetest.EmptyURL(t)
	for feed, pattern := range realFiles {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v %v", pattern, files, err)
		}
		out, code := admin(t, url, append([]string{"draws", "import", "--quiet", "--feed", feed}, files...)...)
		var summary struct {
			Inserted   int
			Rejections map[string]int
		}
		if err := json.Unmarshal(out, &summary); err != nil {
			t.Fatalf("%s: %v %s", feed, err, out)
		}
		if !reflect.DeepEqual(summary.Rejections, rejected[feed]) || (code == 3) != (len(rejected[feed]) > 0) {
			t.Errorf("%s: rejections %v (exit %d), the independent reading has %v", feed, summary.Rejections, code, rejected[feed])
		}
		inserted := 0
		for _, d := range draws {
			if d.feed == feed {
				inserted++
			}
		}
		if summary.Inserted != inserted {
			t.Errorf("%s: inserted %d, the independent reading has %d", feed, summary.Inserted, inserted)
		}
	}
	p := start(t, t.TempDir(), serveArgs(url)...)
	key := newKey(t, url, "real@example.com")
	if out, code := admin(t, url, "accounts", "set-limit", "real@example.com", "1000000"); code != 0 {
		t.Fatalf("set-limit: %d %s", code, out)
	}
	naive := &naiveAPI{draws: draws}
	for _, q := range realQueries(draws) {
		status, body := p.get(t, q.path, key)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", q.path, status, body)
		}
		naive.compare(t, q, body)
	}
	naive.compareOverview(t, p, key)
}

// realQuery is a request, and which draws it should return.
type realQuery struct {
	path  string
	limit int
	asc   bool
	want  func(d *realDraw) bool
}

func realQueries(draws []realDraw) []realQuery {
	var list []realQuery
	games := map[string]bool{}
	for _, d := range draws {
		games[d.game] = true
	}
	for game := range games {
		of := func(f func(d *realDraw) bool) func(d *realDraw) bool {
			return func(d *realDraw) bool { return d.game == game && f(d) }
		}
		list = append(list,
			realQuery{path: "/v1/draws/recent?count=1000&game=" + game, limit: 1000, want: of(func(*realDraw) bool { return true })},
			realQuery{path: "/v1/draws/recent?tod=Evening&game=" + game, limit: 10, want: of(func(d *realDraw) bool { return d.tod == "Evening" })},
		)
		for _, year := range []string{"1982", "1985", "2007", "2008", "2009", "2011", "2013", "2015", "2023", "2024"} {
			list = append(list, realQuery{path: "/v1/draws/history?year=" + year + "&game=" + game, want: of(func(d *realDraw) bool { return d.date[:4] == year })})
		}
		for _, sum := range []int{0, 1, 7, 13, 18, 27, 36} {
			list = append(list, realQuery{path: fmt.Sprintf("/v1/draws/by-sum?limit=1000&order=asc&sum=%d&game=%s", sum, game), limit: 1000, asc: true,
				want: of(func(d *realDraw) bool { return digitSum(d.number) == sum })})
		}
		for _, pair := range []string{"00", "09", "47", "74", "99"} {
			list = append(list,
				realQuery{path: "/v1/draws/by-pair?pair=" + pair + "&game=" + game, limit: 100, want: of(func(d *realDraw) bool { return holdsPair(d.number, pair) })},
				realQuery{path: "/v1/draws/by-pair?position=front&pair=" + pair + "&game=" + game, limit: 100, want: of(func(d *realDraw) bool { return d.number[:2] == pair })},
				realQuery{path: "/v1/draws/by-pair?position=back&pair=" + pair + "&game=" + game, limit: 100, want: of(func(d *realDraw) bool { return strings.HasSuffix(d.number, pair) })},
				realQuery{path: "/v1/draws/by-pair?position=split&from=2009-01-01&to=2012-06-30&pair=" + pair + "&game=" + game, limit: 100, want: of(func(d *realDraw) bool {
					return d.number[0] == pair[0] && d.number[len(d.number)-1] == pair[1] && d.date >= "2009-01-01" && d.date <= "2012-06-30"
				})},
			)
		}
	}
	for _, number := range []string{"000", "007", "123", "0000", "0035", "1234", "9989", "12345"} {
		list = append(list,
			realQuery{path: "/v1/draws/search?limit=1000&number=" + number, limit: 1000, want: func(d *realDraw) bool { return sortDigits(d.number) == sortDigits(number) }},
			realQuery{path: "/v1/draws/search?match=exact&tod=Night&number=" + number, limit: 100, want: func(d *realDraw) bool { return d.number == number && d.tod == "Night" }},
		)
	}
	for _, date := range []string{"1982-01-27", "1985-02-14", "2007-06-10", "2008-10-30", "2008-11-09", "2012-05-16", "2024-03-27", "2024-09-07", "2024-09-26", "2015-08-30"} {
		list = append(list, realQuery{path: "/v1/draws/date/" + date, want: func(d *realDraw) bool { return d.date == date }})
	}
	return list
}

// naiveAPI answers a query by scanning every draw.
type naiveAPI struct{ draws []realDraw }

// compare checks the draws, their order, their records and the total of one response.
func (n *naiveAPI) compare(t *testing.T, q realQuery, body []byte) {
	t.Helper()
	var want []realDraw
	for i := range n.draws {
		if q.want(&n.draws[i]) {
			want = append(want, n.draws[i])
		}
	}
	slices.SortFunc(want, newestFirst)
	if q.asc {
		slices.Reverse(want)
	}
	total := len(want)
	if q.limit > 0 {
		want = want[:min(total, q.limit)]
	}
	var got struct {
		Draws []map[string]any
		Total int
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%s: %v", q.path, err)
	}
	if got.Total != total || len(got.Draws) != len(want) {
		t.Errorf("%s: %d draws of %d, want %d of %d", q.path, len(got.Draws), got.Total, len(want), total)
		return
	}
	for i := range want {
		delete(got.Draws[i], "match")
		if expected := want[i].record(); !reflect.DeepEqual(got.Draws[i], expected) {
			t.Errorf("%s: draw %d is %v, want %v", q.path, i, got.Draws[i], expected)
			return
		}
	}
}

func (n *naiveAPI) compareOverview(t *testing.T, p *process, key string) {
	t.Helper()
	type entry struct {
		TotalDraws int               `json:"total_draws"`
		DateRange  map[string]string `json:"date_range"`
		Missing    int               `json:"missing_days"`
	}
	var overview struct {
		Games []struct {
			Game string
			entry
		}
		TotalDraws int `json:"total_draws"`
	}
	_, body := p.get(t, "/v1/overview", key)
	if err := json.Unmarshal(body, &overview); err != nil {
		t.Fatal(err)
	}
	// Counted by hand from the files: dates without a draw between dates with draws, and the two dates whose only draw
	// is in conflict. The Texas files are excerpts, in which most days are missing.
	missing := map[string]int{"ny-numbers": 29, "ny-win-4": 28, "nc-pick-3": 0, "nc-pick-4": 0, "va-pick-3": 0, "va-pick-4": 0}
	if overview.TotalDraws != len(n.draws) {
		t.Errorf("total_draws %d, want %d", overview.TotalDraws, len(n.draws))
	}
	for _, g := range overview.Games {
		first, last, count := "9", "", 0
		for _, d := range n.draws {
			if d.game == g.Game {
				first, last, count = min(first, d.date), max(last, d.date), count+1
			}
		}
		want := entry{TotalDraws: count, DateRange: map[string]string{"first": first, "last": last}, Missing: g.Missing}
		if m, ok := missing[g.Game]; ok {
			want.Missing = m
		}
		if !reflect.DeepEqual(g.entry, want) {
			t.Errorf("overview of %s: %+v, want %+v", g.Game, g.entry, want)
		}
		n.compareStats(t, p, key, g.Game, count)
	}
}

// compareStats checks the counts of a game's statistics.
func (n *naiveAPI) compareStats(t *testing.T, p *process, key, game string, count int) {
	t.Helper()
	var stats struct {
		TotalDraws int `json:"total_draws"`
		TopSums    []struct {
			Sum, Count int
		} `json:"top_sums"`
		HotNumbers []struct {
			Number   string
			Count    int
			LastDate string `json:"last_date"`
		} `json:"hot_numbers"`
		HotDigits []struct {
			Digit      string
			Count      int
			ByPosition []int `json:"by_position"`
		} `json:"hot_digits"`
	}
	_, body := p.get(t, "/v1/stats?game="+game, key)
	if err := json.Unmarshal(body, &stats); err != nil || stats.TotalDraws != count {
		t.Fatalf("stats of %s: %v %s", game, err, body)
	}
	sums, numbers, last := map[int]int{}, map[string]int{}, map[string]string{}
	places := map[string][]int{}
	for _, d := range n.draws {
		if d.game != game {
			continue
		}
		sums[digitSum(d.number)]++
		numbers[d.number]++
		last[d.number] = max(last[d.number], d.date)
		for i, c := range d.number {
			if places[string(c)] == nil {
				places[string(c)] = make([]int, len(d.number))
			}
			places[string(c)][i]++
		}
	}
	for i, s := range stats.TopSums {
		if sums[s.Sum] != s.Count || (i > 0 && s.Count > stats.TopSums[i-1].Count) {
			t.Errorf("stats of %s: sum %d came %d times, want %d", game, s.Sum, s.Count, sums[s.Sum])
		}
	}
	most := slices.MaxFunc(slices.Collect(maps.Keys(numbers)), func(a, b string) int {
		return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(b, a))
	})
	if h := stats.HotNumbers[0]; h.Number != most || h.Count != numbers[most] || h.LastDate != last[most] {
		t.Errorf("stats of %s: hottest %+v, want %s %d %s", game, h, most, numbers[most], last[most])
	}
	for _, d := range stats.HotDigits {
		if !slices.Equal(d.ByPosition, places[d.Digit]) {
			t.Errorf("stats of %s: digit %s by place %v, want %v", game, d.Digit, d.ByPosition, places[d.Digit])
		}
	}
}
