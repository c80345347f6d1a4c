package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// The contract gives dates no bounds: on any day that the calendar has, there are draws or there are none. Programs
// write the first and the last day that they know for "since ever" and "until whenever".
func TestAnyCalendarDateIsABound(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b := catalog.NewBuilder(models.DataVersion{Number: 1, Token: "dates"})
	game := b.Game(models.Game{ID: "old", Name: "Old", Digits: 3, Jurisdiction: "XX", Timezone: "UTC"})
	for _, date := range []models.Date{models.FirstDate, models.NewDate(2010, 3, 4), models.LastDate} {
		if err := game.Add(date, models.Evening, 1, []byte("123")); err != nil {
			t.Fatal(err)
		}
	}
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s.live.Swap(cat)
	ask := func(uri string) []byte {
		t.Helper()
		res := s.get(t, uri, nil)
		if res.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", uri, res.Code, res.Body)
		}
		return res.Body.Bytes()
	}
	for _, c := range []struct {
		bounds string
		draws  int
	}{
		{"from=0001-01-01&to=9999-12-31", 3},
		{"from=1899-12-31&to=2101-01-01", 3},
		{"from=0000-01-01", 3},
		{"to=9999-12-31", 3},
		{"to=2101-01-01", 3},
		{"from=0001-01-01&to=2010-03-03", 1},
		{"from=2010-03-05&to=9999-12-31", 1},
		{"from=2101-01-01", 0},
		{"from=9999-12-31&to=9999-12-31", 0},
		{"from=2101-01-01&to=9999-12-31", 0},
		{"to=1899-12-31", 0},
		{"from=0001-01-01&to=1899-12-31", 0},
	} {
		for _, list := range []string{"search?number=321", "by-sum?game=old&sum=6", "by-pair?game=old&pair=13"} {
			var got struct {
				Draws []json.RawMessage
				Total int
			}
			if err := json.Unmarshal(ask("/v1/draws/"+list+"&"+c.bounds), &got); err != nil || len(got.Draws) != c.draws || got.Total != c.draws {
				t.Errorf("%s&%s: %d of %d draws (%v), want %d", list, c.bounds, len(got.Draws), got.Total, err, c.draws)
			}
		}
		var got struct {
			Total int `json:"total_draws"`
		}
		stats := ask("/v1/stats?game=old&" + c.bounds)
		if err := json.Unmarshal(stats, &got); err != nil || got.Total != c.draws {
			t.Errorf("stats&%s: %d draws (%v), want %d", c.bounds, got.Total, err, c.draws)
		}
		if all := ask("/v1/stats?game=old"); c.draws == 3 && !bytes.Equal(stats, all) {
			t.Errorf("stats&%s differ from those of everything", c.bounds)
		}
	}
	for _, date := range []string{"0001-01-01", "1899-12-31", "2101-01-01", "9999-12-31"} {
		if got := string(ask("/v1/draws/date/" + date)); got != `{"draws":[],"total":0,"game":"all"}`+"\n" {
			t.Errorf("%s: %s", date, got)
		}
	}
}
