package importer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lottery/jobs/importer"
	"lottery/models"
)

// TestWithinOneFile: lines of one file about the same slot.
func TestWithinOneFile(t *testing.T) {
	t.Parallel()
	const at = "nc-pick-3,2024-05-02,"
	for _, tc := range []struct {
		name       string
		rows       []string
		counts     string
		draws      []string
		rejections []string
	}{
		{
			"repeats are duplicates",
			[]string{at + "Day,123,", at + "Day,123,", at + "Evening,123,", at + "Day,123,"},
			"lines 5 draws 4 inserted 2 duplicate 2 skipped 1",
			[]string{"nc-pick-3 2024-05-02 Day #1 123 csv r1", "nc-pick-3 2024-05-02 Evening #1 123 csv r1"}, nil,
		},
		{
			"repeats may lack the add-on, whichever comes first",
			[]string{at + "Day,123,", at + "Day,123,7", at + "Day,123,"},
			"lines 4 draws 3 inserted 1 duplicate 2 skipped 1", []string{"nc-pick-3 2024-05-02 Day #1 123 fireball=7 csv r1"}, nil,
		},
		{
			"repeats may each have an add-on that the others lack",
			[]string{at + `Day,123,7,`, at + `Day,123,,x3`, at + `Day,123,,`, at + `Evening,123,7,x3`, at + `Evening,123,,x4`},
			"lines 6 draws 5 inserted 1 duplicate 2 rejected 2 skipped 1", []string{"nc-pick-3 2024-05-02 Day #1 123 booster=x3 fireball=7 csv r1"},
			[]string{
				`f:5 number "123" conflict: line 6 says 123 with other add-ons for nc-pick-3 2024-05-02 Evening`,
				`f:6 number "123" conflict: line 5 says 123 with other add-ons for nc-pick-3 2024-05-02 Evening`,
			},
		},
		{
			"two numbers: every line of the slot is rejected, repeats too, the others are kept",
			[]string{at + "Day,123,", at + "Evening,123,", at + "Day,124,", at + "Day,123,"},
			"lines 5 draws 4 inserted 1 rejected 3 skipped 1", []string{"nc-pick-3 2024-05-02 Evening #1 123 csv r1"},
			[]string{
				`f:2 number "123" conflict: line 4 says 124, line 5 says 123 for nc-pick-3 2024-05-02 Day`,
				`f:4 number "124" conflict: line 2 says 123, line 5 says 123 for nc-pick-3 2024-05-02 Day`,
				`f:5 number "123" conflict: line 2 says 123, line 4 says 124 for nc-pick-3 2024-05-02 Day`,
			},
		},
		{
			"one number with two values of an add-on contradicts itself too",
			[]string{at + "Day,123,7", at + "Day,123,", at + "Day,123,8"},
			"lines 4 draws 3 rejected 3 skipped 1", nil,
			[]string{
				`f:2 number "123" conflict: line 3 says 123 with other add-ons, line 4 says 123 with other add-ons for nc-pick-3 2024-05-02 Day`,
				`f:3 number "123" conflict: line 2 says 123 with other add-ons, line 4 says 123 with other add-ons for nc-pick-3 2024-05-02 Day`,
				`f:4 number "123" conflict: line 2 says 123 with other add-ons, line 3 says 123 with other add-ons for nc-pick-3 2024-05-02 Day`,
			},
		},
		{
			"draws rejected for another reason take no part",
			[]string{at + "Day,123,", at + "Day,1234,", at + "Day,999,77", at + "day,999,", "nc-pick-3,2023-02-30,Day,999,"},
			"lines 6 draws 5 inserted 1 rejected 4 skipped 1", []string{"nc-pick-3 2024-05-02 Day #1 123 csv r1"},
			[]string{
				`f:3 number "1234" bad_digits: North Carolina Pick 3 draws 3 digits`,
				`f:4 fireball "77" malformed: a Fireball is one digit or blank`,
				`f:5 tod "day" bad_tod: not one of the times of day of North Carolina Pick 3: Day,Evening`,
				`f:6 date "2023-02-30" bad_date: not a calendar date from 1900-01-01 on, written as 2024-09-30`,
			},
		},
		{
			"many lines: the detail names a few, and the one that contradicts",
			append(repeat(at+"Day,123,", 9), at+"Day,124,"),
			"lines 11 draws 10 rejected 10 skipped 1", nil,
			append(
				append([]string{`f:2 number "123" conflict: line 3 says 123, line 4 says 123, line 5 says 123, line 11 says 124, and 5 lines more for nc-pick-3 2024-05-02 Day`},
					`f:3 number "123" conflict: line 2 says 123, line 4 says 123, line 5 says 123, line 11 says 124, and 5 lines more for nc-pick-3 2024-05-02 Day`,
					`f:4 number "123" conflict: line 2 says 123, line 3 says 123, line 5 says 123, line 11 says 124, and 5 lines more for nc-pick-3 2024-05-02 Day`),
				append(conflictsOn(5, 10), `f:11 number "124" conflict: line 2 says 123, line 3 says 123, line 4 says 123, line 5 says 123, and 5 lines more for nc-pick-3 2024-05-02 Day`)...),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			file := csvText(tc.rows...)
			if strings.Count(tc.rows[0], ",") > strings.Count(at+"Day,123,", ",") {
				file = strings.Replace(file, "fireball", "fireball,booster", 1)
			}
			result, rejections := b.run(importer.Options{Feed: models.FeedCSV}, text("f", file))
			if got := counts(result.Summary); got != tc.counts {
				t.Errorf("%s, want %s", got, tc.counts)
			}
			wantLines(t, "draws", b.draws(), tc.draws...)
			wantLines(t, "rejections", rejections, tc.rejections...)
		})
	}
}

func repeat(row string, n int) []string {
	return strings.Split(strings.TrimSuffix(strings.Repeat(row+"\n", n), "\n"), "\n")
}

func conflictsOn(from, to int) []string {
	var lines []string
	for line := from; line <= to; line++ {
		lines = append(lines, fmt.Sprintf(`f:%d number "123" conflict: line 2 says 123, line 3 says 123, line 4 says 123, line 11 says 124, and 5 lines more for nc-pick-3 2024-05-02 Day`, line))
	}
	return lines
}

// TestReasons: each reason, and that the first in their order is reported if several apply.
func TestReasons(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.now = time.Date(2024, time.January, 2, 2, 0, 0, 0, time.UTC) // in New York it is still the first
	_, rejections := b.run(importer.Options{Feed: models.FeedCSV}, text("f", "game,date,tod,number,sequence\n"+strings.Join([]string{
		"ny-win-4,2024-01-02,Midday,0123,",   // tomorrow is good
		"no-game,2024-13-01,Dusk,x,0",        // everything is wrong
		"no-game,2024-13-01,Dusk,x,",         //
		"no-game,2024-01-04,Dusk,x,",         // after tomorrow in UTC
		"no-game,2024-01-03,Dusk,x,",         //
		",2024-01-01,Dusk,x,",                //
		"ny-win-4,2024-01-03,Dusk,x,",        // after tomorrow in New York
		"ny-win-4,2024-01-01,Dusk,x,",        //
		"ny-win-4,2024-01-01,,x,",            //
		"ny-win-4,2024-01-01,Morning,x,",     // a tod, but not of this game
		"ny-win-4,2024-01-01,Midday,x,",      //
		"ny-win-4,2024-01-01,Midday,123,",    // not padded: only New York's own feed is
		"ny-win-4,2024-01-01,Midday,00123,",  //
		"ny-win-4,2024-01-01,Midday,,",       //
		"ny-win-4,2024-01-01,Midday,１234,",   // a digit, but not of ASCII
		"ny-win-4,2024-01-01,Midday, 1234 ,", // good
	}, "\n")))
	wantLines(t, "rejections", shorten(rejections),
		`f:3 sequence "0" malformed`, `f:4 date "2024-13-01" bad_date`, `f:5 date "2024-01-04" future_date`,
		`f:6 game "no-game" unknown_game`, `f:7 game "" unknown_game`, `f:8 date "2024-01-03" future_date`, `f:9 tod "Dusk" bad_tod`, `f:10 tod "" bad_tod`, `f:11 tod "Morning" bad_tod`,
		`f:12 number "x" bad_digits`, `f:13 number "123" bad_digits`, `f:14 number "00123" bad_digits`, `f:15 number "" bad_digits`, "f:16 number \"１234\" bad_digits",
	)
	wantLines(t, "draws", b.draws(), "ny-win-4 2024-01-01 Midday #1 1234 csv r1", "ny-win-4 2024-01-02 Midday #1 0123 csv r1")
}

// shorten cuts the details off.
func shorten(rejections []string) []string {
	short := make([]string, len(rejections))
	for i, r := range rejections {
		short[i], _, _ = strings.Cut(r, ": ")
	}
	return short
}

// TestNewYork: padding, sums, and the good parts of bad rows.
func TestNewYork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result, rejections := b.run(importer.Options{Feed: models.FeedNYOpenData}, text("f",
		"Draw Date,Midday Daily #,Midday Daily Sum,Evening Daily #,Evening Daily Sum,Midday Win 4 #,Midday Win 4 Sum,Evening Win 4 #,Evening Win 4 Sum,Evening Win 4 Booster\n"+
			"05/01/2024,0,0,88,16,7,7,123,6,20\n"+ // all padded
			"05/02/2024,1234,,12a,,0,8,100,01,\n"+ // the last sum is right
			"05/03/2024,,5,1,one,12,4,,,\n"+
			"05/04/2024,,,,,,,,,\n"+
			"05/05/2024,12,,,,,,2519,,\n"+ // contradicted below, but for its Win 4
			"05/05/2024,405,,,,,,,,\n"))
	wantLines(t, "rejections", rejections,
		`f:3 Midday Daily # "1234" bad_digits: New York Numbers draws 3 digits`, `f:3 Evening Daily # "12a" bad_digits: New York Numbers draws 3 digits`,
		`f:3 Midday Win 4 Sum "8" sum_mismatch: the digits 0000 add up to 0`,
		`f:4 Midday Daily # "" bad_digits: New York Numbers draws 3 digits`, `f:4 Evening Daily Sum "one" sum_mismatch: the digits 001 add up to 1`,
		`f:4 Midday Win 4 Sum "4" sum_mismatch: the digits 0012 add up to 3`,
		`f:6 Midday Daily # "12" conflict: line 7 says 405 for ny-numbers 2024-05-05 Midday`, `f:7 Midday Daily # "405" conflict: line 6 says 012 for ny-numbers 2024-05-05 Midday`,
	)
	wantLines(t, "draws", b.draws(),
		"ny-numbers 2024-05-01 Midday #1 000 ny-open-data r1", "ny-numbers 2024-05-01 Evening #1 088 ny-open-data r1",
		"ny-win-4 2024-05-01 Midday #1 0007 ny-open-data r1", "ny-win-4 2024-05-01 Evening #1 0123 booster=20 ny-open-data r1",
		"ny-win-4 2024-05-02 Evening #1 0100 ny-open-data r1", "ny-win-4 2024-05-05 Evening #1 2519 ny-open-data r1",
	)
	if got := counts(result.Summary); got != "lines 7 draws 14 inserted 6 rejected 8 skipped 2" {
		t.Error(got)
	}
}

// TestOtherLotteries: what only their forms have.
func TestOtherLotteries(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		feed, text string
		rejections []string
		draws      []string
	}{
		{
			models.FeedNC,
			"Date,Day/Eve,Ball 1,Ball 2,Ball 3,DoubleDraw*\n05/01/2024,E,1,2,3,R\n05/01/2024,E,4,5,6,D\n05/02/2024,,4,5,6,D\n05/03/2024,E,4,5,6,D\n05/03/2024,E,4,5,7,D\n",
			[]string{
				`f:4 Day/Eve "" bad_tod`, `f:5 Ball 1 "4,5,6" conflict`, `f:6 Ball 1 "4,5,7" conflict`,
			},
			[]string{"nc-pick-3 2024-05-01 Evening #1 123 nc-lottery r1", "nc-pick-3 2024-05-01 Evening #2 456 nc-lottery r1"},
		},
		{
			models.FeedNC, "Date,Day/Eve,Ball 1,Ball 2,Ball 3,Ball 4\n05/01/2024,E,1,2,3,4\n\n05/01/2024,D,1,22,3,4\n",
			[]string{`f:4 Ball 2 "22" bad_digits`},
			[]string{"nc-pick-4 2024-05-01 Evening #1 1234 nc-lottery r1"},
		},
		{
			models.FeedVirginia, "5/1/2024; Dusk: 1,2; Day: 1,2,33\n5/2/2024; Day: 0,0,7; Fireball: 3; Night: 1,2,3,4\n5/2/2024; Day: 1,0,7\n5/4/2024; Night: 1,2,3\n",
			[]string{
				`f:1 2 "Dusk" bad_tod`, `f:1 Day " 1,2,33" bad_digits`, `f:2 Day "0,0,7" conflict`, `f:2 Night "1,2,3,4" bad_digits`, `f:3 Day "1,0,7" conflict`,
			},
			[]string{"va-pick-3 2024-05-04 Night #1 123 va-lottery r1"},
		},
		{
			models.FeedVirginia, "6/2/2024; Day: 0,3; Night: 1,1,1\n6/1/2024; Day: 0,3,5; Night: 1,1,2\n",
			[]string{`f:1 Day "0,3" bad_digits`},
			[]string{"va-pick-3 2024-06-01 Day #1 035 va-lottery r1", "va-pick-3 2024-06-01 Night #1 112 va-lottery r1", "va-pick-3 2024-06-02 Night #1 111 va-lottery r1"},
		},
		{
			models.FeedTexas, "Pick 3 Day,5,2,2024,0,0,7,9\nPick 3,5,2,2024,0,0,7,9\nPowerball,5,2,2024,1,2,3,4,5\nDaily 4 Night,5,2,2024,1,2,3,4\nDaily 4 Night,5,2,2024,1,2,3,5\n",
			[]string{
				`f:2 1 "Pick 3" bad_tod`, `f:3 1 "Powerball" unknown_game`, `f:4 5 "1,2,3,4" conflict`, `f:5 5 "1,2,3,5" conflict`,
			},
			[]string{"tx-pick-3 2024-05-02 Day #1 007 tx-lottery r1"},
		},
		// A malformed draw's rejection names a field and its content, or quotes the whole row.
		{
			models.FeedNC, "Date,Day/Eve,Ball 1,Ball 2,Ball 3,Fireball,DoubleDraw*\n05/01/2024,E,1,2,3,,R\n05/02/2024,E,1,2,3,,Q\n05/03/2024,E,1,2,3,x,R\n05/04/2024,E,1\n",
			[]string{`f:3 DoubleDraw* "Q" malformed`, `f:4 Fireball "x" malformed`, `f:5  "05/04/2024,E,1" malformed`},
			[]string{"nc-pick-3 2024-05-01 Evening #1 123 nc-lottery r1"},
		},
		{
			models.FeedVirginia, "Results for Pick 3\n5/1/2024; Fireball: 4; Day: 0,0,7; Fireball: 44; huh\n5/2/2024; Day: 0,0,7; Fireball: 3; Fireball: 5; Night: 1,2,3\n5/3/2024, Day:0,0,7\n",
			[]string{
				`f:2 2 " 4" malformed`, `f:2 4 " 44" malformed`, `f:2 5 " huh" malformed`, `f:3 4 " 5" malformed`, `f:4  "5/3/2024, Day:0,0,7" malformed`,
			},
			[]string{"va-pick-3 2024-05-02 Night #1 123 va-lottery r1"},
		},
		{
			models.FeedTexas, "Pick 3 Day,5,2,2024,0,0,7,9\nPick 3 Day,5,3,2024,0,0,7,9,77\nPick 3 Day,5,4,2024,0,0,7,9,7,x\nPick 3 Day,5,5\n",
			[]string{`f:2 9 "77" malformed`, `f:3 10 "x" malformed`, `f:4  "Pick 3 Day,5,5" malformed`},
			[]string{"tx-pick-3 2024-05-02 Day #1 007 tx-lottery r1"},
		},
		{
			models.FeedNYOpenData, `[{"draw_date":"2024-05-01T00:00:00.000","midday_daily":true,"evening_daily":"123","evening_daily_booster":false,"evening_win_4":"1234"}, 5]`,
			[]string{
				`f:1 midday_daily "true" malformed`, `f:1 evening_daily_booster "false" malformed`, `f:1  "5" malformed`,
			},
			[]string{"ny-win-4 2024-05-01 Evening #1 1234 ny-open-data r1"},
		},
	} {
		b := newBench(t)
		_, rejections := b.run(importer.Options{Feed: tc.feed}, text("f", tc.text))
		wantLines(t, tc.feed+": rejections", shorten(rejections), tc.rejections...)
		wantLines(t, tc.feed+": draws", b.draws(), tc.draws...)
	}
}
