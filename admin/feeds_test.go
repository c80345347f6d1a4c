package admin_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lottery/models"
)

// The last error of a URL that was replaced, and the draws rejected there, are no longer reported.
func TestFeedMovedAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	st := d.open()
	for _, src := range []models.FeedSource{
		{Feed: models.FeedVirginia, Address: "http://127.0.0.1:1/before?gameId=1050", CheckedAt: &d.now, Error: "404 Not Found", Rejected: models.Texts{"a", "b"}},
		{Feed: models.FeedVirginia, Address: "http://127.0.0.1:1/now?gameId=1050", CheckedAt: &d.now, SucceededAt: &d.now, Rejected: models.Texts{"a"}},
		{Feed: models.FeedVirginia, Address: "http://127.0.0.1:1/now?gameId=1040", CheckedAt: &d.now, SucceededAt: &d.now},
	} {
		if err := st.SaveFeedSource(t.Context(), src); err != nil {
			t.Fatal(err)
		}
	}
	config := func(name, address string) (file string) {
		file = filepath.Join(d.dir, name)
		write(t, file, "feeds_sync: 15 * * * *\nfeeds_allow_private: true\n"+feedURLs("http://127.0.0.1:1", address))
		return file
	}
	for file, want := range map[string]struct {
		failed   bool
		rejected float64
	}{
		config("before.yaml", "http://127.0.0.1:1/before"): {true, 2}, config("now.yaml", "http://127.0.0.1:1/now"): {false, 1},
	} {
		for _, feed := range d.list("feeds", "status", "--config", file) {
			if feed["feed"] == models.FeedVirginia && ((feed["last_error"] != nil) != want.failed || feed["rejected"] != want.rejected) {
				t.Errorf("%s: %v", file, feed)
			}
		}
		out, _ := d.run(1, "doctor", "--config", file, "-o", "json") // no URL can be reached
		if got := strings.Contains(out, "va-lottery failed: http://127.0.0.1:1/before?gameId=1050: 404 Not Found"); got != want.failed {
			t.Errorf("%s: %s", file, out)
		}
	}
}

// For a feed with several URLs, feeds status names one that fails, and says how many others do.
func TestFeedsStatusNamesAddresses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	st := d.open()
	const base = "https://www.texaslottery.com/export/sites/lottery/Games/Pick_3/Winning_Numbers/pick3"
	for _, step := range []struct{ tod, fault, want string }{
		{"day", "", ""},
		{"night", "the server answers 404 Not Found", base + "night.csv: the server answers 404 Not Found"},
		{"evening", "timeout", base + "evening.csv: timeout; 1 of its other URLs failed too"},
	} {
		src := models.FeedSource{Feed: models.FeedTexas, Address: base + step.tod + ".csv", CheckedAt: &d.now, Error: step.fault}
		if err := st.SaveFeedSource(t.Context(), src); err != nil {
			t.Fatal(err)
		}
		out, _ := d.run(0, "feeds", "status", "-o", "json")
		var list []struct {
			Feed      string  `json:"feed"`
			LastError *string `json:"last_error"`
		}
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		if len(list) < 4 {
			t.Fatalf("feeds are missing: %s", out)
		}
		for _, feed := range list {
			switch {
			case feed.Feed != models.FeedTexas || step.want == "":
				if feed.LastError != nil {
					t.Errorf("%s: %s", feed.Feed, *feed.LastError)
				}
			case feed.LastError == nil || *feed.LastError != step.want:
				t.Errorf("after %s: %s", step.tod, out)
			}
		}
	}
}

// If draws stop for one time of day of one game, feeds status and doctor name it, although the game's other draws and
// the feed's other games are up to date.
func TestFeedsStatusNamesWhatIsBehind(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var draws strings.Builder
	draws.WriteString("game,date,tod,number\n")
	for _, game := range []string{"tx-pick-3,123", "tx-daily-4,1234"} {
		id, number, _ := strings.Cut(game, ",")
		for _, tod := range []string{"Morning", "Day", "Evening", "Night"} {
			for back := 1; back <= 20; back++ {
				if id == "tx-pick-3" && tod == "Day" && back < 10 {
					continue
				}
				draws.WriteString(id + "," + d.now.AddDate(0, 0, -back).Format(time.DateOnly) + "," + tod + "," + number + "\n")
			}
		}
	}
	d.stdin = draws.String()
	d.run(0, "draws", "import", "--feed", "csv", "-")
	const nowhere = "http://127.0.0.1:1"
	st := d.open()
	earlier, before := d.now.Add(-time.Hour), d.now.Add(-2*time.Hour)
	for file, at := range map[string][2]*time.Time{"day": {&d.now, &d.now}, "night": {&earlier, &before}, "evening": {}} {
		src := models.FeedSource{Feed: models.FeedTexas, Address: nowhere + "/Games/Pick_3/Winning_Numbers/pick3" + file + ".csv", CheckedAt: at[0], SucceededAt: at[1]}
		if err := st.SaveFeedSource(t.Context(), src); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(d.dir, "lottery.yaml")
	write(t, file, "feeds_sync: 15 * * * *\nfeeds_allow_private: true\n"+feedURLs(nowhere, nowhere))
	if out, _ := d.run(1, "doctor", "--config", file, "-o", "json"); !strings.Contains(out, "tx-lottery is behind (tx-pick-3 Day), last fetched 2026-03-04T03:06:07Z") ||
		!strings.Contains(out, "va-lottery has never been fetched") {
		t.Error(out)
	}
	out, _ := d.run(0, "feeds", "status", "--config", file, "-o", "json")
	var list []struct {
		Feed         string
		Fresh        bool
		Behind       string
		NewestDraw   string `json:"newest_draw"`
		ExpectedDraw string `json:"expected_draw"`
		LastChecked  string `json:"last_checked"`
		LastSuccess  string `json:"last_success"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range list {
		got[f.Feed] = fmt.Sprintf("%v %s; %s %s; %s %s", f.Fresh, f.Behind, f.NewestDraw, f.ExpectedDraw, f.LastChecked, f.LastSuccess)
	}
	for feed, want := range map[string]string{
		models.FeedTexas:    "false tx-pick-3 Day; 2026-02-22 2026-03-02; 2026-03-04T05:06:07Z 2026-03-04T03:06:07Z",
		models.FeedVirginia: "false va-pick-3, va-pick-4;  2026-03-02;  ",
	} {
		if got[feed] != want {
			t.Errorf("%s: %q, want %q", feed, got[feed], want)
		}
	}
}
