package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// record is a draw record with the contract's fields.
type record struct {
	Date       models.Date `json:"date"`
	Tod        models.Tod  `json:"tod"`
	Numbers    []string    `json:"numbers"`
	NumberStr  string      `json:"number_str"`
	Normalized string      `json:"normalized"`
	DigitsSum  int         `json:"digits_sum"`
	Game       string      `json:"game"`
	GameName   string      `json:"game_name"`
	GameType   string      `json:"game_type"`
	Pairs2DP   []string    `json:"pairs_2dp"`
}

// fields returns the record as a line of CSV, without the match.
func (r *record) fields() []string {
	return []string{
		r.Date.String(), r.Tod.String(), strings.Join(r.Numbers, " "), r.NumberStr, r.Normalized, strconv.Itoa(r.DigitsSum),
		r.Game, r.GameName, r.GameType, strings.Join(r.Pairs2DP, " "),
	}
}

// Whatever the encoder caches between records, each is what encoding/json and encoding/csv produce: games of every
// width alternating, every time of day, dates near and far, and names of every length around that of a block.
func TestRecordsAreWhatTheStandardLibraryMakes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	b := catalog.NewBuilder(models.DataVersion{Token: "widths"})
	drawn := map[string]map[string]bool{"json": {}, "csv": {}} // records by form
	seen := map[models.Date]bool{}
	dates := []models.Date{0, models.FirstDate, models.LastDate, models.NewDate(2024, 2, 29)}
	for range 150 {
		dates = append(dates, models.NewDate(2023, 12, 1)+models.Date(rng.IntN(130)), models.FirstDate+models.Date(rng.IntN(int(models.LastDate-models.FirstDate))))
	}
	for _, date := range dates {
		seen[date] = true
	}
	games := []models.Game{}
	for digits := 1; digits <= models.MaxDigits; digits++ {
		games = append(games, models.Game{ID: fmt.Sprintf("width-%d", digits), Name: `Wi"dth, é`, Digits: digits})
	}
	for length := range 100 {
		games = append(games, models.Game{ID: fmt.Sprintf("name-%d", length), Name: "N" + strings.Repeat("n", length), Digits: 1 + length%models.MaxDigits})
	}
	perDate := map[models.Date]int{}
	paths := map[string]int{}
	for i, game := range games {
		game.Jurisdiction, game.Timezone = "XX", "UTC"
		g := b.Game(game)
		for date := range seen {
			if i >= models.MaxDigits && date%7 != 0 { // the games before cover all dates
				continue
			}
			number := fmt.Sprintf("%0*d", game.Digits, rng.Uint64()%uint64(math.Pow10(game.Digits)))
			tod := models.Tod(1 + rng.IntN(models.TodCount))
			if err := g.Add(date, tod, 1, []byte(number)); err != nil {
				t.Fatal(err)
			}
			perDate[date]++
			paths["/v1/draws/recent?count=1000&game="+game.ID]++
			r := record{
				date, tod, strings.Split(number, ""), number, models.Normalized(number), models.DigitsSum(number),
				game.ID, game.Name, game.Type(), models.Pairs2DP(number),
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			drawn["json"][string(text)] = true
			drawn["csv"][csvLine(t, r.fields())] = true
		}
	}
	s := newServer(t)
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s.live.Swap(cat)
	for date, count := range perDate {
		paths["/v1/draws/date/"+date.String()] = count
	}
	for path, want := range paths {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		var envelope struct{ Draws []json.RawMessage }
		if err := json.Unmarshal(s.get(t, path, nil).Body.Bytes(), &envelope); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var inJSON []string
		for _, text := range envelope.Draws {
			inJSON = append(inJSON, string(text))
		}
		lines := strings.SplitAfter(s.get(t, path+mark+"format=csv", nil).Body.String(), "\r\n")
		inNDJSON := strings.Split(strings.TrimSuffix(s.get(t, path+mark+"format=ndjson", nil).Body.String(), "\n"), "\n")
		if lines[0] != "date,tod,numbers,number_str,normalized,digits_sum,game,game_name,game_type,pairs_2dp\r\n" || lines[len(lines)-1] != "" {
			t.Fatalf("%s: CSV from %q to %q", path, lines[0], lines[len(lines)-1])
		}
		for _, got := range []struct {
			form    string
			records []string
		}{{"json", inJSON}, {"json", inNDJSON}, {"csv", lines[1 : len(lines)-1]}} {
			if len(got.records) != want {
				t.Fatalf("%s: %d draws in %s, want %d", path, len(got.records), got.form, want)
			}
			for _, text := range got.records {
				if !drawn[got.form][text] {
					t.Fatalf("%s: %s", path, text)
				}
			}
		}
	}
}

func csvLine(t *testing.T, fields []string) string {
	t.Helper()
	var text strings.Builder
	w := csv.NewWriter(&text)
	w.UseCRLF = true
	if err := w.Write(fields); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	return text.String()
}

// Records of a search say what matched, and are otherwise the same.
func TestSearchedRecords(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.live.Swap(manyDraws(t, 1))
	for form, ends := range map[string]map[string]string{
		"ndjson": {"": "]}", "exact": `],"match":"exact"}`, "box": `],"match":"box"}`},
		"csv":    {"": "\r", "exact": ",exact\r", "box": ",box\r"},
	} {
		all := map[string]bool{}
		for _, game := range []string{"many-0", "many-1", "many-2"} {
			for line := range strings.SplitSeq(s.get(t, "/v1/draws/history?year=2010&format="+form+"&game="+game, nil).Body.String(), "\n") {
				all[strings.TrimSuffix(line, ends[""])] = true
			}
		}
		found := map[string]int{}
		lines := strings.Split(s.get(t, "/v1/draws/search?number=1012&limit=1000&to=2010-12-31&format="+form, nil).Body.String(), "\n")
		for _, line := range lines[:len(lines)-1] {
			if strings.HasPrefix(line, "date,") {
				continue
			}
			match := "box"
			if strings.Contains(line, `"1012"`) || strings.Contains(line, ",1012,0112") {
				match = "exact"
			}
			found[match]++
			if rest, ok := strings.CutSuffix(line, ends[match]); !ok || !all[rest] {
				t.Fatalf("%s: %q", form, line)
			}
		}
		if found["exact"] == 0 || found["box"] == 0 {
			t.Fatalf("%s: found %v", form, found)
		}
	}
}
