package configs_test

import (
	"slices"
	"testing"
	"time"

	"lottery/configs"
	"lottery/models"
)

func TestGamesOfTheProduct(t *testing.T) {
	t.Parallel()
	games, err := configs.Games()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ name, kind, tods string }{
		"ny-numbers": {"New York Numbers", "pick3", "Midday,Evening"},
		"ny-win-4":   {"New York Win 4", "pick4", "Midday,Evening"},
		"tx-pick-3":  {"Texas Pick 3", "pick3", "Morning,Day,Evening,Night"},
		"tx-daily-4": {"Texas Daily 4", "pick4", "Morning,Day,Evening,Night"},
		"nc-pick-3":  {"North Carolina Pick 3", "pick3", "Day,Evening"},
		"nc-pick-4":  {"North Carolina Pick 4", "pick4", "Day,Evening"},
		"va-pick-3":  {"Virginia Pick 3", "pick3", "Day,Night"},
		"va-pick-4":  {"Virginia Pick 4", "pick4", "Day,Night"},
	}
	if len(games) != len(want) {
		t.Fatalf("%d games, want %d", len(games), len(want))
	}
	for _, g := range games {
		w := want[g.ID]
		if g.Name != w.name || g.Type() != w.kind || g.Tods.String() != w.tods {
			t.Errorf("%s is %q %s %s, want %+v", g.ID, g.Name, g.Type(), g.Tods, w)
		}
		checkDrawDays(t, &g)
	}
}

// checkDrawDays finds names that DrawDays.On would silently never match.
func checkDrawDays(t *testing.T, g *models.Game) {
	t.Helper()
	for _, p := range g.DrawDays {
		for _, name := range p.Days {
			if !slices.Contains([]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, name) {
				t.Errorf("%s: %q is not a weekday", g.ID, name)
			}
		}
		for _, name := range p.Tods {
			if tod, ok := models.ParseTod(name); !ok || !g.Tods.Has(tod) {
				t.Errorf("%s: %q is not a time of day of the game", g.ID, name)
			}
		}
		for _, off := range p.Except {
			if _, err := time.Parse("01-02", off); err != nil {
				t.Errorf("%s: %q is not a day of the form MM-DD", g.ID, off)
			}
		}
	}
}

func TestDrawDays(t *testing.T) {
	t.Parallel()
	games, err := configs.Games()
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]models.Game{}
	for _, g := range games {
		byID[g.ID] = g
	}
	for _, c := range []struct{ game, date, want string }{
		{"ny-numbers", "1980-09-01", ""}, // before the first draw
		{"ny-numbers", "1980-09-02", "Evening"},
		{"ny-numbers", "1980-09-07", ""}, // a Sunday of the first year
		{"ny-numbers", "1981-08-02", "Evening"},
		{"ny-numbers", "2001-12-01", "Evening"},
		{"ny-numbers", "2001-12-02", "Midday,Evening"},
		{"ny-numbers", "2010-12-25", ""},
		{"ny-numbers", "2011-12-25", "Midday,Evening"},
		{"ny-win-4", "1981-07-22", ""}, // Tuesdays and Thursdays only
		{"ny-win-4", "1981-07-23", "Evening"},
		{"ny-win-4", "1984-01-04", ""}, // a Wednesday
		{"tx-pick-3", "1993-10-23", ""},
		{"tx-pick-3", "1993-10-25", "Night"},
		{"tx-pick-3", "2002-04-27", "Night"},
		{"tx-pick-3", "2002-04-29", "Day,Night"},
		{"tx-daily-4", "2007-09-29", ""},
		{"tx-daily-4", "2007-10-01", "Day,Night"},
		{"tx-pick-3", "2013-09-08", ""},
		{"tx-pick-3", "2013-09-07", "Day,Night"},
		{"tx-pick-3", "2013-09-09", "Morning,Day,Evening,Night"},
		{"va-pick-3", "2006-12-31", ""},
		{"va-pick-3", "2007-01-07", "Day,Night"},
		{"nc-pick-3", "2011-02-20", "Evening"},
		{"nc-pick-3", "2011-02-27", "Day,Evening"},
	} {
		d, err := models.ParseDate(c.date)
		if err != nil {
			t.Fatal(err)
		}
		g := byID[c.game]
		if got := g.DrawDays.On(d, g.Tods).String(); got != c.want {
			t.Errorf("%s on %s (%s): %q, want %q", c.game, c.date, d.Weekday(), got, c.want)
		}
	}
}
