package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// record is a draw record as the contract lists its fields.
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

// Whatever the encoder remembers between records, each is what encoding/json makes of it: games of every width by
// turns, on dates near and far.
func TestRecordsAreWhatEncodingJSONMakes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	b := catalog.NewBuilder(models.DataVersion{Token: "widths"})
	drawn := map[string]bool{} // records as JSON
	seen := map[models.Date]bool{}
	dates := []models.Date{0, models.FirstDate, models.LastDate, models.NewDate(2024, 2, 29)}
	for range 300 {
		dates = append(dates, models.NewDate(2023, 12, 1)+models.Date(rng.IntN(130)), models.FirstDate+models.Date(rng.IntN(int(models.LastDate-models.FirstDate))))
	}
	for _, date := range dates {
		seen[date] = true
	}
	for digits := 1; digits <= models.MaxDigits; digits++ {
		game := models.Game{ID: fmt.Sprintf("width-%d", digits), Name: `Wi"dth é`, Digits: digits, Jurisdiction: "XX", Timezone: "UTC"}
		g := b.Game(game)
		for date := range seen {
			number := fmt.Sprintf("%0*d", digits, rng.Uint64()%uint64(math.Pow10(digits)))
			if err := g.Add(date, models.Evening, 1, number); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(record{
				date, models.Evening, strings.Split(number, ""), number, models.Normalized(number), models.DigitsSum(number),
				game.ID, game.Name, game.Type(), models.Pairs2DP(number),
			})
			if err != nil {
				t.Fatal(err)
			}
			drawn[string(text)] = true
		}
	}
	s := newServer(t)
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s.live.Swap(cat)
	paths := map[string]int{}
	for digits := 1; digits <= models.MaxDigits; digits++ {
		paths[fmt.Sprintf("/v1/draws/recent?game=width-%d&count=1000", digits)] = len(seen)
	}
	for date := range seen {
		paths["/v1/draws/date/"+date.String()] = models.MaxDigits
	}
	for path, want := range paths {
		var got struct{ Draws []json.RawMessage }
		res := s.get(t, path, nil)
		if err := json.Unmarshal(res.Body.Bytes(), &got); err != nil || len(got.Draws) != want {
			t.Fatalf("%s: %d %v, %d draws, want %d", path, res.Code, err, len(got.Draws), want)
		}
		for _, text := range got.Draws {
			if !drawn[string(text)] {
				t.Fatalf("%s: %s", path, text)
			}
		}
	}
}
