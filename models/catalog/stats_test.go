package catalog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// Counted by hand from the draws 007, 700, 070 (2024-01-01) and 123 (2024-01-02).
const statsOfPick3 = `{"game":"aa-pick-3","game_name":"Name of aa-pick-3","game_type":"pick3","total_draws":4,
"date_range":{"first":"2024-01-01","last":"2024-01-02"},
"top_sums":[{"sum":7,"count":3,"share":0.75,"expected_share":0.036},{"sum":6,"count":1,"share":0.25,"expected_share":0.028}],
"hot_numbers":[
 {"number":"007","count":1,"share":0.25,"expected_share":0.001,"last_date":"2024-01-01"},
 {"number":"070","count":1,"share":0.25,"expected_share":0.001,"last_date":"2024-01-01"},
 {"number":"123","count":1,"share":0.25,"expected_share":0.001,"last_date":"2024-01-02"},
 {"number":"700","count":1,"share":0.25,"expected_share":0.001,"last_date":"2024-01-01"}],
"hot_boxes":[
 {"normalized":"007","count":3,"share":0.75,"expected_share":0.003,"last_date":"2024-01-01"},
 {"normalized":"123","count":1,"share":0.25,"expected_share":0.006,"last_date":"2024-01-02"}],
"hot_digits":[
 {"digit":"0","count":6,"share":0.5,"expected_share":0.1,"by_position":[2,2,2]},
 {"digit":"7","count":3,"share":0.25,"expected_share":0.1,"by_position":[1,1,1]},
 {"digit":"1","count":1,"share":0.08333333333333333,"expected_share":0.1,"by_position":[1,0,0]},
 {"digit":"2","count":1,"share":0.08333333333333333,"expected_share":0.1,"by_position":[0,1,0]},
 {"digit":"3","count":1,"share":0.08333333333333333,"expected_share":0.1,"by_position":[0,0,1]},
 {"digit":"4","count":0,"share":0,"expected_share":0.1,"by_position":[0,0,0]},
 {"digit":"5","count":0,"share":0,"expected_share":0.1,"by_position":[0,0,0]},
 {"digit":"6","count":0,"share":0,"expected_share":0.1,"by_position":[0,0,0]},
 {"digit":"8","count":0,"share":0,"expected_share":0.1,"by_position":[0,0,0]},
 {"digit":"9","count":0,"share":0,"expected_share":0.1,"by_position":[0,0,0]}],
"overdue_digits":[
 {"digit":"4","draws_since":null,"last_date":null},{"digit":"5","draws_since":null,"last_date":null},
 {"digit":"6","draws_since":null,"last_date":null},{"digit":"8","draws_since":null,"last_date":null},
 {"digit":"9","draws_since":null,"last_date":null},
 {"digit":"0","draws_since":1,"last_date":"2024-01-01"},{"digit":"7","draws_since":1,"last_date":"2024-01-01"},
 {"digit":"1","draws_since":0,"last_date":"2024-01-02"},{"digit":"2","draws_since":0,"last_date":"2024-01-02"},
 {"digit":"3","draws_since":0,"last_date":"2024-01-02"}]}`

const statsOfNothing = `{"game":"dd-pick-1","game_name":"Name of dd-pick-1","game_type":"pick1","total_draws":0,
"date_range":{"first":null,"last":null},"top_sums":[],"hot_numbers":[],"hot_boxes":[],
"hot_digits":[
 {"digit":"0","count":0,"share":0,"expected_share":0.1,"by_position":[0]},{"digit":"1","count":0,"share":0,"expected_share":0.1,"by_position":[0]},
 {"digit":"2","count":0,"share":0,"expected_share":0.1,"by_position":[0]},{"digit":"3","count":0,"share":0,"expected_share":0.1,"by_position":[0]},
 {"digit":"4","count":0,"share":0,"expected_share":0.1,"by_position":[0]},{"digit":"5","count":0,"share":0,"expected_share":0.1,"by_position":[0]},
 {"digit":"6","count":0,"share":0,"expected_share":0.1,"by_position":[0]},{"digit":"7","count":0,"share":0,"expected_share":0.1,"by_position":[0]},
 {"digit":"8","count":0,"share":0,"expected_share":0.1,"by_position":[0]},{"digit":"9","count":0,"share":0,"expected_share":0.1,"by_position":[0]}],
"overdue_digits":[
 {"digit":"0","draws_since":null,"last_date":null},{"digit":"1","draws_since":null,"last_date":null},
 {"digit":"2","draws_since":null,"last_date":null},{"digit":"3","draws_since":null,"last_date":null},
 {"digit":"4","draws_since":null,"last_date":null},{"digit":"5","draws_since":null,"last_date":null},
 {"digit":"6","draws_since":null,"last_date":null},{"digit":"7","draws_since":null,"last_date":null},
 {"digit":"8","draws_since":null,"last_date":null},{"digit":"9","draws_since":null,"last_date":null}]}`

func TestStatsGolden(t *testing.T) {
	c, rows, _ := goldenCatalog(t)
	for _, test := range []struct {
		game     string
		from, to models.Date
		tod      models.Tod
		want     string
	}{
		{game: "aa-pick-3", from: models.FirstDate, to: models.LastDate, want: statsOfPick3},
		{game: "aa-pick-3", from: date(t, "2024-01-01"), to: date(t, "2024-01-02"), want: statsOfPick3},
		{game: "dd-pick-1", from: date(t, "2024-01-03"), to: models.LastDate, want: statsOfNothing},
		{game: "dd-pick-1", from: models.FirstDate, to: date(t, "2024-01-01"), want: statsOfNothing},
		{game: "dd-pick-1", from: models.LastDate, to: models.FirstDate, want: statsOfNothing},
		{game: "dd-pick-1", from: models.FirstDate, to: models.LastDate, tod: models.Night, want: statsOfNothing},
		{game: "dd-pick-1", from: models.FirstDate, to: models.LastDate, tod: 7, want: statsOfNothing},
	} {
		g, _ := c.Game(test.game)
		got, err := json.Marshal(g.Stats(test.from, test.to, test.tod))
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(test.want)); err != nil {
			t.Fatal(err)
		}
		if string(got) != want.String() {
			t.Errorf("%s %s to %s:\ngot  %s\nwant %s", test.game, test.from, test.to, got, want.String())
		}
	}
	for _, g := range c.Games() {
		for tod := range models.Night + 1 {
			for from := range models.Date(4) {
				for to := range models.Date(4) {
					compareStats(t, c, rows, g.ID, date(t, "2024-01-01")+from, date(t, "2024-01-01")+to, tod)
				}
			}
			compareStats(t, c, rows, g.ID, models.FirstDate, models.LastDate, tod)
		}
	}
}

func TestStatsOfAllDatesAreMadeOnce(t *testing.T) {
	c, _, _ := goldenCatalog(t)
	g, _ := c.Game("aa-pick-3")
	if g.Stats(models.FirstDate, models.LastDate, 0) != g.Stats(g.First(), g.Last(), 0) {
		t.Error("made twice")
	}
}

// In games long enough to have leaders between marks, fair and unfair ones, statistics of ranges that begin and end
// anywhere, of one tod or all, equal those counted draw by draw.
func TestStatsOfLongGames(t *testing.T) {
	t.Parallel()
	sources := map[string]func(rng *rand.Rand, i int) int{
		"fair":           func(rng *rand.Rand, _ int) int { return rng.IntN(100_000) },
		"few numbers":    func(rng *rand.Rand, _ int) int { return rng.IntN(8) * 11_111 },
		"favourites":     func(rng *rand.Rand, _ int) int { return min(rng.IntN(200_000), rng.IntN(200_000), 99_999) },
		"in turn":        func(_ *rand.Rand, i int) int { return i % 100_000 },
		"always the one": func(*rand.Rand, int) int { return 4_711 },
		"changing":       func(rng *rand.Rand, i int) int { return (i/5000*317 + rng.IntN(60)) % 100_000 },
	}
	for name, number := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, 5))
			b := catalog.NewBuilder(models.DataVersion{})
			var rows []row
			first, days := date(t, "1980-01-01"), 0
			for _, digits := range []int{4, 5} {
				id := fmt.Sprintf("long-%d", digits)
				g := b.Game(game(id, digits))
				draws := 9_000 * digits
				days = draws / 4
				for i := range draws {
					r := row{game: id, date: first + models.Date(i/4), tod: []models.Tod{models.Morning, models.Day, models.Evening, models.Night}[i%4], seq: 1}
					r.number = fmt.Sprintf("%05d", number(rng, i))[5-digits:]
					if err := g.Add(r.date, r.tod, r.seq, []byte(r.number)); err != nil {
						t.Fatal(err)
					}
					rows = append(rows, r)
				}
			}
			c, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range c.Games() {
				if name != "in turn" && (g.Leaders(0) == 0 || g.Leaders(models.Evening) == 0) { // there, too many numbers tie
					t.Errorf("%s has no leaders: the test shows nothing", g.ID)
				}
			}
			for i := range 40 {
				from, to := first+models.Date(rng.IntN(days)), first+models.Date(rng.IntN(days))
				switch {
				case i%4 == 0:
					from, to = first+models.Date(rng.IntN(days/20)), first+models.Date(days-1-rng.IntN(days/20))
				case i%5 == 0: // around the first two marks
					from, to = first+models.Date(rng.IntN(days/60)), first+models.Date(days/30+rng.IntN(days/10))
				}
				tod := models.Tod(0)
				if i%3 == 0 {
					tod = models.Evening
				}
				compareStats(t, c, rows, fmt.Sprintf("long-%d", 4+i%2), min(from, to), max(from, to), tod)
			}
		})
	}
}

// Ranges of one time of day that end between any two draws, with numbers that are counted one by one.
func TestStatsOfEveryRange(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	var rows []row
	first, days := date(t, "2024-01-01"), models.Date(120)
	for day := range days {
		for _, tod := range []models.Tod{models.Morning, models.Evening} {
			if rng.IntN(10) > 0 {
				rows = append(rows, row{"aa", first + day, tod, 1, fmt.Sprintf("%04d", rng.IntN(10_000))})
			}
		}
	}
	c := build(t, []models.Game{game("aa", 4)}, rows)
	for day := range days {
		for _, tod := range []models.Tod{models.Morning, models.Evening} {
			compareStats(t, c, rows, "aa", first, first+day, tod)
			compareStats(t, c, rows, "aa", first+day, first+day+40, tod)
		}
	}
}

// Numbers that lead between two marks may lose their lead by draws that a range leaves out at its end: then a smaller
// number with as many draws comes before them. And with few numbers, one drawn only once is listed.
func TestStatsOfLostLeads(t *testing.T) {
	t.Parallel()
	const draws, leaders = 8_000, 12
	first := date(t, "1980-01-01")
	numbers := make([]int, draws)
	for i := range numbers {
		numbers[i] = 2_000 + i
	}
	for k := range leaders { // three times early, and once more in every hundred from 2,500 on
		for _, at := range []int{100, 200, 300} {
			numbers[at+k] = 1_900 + k
		}
		for part := 2_500; part < draws; part += 100 {
			numbers[part+k] = 1_900 + k
		}
	}
	for _, at := range []int{400, 500, 600, 700, 800} {
		numbers[at] = 5
	}
	few := make([]int, draws)
	for i := range few {
		few[i] = i % 3 * 1_111
	}
	few[50] = 9
	rows := map[string][]row{}
	for name, list := range map[string][]int{"aa": numbers, "bb": few} {
		for i, number := range list {
			rows[name] = append(rows[name], row{name, first + models.Date(i), models.Day, 1, fmt.Sprintf("%04d", number%10_000)})
		}
	}
	c := build(t, []models.Game{game("aa", 4), game("bb", 4)}, slices.Concat(rows["aa"], rows["bb"]))
	for to := models.Date(2_400); to < 6_000; to += 29 {
		compareStats(t, c, rows["aa"], "aa", first, first+to, 0)
		compareStats(t, c, rows["bb"], "bb", first, first+to, 0)
	}
}
