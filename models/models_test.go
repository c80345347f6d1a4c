package models_test

import (
	"slices"
	"strings"
	"testing"
	"time"

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
		"\x00\xff":                 "",
		strings.Repeat("a", 1<<20): "",
	} {
		got := models.Nearest(word, games)
		if got == nil || strings.Join(got, " ") != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", word, got, want)
		}
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

// Every day of the accepted range agrees with the standard library's calendar.
func TestDateAgainstTheCalendar(t *testing.T) {
	t.Parallel()
	day := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := models.FirstDate; d <= models.LastDate; d++ {
		if got, want := d.String(), day.Format("2006-01-02"); got != want {
			t.Fatalf("day %d is %s, want %s", d, got, want)
		}
		if d.Weekday() != day.Weekday() {
			t.Fatalf("%s is a %s, want %s", d, d.Weekday(), day.Weekday())
		}
		back, err := models.ParseDate(d.String())
		if err != nil || back != d {
			t.Fatalf("ParseDate(%s) = %v, %v", d, back, err)
		}
		day = day.AddDate(0, 0, 1)
	}
	if !day.Equal(time.Date(2101, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Fatalf("the range ends at %s", day)
	}
}

func TestParseDateRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-01-00", "1899-12-31", "2101-01-01", "2024-1-05", "24-01-05", "2024/01/05", "2024-01-05T00:00:00", "+024-01-05", "２024-01-05", " 2024-01-05"} {
		if d, err := models.ParseDate(s); err == nil {
			t.Errorf("ParseDate(%q) = %s", s, d)
		}
	}
}

func TestDerivedDigits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		number, normalized string
		sum                int
		pairs              []string
	}{
		{"86691", "16689", 30, []string{"16", "18", "19", "66", "68", "69", "89"}},
		{"777", "777", 21, []string{"77"}},
		{"10", "01", 1, []string{"01"}},
		{"007", "007", 7, []string{"00", "07"}},
		{"5", "5", 5, []string{}},
	} {
		if got := models.Normalized(c.number); got != c.normalized {
			t.Errorf("Normalized(%s) = %s", c.number, got)
		}
		if got := models.DigitsSum(c.number); got != c.sum {
			t.Errorf("DigitsSum(%s) = %d", c.number, got)
		}
		if got := models.Pairs2DP(c.number); !slices.Equal(got, c.pairs) {
			t.Errorf("Pairs2DP(%s) = %q", c.number, got)
		}
	}
}

func TestParseEmail(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"ann@example.com": "ann@example.com", " Ann.O'Hara+x@Example.COM\n": "ann.o'hara+x@example.com", "jürgen@müller.example": "jürgen@müller.example",
		"": "", "ann": "", "ann@example": "", "Ann <ann@example.com>": "", "a nn@example.com": "", "ann@exa\u202Emple.com": "", "an\u200bn@example.com": "", "ann@example.com\x00": "",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ[@example.com": "", "ABCDEFGHIJKLMNOPQRSTUVWXYZ@example.com": "abcdefghijklmnopqrstuvwxyz@example.com",
		strings.Repeat("a", 250) + "@b.c": strings.Repeat("a", 250) + "@b.c", strings.Repeat("a", 251) + "@b.c": "", "an\xffn@example.com": "",
		"ann@[127.0.0.1]": "", "ann@[IPv6:::1]": "", "ann@[IPv6:::ffff:127.0.0.1]": "", "ann@127.0.0.1": "", "ann@127.1": "", "ann@127.0.0.0x1": "", "ann@localhost": "",
		"ann@example..com": "", "ann@.com": "", "ann@example.com.": "", "ann@4.example.com": "ann@4.example.com", "ann@3com.com": "ann@3com.com", "ann@x.1example": "",
	} {
		email, key, err := models.ParseEmail(address)
		if key != want || (err == nil) != (want != "") || (err == nil && email != strings.TrimSpace(address)) {
			t.Errorf("%q: %q %q %v", address, email, key, err)
		}
	}
}
