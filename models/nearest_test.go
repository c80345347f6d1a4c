package models_test

import (
	"strings"
	"testing"

	"lottery/models"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	games := []string{"nc-pick-3", "nc-pick-4", "ny-numbers", "ny-win-4", "tx-daily-4", "tx-pick-3", "va-pick-3", "va-pick-4"}
	for word, want := range map[string]string{
		"ny-win4":                  "ny-win-4",
		"NY-WIN-4":                 "ny-win-4",
		"ny_win_4":                 "ny-win-4",
		"yn-win-4":                 "ny-win-4",
		"ny-number":                "ny-numbers",
		"ny-numberss":              "ny-numbers",
		"ny":                       "ny-numbers ny-win-4",
		"nc-pick3":                 "nc-pick-3 nc-pick-4",
		"va-pick-5":                "va-pick-3 va-pick-4 nc-pick-3",
		"ca-pick-3":                "va-pick-3 nc-pick-3 tx-pick-3",
		"tx-pick-4":                "tx-pick-3 nc-pick-4 va-pick-4",
		"powerball":                "",
		"":                         "",
		"x":                        "",
		"n":                        "",
		"\x00\xff":                 "",
		strings.Repeat("a", 1<<20): "",
	} {
		got := models.Nearest(word, games)
		if got == nil || strings.Join(got, " ") != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
	if got := models.Nearest("coutn", []string{"cursor", "count"}); strings.Join(got, " ") != "count" { // one swap, not two changes
		t.Errorf("%q", got)
	}
}

func TestNearestGames(t *testing.T) {
	t.Parallel()
	var games []models.GameName
	for _, g := range [][3]string{
		{"nc-pick-3", "North Carolina Pick 3", "pick3"}, {"nc-pick-4", "North Carolina Pick 4", "pick4"},
		{"ny-numbers", "New York Numbers", "pick3"}, {"ny-win-4", "New York Win 4", "pick4"},
		{"tx-daily-4", "Texas Daily 4", "pick4"}, {"tx-pick-3", "Texas Pick 3", "pick3"},
		{"va-pick-3", "Virginia Pick 3", "pick3"}, {"va-pick-4", "Virginia Pick 4", "pick4"}, {"jp-numbers-5", "ナンバーズ 5", "pick5"},
	} {
		games = append(games, models.GameName{ID: g[0], Name: g[1], Type: g[2]})
	}
	for word, want := range map[string]string{
		"pick-3":                   "nc-pick-3 tx-pick-3 va-pick-3",
		"Pick 3":                   "nc-pick-3 tx-pick-3 va-pick-3",
		"pick-4":                   "nc-pick-4 va-pick-4",
		"pick3":                    "nc-pick-3 tx-pick-3 va-pick-3",
		"pick4":                    "nc-pick-4 va-pick-4 ny-win-4",
		"pick5":                    "jp-numbers-5",
		"win-4":                    "ny-win-4",
		"WIN_4":                    "ny-win-4",
		"win4":                     "ny-win-4",
		"Daily4":                   "tx-daily-4",
		"cash4":                    "",
		"win":                      "ny-win-4",
		"numbers":                  "ny-numbers jp-numbers-5",
		"ナンバーズ":                    "jp-numbers-5",
		"numbrs":                   "",
		"new-york-win-4":           "ny-win-4",
		"New York Win 4":           "ny-win-4",
		"new york win":             "ny-win-4",
		"Texas Pick 3":             "tx-pick-3 va-pick-3",
		"texas":                    "tx-daily-4 tx-pick-3",
		"new-york":                 "ny-win-4 ny-numbers",
		"Carolina Pick 3":          "nc-pick-3 va-pick-3",
		"tx":                       "tx-pick-3 tx-daily-4",
		"tx-da":                    "tx-daily-4",
		"n":                        "",
		"ny-win4":                  "ny-win-4",
		"NY-WIN-4":                 "ny-win-4",
		"yn-win-4":                 "ny-win-4",
		"ny-numberss":              "ny-numbers",
		"ny":                       "ny-win-4 ny-numbers",
		"nc-pick3":                 "nc-pick-3 nc-pick-4",
		"va-pick-5":                "va-pick-3 va-pick-4 nc-pick-3",
		"ca-pick-3":                "va-pick-3 nc-pick-3 tx-pick-3",
		"powerball":                "",
		"":                         "",
		"4":                        "",
		"-":                        "",
		"\x00\xff":                 "",
		strings.Repeat("a", 1<<20): "",
	} {
		got := models.NearestGames(word, games)
		if got == nil || strings.Join(got, " ") != want {
			t.Errorf("NearestGames(%.20q) = %q, want %q", word, got, want)
		}
	}
}
