package importer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/store"
)

// slot is where the tests below put their draws: 2 May 2024, Day.
var slot = models.Slot{GameID: "tx-pick-3", Date: models.NewDate(2024, time.May, 2), Tod: models.Day, Sequence: 1}

// texas returns a line of the Texas feed for slot.
func texas(number, fireball string) string {
	return "Pick 3 Day,5,2,2024," + strings.Join(strings.Split(number, ""), ",") + ",," + fireball + "\n"
}

// generic returns the same line as CSV.
func generic(number, fireball string) string {
	return csvText("tx-pick-3,2024-05-02,Day," + number + "," + fireball)
}

// genericBooster is generic with a second add-on.
func genericBooster(number, fireball, booster string) string {
	return strings.Replace(csvText("tx-pick-3,2024-05-02,Day,"+number+","+fireball+","+booster), "fireball", "fireball,booster", 1)
}

// TestAgainstTheStoredDraw: what one line does to a slot that is empty, or holds 123 of one feed or another.
func TestAgainstTheStoredDraw(t *testing.T) {
	onEach(t, func(b *bench) {
		operator := func(b *bench) {
			if _, err := b.st.SetDraw(context.Background(), storeDraw("123")); err != nil {
				b.Fatal(err)
			}
		}
		from := func(feed, content string) func(*bench) { return func(b *bench) { b.add(feed, content) } }
		otherLottery := func(b *bench) {
			b.add(models.FeedTexas, texas("123", "4"))
			b.query("UPDATE draws SET feed = 'va-lottery'")
		}
		for _, tc := range []struct {
			name   string
			before func(*bench)
			feed   string
			text   string
			counts string // without lines, draws, skipped
			draw   string
			was    string // the revision kept, if any
			detail string // of the rejection
		}{
			{"nothing there", func(*bench) {}, models.FeedTexas, texas("007", "4"), "inserted", "007 fireball=4 tx-lottery r1", "", ""},
			{"the same again", from(models.FeedTexas, texas("123", "4")), models.FeedTexas, texas("123", "4"), "unchanged", "123 fireball=4 tx-lottery r1", "", ""},
			{"same feed, other digits", from(models.FeedTexas, texas("123", "4")), models.FeedTexas, texas("124", "5"), "corrected", "124 fireball=5 tx-lottery r2", "1 123 {\"fireball\":\"4\"} tx-lottery tx-lottery", ""},
			{"other digits leave an add-on that they do not bring", from(models.FeedTexas, texas("123", "4")), models.FeedTexas, texas("124", ""), "corrected", "124 fireball=4 tx-lottery r2", "1 123 {\"fireball\":\"4\"} tx-lottery tx-lottery", ""},
			{"same feed, other add-on", from(models.FeedTexas, texas("123", "4")), models.FeedTexas, texas("123", "5"), "corrected", "123 fireball=5 tx-lottery r2", "1 123 {\"fireball\":\"4\"} tx-lottery tx-lottery", ""},
			{"same feed, an add-on more", from(models.FeedTexas, texas("123", "")), models.FeedTexas, texas("123", "5"), "corrected", "123 fireball=5 tx-lottery r2", "1 123  tx-lottery tx-lottery", ""},
			{"same feed, one add-on more and one the same", from(models.FeedCSV, generic("123", "4")), models.FeedCSV, genericBooster("123", "4", "x3"), "corrected", "123 booster=x3 fireball=4 csv r2", "1 123 {\"fireball\":\"4\"} csv csv", ""},
			{"an absent add-on erases nothing", from(models.FeedTexas, texas("123", "4")), models.FeedTexas, texas("123", ""), "unchanged", "123 fireball=4 tx-lottery r1", "", ""},
			{"a higher feed says the same", from(models.FeedCSV, generic("123", "4")), models.FeedTexas, texas("123", "4"), "unchanged", "123 fireball=4 csv r1", "", ""},
			{"a higher feed, other digits", from(models.FeedCSV, generic("123", "4")), models.FeedTexas, texas("124", ""), "corrected", "124 fireball=4 tx-lottery r2", "1 123 {\"fireball\":\"4\"} csv tx-lottery", ""},
			{"a higher feed, other add-on", from(models.FeedCSV, generic("123", "4")), models.FeedTexas, texas("123", "5"), "corrected", "123 fireball=5 tx-lottery r2", "1 123 {\"fireball\":\"4\"} csv tx-lottery", ""},
			{"a lower feed says the same", from(models.FeedTexas, texas("123", "4")), models.FeedCSV, generic("123", ""), "unchanged", "123 fireball=4 tx-lottery r1", "", ""},
			{"a lower feed, other add-on", from(models.FeedTexas, texas("123", "4")), models.FeedCSV, generic("123", "5"), "unchanged", "123 fireball=4 tx-lottery r1", "", ""},
			{"a lower feed, other digits", from(models.FeedTexas, texas("123", "4")), models.FeedCSV, generic("124", ""), "rejected", "123 fireball=4 tx-lottery r1", "", "the database holds 123 for tx-pick-3 2024-05-02 Day, from feed tx-lottery"},
			{"another lottery's feed says the same", otherLottery, models.FeedTexas, texas("123", "5"), "unchanged", "123 fireball=4 va-lottery r1", "", ""},
			{"another lottery's feed, other digits", otherLottery, models.FeedTexas, texas("124", ""), "rejected", "123 fireball=4 va-lottery r1", "", "the database holds 123 for tx-pick-3 2024-05-02 Day, from feed va-lottery"},
			{
				"digits that are not the game's", func(b *bench) {
					b.add(models.FeedTexas, texas("123", "4"))
					b.query("UPDATE draws SET number = '12'")
				},
				models.FeedTexas, texas("000", ""), "corrected", "000 fireball=4 tx-lottery r2", "1 12 {\"fireball\":\"4\"} tx-lottery tx-lottery", "",
			},
			{"an operator says the same", operator, models.FeedTexas, texas("123", "5"), "unchanged", "123 operator r1", "", ""},
			{"an operator says other digits", operator, models.FeedTexas, texas("124", ""), "overruled", "123 operator r1", "", ""},
			{"an operator says other digits than a CSV", operator, models.FeedCSV, generic("124", ""), "overruled", "123 operator r1", "", ""},
			{
				"an operator says that there was no draw", func(b *bench) {
					b.add(models.FeedTexas, texas("123", "4"))
					if _, err := b.st.UnsetDraw(context.Background(), slot, "not drawn"); err != nil {
						b.Fatal(err)
					}
				},
				models.FeedTexas, texas("123", "4"), "overruled", " fireball=4 operator r2 void", "1 123 {\"fireball\":\"4\"} tx-lottery operator", "",
			},
		} {
			b.query("DELETE FROM draws")
			b.query("DELETE FROM draw_revisions")
			b.now = noon
			tc.before(b)
			ingested := b.query("SELECT ingested_at FROM draws")
			version := b.version()
			b.now = noon.Add(time.Hour)
			result, rejections := b.run(importer.Options{Feed: tc.feed}, text("file", tc.text))

			s := result.Summary
			s.Lines, s.Draws, s.Skipped = 0, 0, 0
			if got := counts(s); got != tc.counts+" 1" {
				b.Errorf("%s: %s, want %s", tc.name, got, tc.counts)
			}
			wantLines(b, tc.name, b.draws(), "tx-pick-3 2024-05-02 Day #1 "+tc.draw)
			var was []string
			if tc.was != "" {
				was = []string{tc.was}
			}
			wantLines(b, tc.name+": revisions", b.query("SELECT revision, number, addons, feed, replaced_by FROM draw_revisions"), was...)
			if tc.detail == "" != (len(rejections) == 0) || (tc.detail != "" && !strings.Contains(rejections[0], tc.detail)) {
				b.Errorf("%s: rejections %q", tc.name, rejections)
			}
			if changed := s.Inserted+s.Corrected > 0; (b.version() != version) != changed {
				b.Errorf("%s: the version went from %v to %v", tc.name, version, b.version())
			}
			if len(ingested) > 0 {
				wantLines(b, tc.name+": first ingested", b.query("SELECT ingested_at FROM draws"), ingested...)
			}
		}
	})
}

func storeDraw(number string) store.OperatorDraw {
	return store.OperatorDraw{Slot: slot, Number: number, Reason: "by letter of the lottery"}
}
