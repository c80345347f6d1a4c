package admin_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A day without a draw is missing only if the game should have drawn, and gaps of a time of day end where it drew.
func TestVerifyNamesGaps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ game, draws, want string }{
		"over a Sunday":         {"tx-daily-4", "2010-05-08 Day, 2010-05-08 Night, 2010-05-10 Day", ""},
		"around a Sunday":       {"tx-daily-4", "2010-05-07 Day, 2010-05-07 Night, 2010-05-11 Day", "2010-05-08-2010-05-10 2"},
		"interrupted":           {"va-pick-3", "2020-05-01 Day, 2020-05-02 Day, 2020-05-03 Day, 2020-05-03 Night, 2020-05-04 Day, 2020-05-05 Day", "2020-05-01-2020-05-02 2 Night, 2020-05-04-2020-05-04 1 Night"},
		"the last day is young": {"va-pick-3", "2020-05-01 Day, 2020-05-01 Night, 2020-05-02 Day", ""},
	} {
		d := newDesk(t)
		text := "game,date,tod,number\n"
		for draw := range strings.SplitSeq(c.draws, ", ") {
			digits := c.game[len(c.game)-1:]
			text += c.game + "," + strings.ReplaceAll(draw, " ", ",") + "," + "1234"[:digits[0]-'0'] + "\n"
		}
		file := filepath.Join(d.dir, "draws.csv")
		write(t, file, text)
		d.run(0, "draws", "import", "--feed", "csv", file)
		out, _ := d.run(0, "draws", "verify", "--game", c.game, "-o", "json")
		var list []struct {
			MissingDays  int `json:"missing_days"`
			MissingDraws int `json:"missing_draws"`
			Gaps         []struct {
				From, To, Tod string
				Days          int
			}
		}
		if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		var got []string
		missing := 0
		for _, g := range list[0].Gaps {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s-%s %d %s", g.From, g.To, g.Days, g.Tod)))
			missing += g.Days
		}
		if strings.Join(got, ", ") != c.want || list[0].MissingDays+list[0].MissingDraws != missing {
			t.Errorf("%s: %s, want %s\n%s", name, strings.Join(got, ", "), c.want, out)
		}
	}
}
