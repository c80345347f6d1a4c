package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// realFiles lists the files that each feed reads.
var realFiles = map[string]string{
	"ny-open-data": "new-york/*.csv", "nc-lottery": "north-carolina/*.csv", "va-lottery": "virginia/*.txt", "tx-lottery": "texas/*.csv",
}

// realDraw is a draw as this test reads it, and how it is written as a record.
type realDraw struct {
	feed, game, date, tod string
	sequence              int
	number                string
}

var realNames = map[string]string{
	"ny-numbers": "New York Numbers", "ny-win-4": "New York Win 4", "tx-pick-3": "Texas Pick 3", "tx-daily-4": "Texas Daily 4",
	"nc-pick-3": "North Carolina Pick 3", "nc-pick-4": "North Carolina Pick 4", "va-pick-3": "Virginia Pick 3", "va-pick-4": "Virginia Pick 4",
}

func (d *realDraw) record() map[string]any {
	var numbers, pairs []any
	for _, c := range d.number {
		numbers = append(numbers, string(c))
	}
	for n := range 100 {
		if pair := fmt.Sprintf("%02d", n); pair[0] <= pair[1] && holdsPair(d.number, pair) {
			pairs = append(pairs, pair)
		}
	}
	return map[string]any{
		"date": d.date, "tod": d.tod, "numbers": numbers, "number_str": d.number, "normalized": sortDigits(d.number),
		"digits_sum": float64(digitSum(d.number)), "game": d.game, "game_name": realNames[d.game],
		"game_type": "pick" + strconv.Itoa(len(d.number)), "pairs_2dp": pairs,
	}
}

func digitSum(number string) (sum int) {
	for _, c := range number {
		sum += int(c - '0')
	}
	return sum
}

func sortDigits(number string) string {
	b := []byte(number)
	slices.Sort(b)
	return string(b)
}

// holdsPair reports whether both digits of pair are in number, in two different places.
func holdsPair(number, pair string) bool {
	if pair[0] == pair[1] {
		return strings.Count(number, pair[:1]) >= 2
	}
	return strings.Contains(number, pair[:1]) && strings.Contains(number, pair[1:])
}

var realTods = []string{"Morning", "Midday", "Day", "Afternoon", "Evening", "Night"}

func newestFirst(a, b realDraw) int {
	return cmp.Or(cmp.Compare(b.date, a.date), cmp.Compare(slices.Index(realTods, b.tod), slices.Index(realTods, a.tod)),
		cmp.Compare(a.game, b.game), cmp.Compare(b.sequence, a.sequence))
}

// realReading reads the files in the plainest way, relying on what exactly these files look like.
func realReading(t *testing.T, folder string) (draws []realDraw, rejected map[string]map[string]int) {
	t.Helper()
	rejected = map[string]map[string]int{"ny-open-data": {}, "nc-lottery": {}, "va-lottery": {}, "tx-lottery": {}}
	var all []realDraw
	read := map[string]func(t *testing.T, path string, add func(realDraw), reject func(string)){
		"ny-open-data": readNewYork, "nc-lottery": readNorthCarolina, "va-lottery": readVirginia, "tx-lottery": readTexas,
	}
	for feed, pattern := range realFiles {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			read[feed](t, file, func(d realDraw) { d.feed = feed; all = append(all, d) }, func(reason string) { rejected[feed][reason]++ })
		}
	}
	// Two numbers for one slot: none of its lines counts.
	numbers := map[string]map[string]bool{}
	slot := func(d realDraw) string { return fmt.Sprint(d.game, d.date, d.tod, d.sequence) }
	for _, d := range all {
		if numbers[slot(d)] == nil {
			numbers[slot(d)] = map[string]bool{}
		}
		numbers[slot(d)][d.number] = true
	}
	for _, d := range all {
		if len(numbers[slot(d)]) > 1 {
			rejected[d.feed]["conflict"]++
		} else {
			draws = append(draws, d)
		}
	}
	return draws, rejected
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func isoDate(t *testing.T, text, form string) string {
	t.Helper()
	at, err := time.Parse(form, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.Format("2006-01-02")
}

func readNewYork(t *testing.T, path string, add func(realDraw), reject func(string)) {
	t.Helper()
	for _, row := range readCSV(t, path)[1:] {
		for i, c := range []struct {
			game, tod string
			digits    int
		}{{"ny-numbers", "Midday", 3}, {"ny-numbers", "Evening", 3}, {"ny-win-4", "Midday", 4}, {"ny-win-4", "Evening", 4}} {
			number, sum := strings.TrimSpace(row[1+2*i]), strings.TrimSpace(row[2+2*i])
			if number == "" {
				continue
			}
			number = strings.Repeat("0", c.digits-len(number)) + number
			if sum != "" && sum != strconv.Itoa(digitSum(number)) {
				reject("sum_mismatch")
				continue
			}
			add(realDraw{game: c.game, date: isoDate(t, row[0], "01/02/2006"), tod: c.tod, sequence: 1, number: number})
		}
	}
}

func readNorthCarolina(t *testing.T, path string, add func(realDraw), reject func(string)) {
	t.Helper()
	digits := 4
	if strings.Contains(path, "pick3") {
		digits = 3
	}
	for _, row := range readCSV(t, path)[1:] {
		if len(row) < 3 {
			continue
		}
		tod := map[string]string{"D": "Day", "E": "Evening"}[row[1]]
		if tod == "" {
			reject("bad_tod")
			continue
		}
		sequence := 1
		if digits == 3 && row[len(row)-1] == "D" {
			sequence = 2
		}
		add(realDraw{game: fmt.Sprintf("nc-pick-%d", digits), date: isoDate(t, row[0], "01/02/2006"), tod: tod, sequence: sequence, number: strings.Join(row[2:2+digits], "")})
	}
}

func readVirginia(t *testing.T, path string, add func(realDraw), _ func(string)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	game := "va-pick-4"
	if strings.Contains(path, "pick3") {
		game = "va-pick-3"
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSpace(line), ";")
		if strings.Count(parts[0], "/") != 2 {
			continue
		}
		for _, part := range parts[1:] {
			tod, number, _ := strings.Cut(part, ":")
			add(realDraw{game: game, date: isoDate(t, parts[0], "1/2/2006"), tod: strings.TrimSpace(tod), sequence: 1, number: strings.ReplaceAll(strings.TrimSpace(number), ",", "")})
		}
	}
}

func readTexas(t *testing.T, path string, add func(realDraw), _ func(string)) {
	t.Helper()
	for _, row := range readCSV(t, path) {
		game, digits := "tx-pick-3", 3
		if strings.HasPrefix(row[0], "Daily 4") {
			game, digits = "tx-daily-4", 4
		}
		words := strings.Fields(row[0])
		add(realDraw{game: game, date: isoDate(t, strings.Join(row[1:4], "/"), "1/2/2006"), tod: words[len(words)-1], sequence: 1, number: strings.Join(row[4:4+digits], "")})
	}
}
