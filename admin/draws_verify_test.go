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

// Impossible draws in the database are reported, and can be removed or corrected.
func TestVerifyFindsWhatCannotBe(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	d.exec(`INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at) VALUES
		('va-pick-3', '2020-05-04', 3, 1, '007', 'csv', '2020-05-05'),
		('va-pick-3', '2020-05-04', 6, 1, '07', 'csv', '2020-05-05'),
		('va-pick-3', '2020-05-05', 1, 1, '00a', 'csv', '2020-05-05'),
		('va-pick-3', '2020-13-45', 3, 1, '007', 'csv', '2020-05-05'),
		('va-pick-3', '2026-03-05', 3, 1, '007', 'csv', '2020-05-05'),
		('va-pick-3', '2026-03-06', 3, 1, '007', 'csv', '2020-05-05');
		INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at, addons) VALUES ('va-pick-3', '2020-05-06', 3, 1, '123', 'csv', '2020-05-05', '{bad')`)
	out, messages := d.run(1, "draws", "verify", "--game", "va-pick-3", "-o", "json")
	var list []struct {
		Draws    int    `json:"draws"`
		Last     string `json:"last"`
		Problems []struct {
			Date, Tod, Problem string
			Sequence           int
		} `json:"problems"`
		OffSchedule []any `json:"off_schedule"` // none: what is impossible is only that
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for _, p := range list[0].Problems {
		got = append(got, p.Date+" "+p.Tod+": "+p.Problem)
	}
	want := []string{
		`2020-05-04 Night: number "07" does not have 3 digits`,
		`2020-05-05 Morning: number "00a" does not have 3 digits`,
		`2020-05-05 Morning: the game does not draw at Morning (but Day,Night)`,
		`2020-05-06 Day: add-ons "{bad" are not a JSON object of texts: UPDATE draws SET addons = '' WHERE game_id = 'va-pick-3' AND date = '2020-05-06' AND tod = 3 AND sequence = 1`,
		`2020-13-45 Day: date: 2020-13-45 is not a valid date; lotteryadmin cannot name it: DELETE FROM draws WHERE game_id = 'va-pick-3' AND date = '2020-13-45'`,
		`2026-03-06 Day: date is after tomorrow`, // it is 2026-03-04 in Virginia
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || len(list[0].OffSchedule) != 0 || list[0].Draws != 7 || list[0].Last != "2026-03-05" {
		t.Errorf("%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
	}
	if !strings.Contains(messages, "6 of the stored draws are impossible") {
		t.Error(messages)
	}
	if _, messages := d.run(1, "draws", "export"); !strings.Contains(messages, "add-ons cannot be read: `lotteryadmin draws verify` shows which") {
		t.Error(messages)
	}
	d.run(0, "draws", "unset", "--game", "va-pick-3", "--date", "2020-05-05", "--tod", "Morning", "--reason", "impossible", "--yes")
	d.run(0, "draws", "set", "--game", "va-pick-3", "--date", "2020-05-04", "--tod", "Night", "--number", "070", "--reason", "typing mistake")
	_, messages = d.run(1, "draws", "verify")
	if !strings.Contains(messages, "3 of the stored draws are impossible") {
		t.Error(messages)
	}
}
