package jobs

import (
	"testing"
	"time"

	"lottery/models"
)

// A time of day that has ended, or has yet to begin, does not make a game look behind: neither in its freshness nor by
// the date shown beside the expected one. It counts if draws from before its end are missing.
func TestFreshnessOfTimesOfDayThatEnd(t *testing.T) {
	t.Parallel()
	day := func(text string) models.Date {
		t.Helper()
		d, err := models.ParseDate(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ended, begins := day("2026-03-05"), day("2026-05-01")
	g := models.Game{
		ID: "va-pick-3", Timezone: "America/New_York", Tods: models.TodSet(0).With(models.Day).With(models.Evening).With(models.Night),
		DrawDays: models.DrawDays{{Tods: []string{"Day"}, To: &ended}, {Tods: []string{"Evening"}, From: &begins}, {Tods: []string{"Night"}}},
	}
	for _, c := range []struct {
		now, day, night string // the newest draws of that day
		newest          string
		fresh           bool
	}{
		{"2026-03-10", "2026-03-05", "2026-03-09", "2026-03-09", true},
		{"2026-03-10", "2026-03-04", "2026-03-09", "2026-03-04", false},
		{"2026-03-10", "2026-03-05", "2026-03-08", "2026-03-08", false},
		{"2026-04-20", "2026-03-04", "2026-04-19", "2026-04-19", true}, // long over
	} {
		now := day(c.now).Time().Add(20 * time.Hour)
		f := freshnessOf(&g, now, map[models.Tod]models.Date{models.Day: day(c.day), models.Night: day(c.night)})
		if f.Fresh != c.fresh || f.Newest == nil || *f.Newest != day(c.newest) || f.Expected == nil || *f.Expected != day(c.now)-1 {
			t.Errorf("on %s, with %s and %s: fresh %v, newest %v, expected %v", c.now, c.day, c.night, f.Fresh, f.Newest, f.Expected)
		}
	}
}
