package catalog_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// realRows reads the files of North Carolina, Virginia and Texas under dir as simply as possible: lines
// that do not look like draws are skipped, and of two draws in one slot the first is kept unless the file
// marks the second as honoured.
func realRows(t *testing.T, dir string) []row {
	t.Helper()
	taken := map[row]bool{}
	var rows []row
	add := func(game string, digits, year, month, day int, tod models.Tod, seq int, number string) {
		date, err := models.CheckedDate(year, month, day)
		r := row{game: game, date: date, tod: tod, seq: seq}
		if err != nil || len(number) != digits || !models.ValidNumber(number) || taken[r] {
			return
		}
		taken[r] = true
		r.number = number
		rows = append(rows, r)
	}
	eachLine := func(pattern string, f func(line string)) {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, path := range paths {
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			for s := bufio.NewScanner(file); s.Scan(); {
				f(strings.TrimSpace(s.Text()))
			}
			file.Close()
		}
	}
	for _, digits := range []int{3, 4} {
		eachLine(fmt.Sprintf("north-carolina/pick%d*.csv", digits), func(line string) {
			f := strings.Split(strings.ReplaceAll(line, `"`, ""), ",")
			var y, m, d int
			if _, err := fmt.Sscanf(f[0], "%d/%d/%d", &m, &d, &y); err != nil || len(f) < 2+digits {
				return
			}
			tod, seq := models.Day, 1
			switch f[1] {
			case "D":
			case "E":
				tod = models.Evening
			default:
				return
			}
			if digits == 3 && f[len(f)-1] == "D" {
				seq = 2
			}
			add(fmt.Sprintf("nc-pick-%d", digits), digits, y, m, d, tod, seq, strings.Join(f[2:2+digits], ""))
		})
		part := regexp.MustCompile(`(Day|Night): ([0-9,]+)`)
		eachLine(fmt.Sprintf("virginia/pick%d*.txt", digits), func(line string) {
			var y, m, d int
			if _, err := fmt.Sscanf(line, "%d/%d/%d;", &m, &d, &y); err != nil {
				return
			}
			for _, found := range part.FindAllStringSubmatch(line, -1) {
				tod, _ := models.ParseTod(found[1])
				add(fmt.Sprintf("va-pick-%d", digits), digits, y, m, d, tod, 1, strings.ReplaceAll(found[2], ",", ""))
			}
		})
	}
	eachLine("texas/*.csv", func(line string) {
		f := strings.Split(line, ",")
		words := strings.Fields(f[0])
		if len(f) < 7 || len(words) != 3 {
			return
		}
		digits := int(words[1][0] - '0')
		tod, _ := models.ParseTod(words[2])
		var y, m, d int
		fmt.Sscan(f[1], &m)
		fmt.Sscan(f[2], &d)
		fmt.Sscan(f[3], &y)
		add("tx-"+strings.ToLower(words[0]), digits, y, m, d, tod, 1, strings.Join(f[4:4+digits], ""))
	})
	return rows
}

// The same questions about draws as lotteries published them: with gaps, double draws and real numbers.
func TestRealDrawsAgainstNaiveScan(t *testing.T) {
	dir := os.Getenv("LOTTERY_REAL_DRAWS")
	if dir == "" {
		t.Skip("LOTTERY_REAL_DRAWS is not set")
	}
	rows := realRows(t, dir)
	games := []models.Game{game("nc-pick-3", 3), game("nc-pick-4", 4), game("va-pick-3", 3), game("va-pick-4", 4), game("tx-pick", 3), game("tx-daily", 4)}
	c := build(t, games, rows)
	t.Logf("%d draws of %d games", c.TotalDraws(), len(c.Games()))
	if c.TotalDraws() < 50_000 {
		t.Fatalf("only %d draws were read", c.TotalDraws())
	}
	first, last, _ := c.Range()
	w := world{games: games, rows: rows, first: first, days: int(last-first) + 1, digits: "0123456789"}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 40 {
		q := w.randomQuestion(rng)
		size := 1 + rng.IntN(1000)
		whole := q.naive(rows)
		if pages := 1 + whole.total/size; pages > 8 { // the naive side scans everything for every page
			size = 1 + whole.total/8
		}
		compare(t, c, rows, q, func() int { return size }, []catalog.Position{w.position(rng), w.position(rng)})
		compareStats(t, c, rows, games[rng.IntN(len(games))].ID, q.from, q.to, q.tod)
	}
	for _, g := range c.Games() {
		compareStats(t, c, rows, g.ID, models.FirstDate, models.LastDate, 0)
		q := everything()
		q.allGames, q.games = false, []string{g.ID}
		dates := map[models.Date]bool{}
		for _, r := range q.naive(rows).rows {
			dates[r.date] = true
		}
		if want := int(g.Last()-g.First()) + 1 - len(dates); g.MissingDays() != want {
			t.Errorf("%s: %d missing days, want %d", g.ID, g.MissingDays(), want)
		}
	}
	if !slices.ContainsFunc(rows, func(r row) bool { return r.seq == 2 }) {
		t.Error("no double draw was read")
	}
}
