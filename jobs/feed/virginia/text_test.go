package virginia_test

import (
	"strings"
	"testing"

	"lottery/jobs/feed"
	"lottery/jobs/feed/feedtest"
	"lottery/jobs/feed/virginia"
)

var cases = []feedtest.Case{
	{
		Name: "as published, old and new",
		Text: "Results for Pick 3 \n8/30/2015; Day: 0,3,4; Night: 2,8,4 \n8/29/2015; Day: 0,6,8; Fireball: 5; Night: 9,1,7; Fireball: 2\n5/23/1989; Night: 5,2,2\n\n" +
			"All information is entered manually, and is subject to human error. \nTherefore, we can not guarantee it; sorry: 1-800-555.",
		Want: []string{
			"2: va-pick-3 2015-08-30 Day 034", "2: va-pick-3 2015-08-30 Night 284",
			"3: va-pick-3 2015-08-29 Day 068 fireball=5", "3: va-pick-3 2015-08-29 Night 917 fireball=2", "4: va-pick-3 1989-05-23 Night 522",
		},
	},
	{
		Name: "the title names the game, from there on",
		Text: "results FOR Pick 4\r\n8/30/2015;Day:0,3,4\r\nResults for Pick 5\r\n8/30/2015; Night: 1,2,3,4,5;\r\nResults for Cash 5\r\n8/30/2015; Night: 1,2,3,4,5\r\n",
		Want: []string{"2: va-pick-4 2015-08-30 Day 034", "4: va-pick-5 2015-08-30 Night 12345", "6: va-cash-5 2015-08-30 Night 12345"},
	},
	{
		Name: "without a title most well-formed draws tell the game, of the lines above it too",
		Text: "8/31/2015; Dusk: 1,2; Day: 1,2,33\n13/30/2015; Day: 1,2,3,4,5\n8/30/2015; Day: 4,4,0; Night: 1,5,8,5\n8/29/2015; Night: 0,3,4,5\n",
		Want: []string{
			`1: va-pick-4 2015-08-31 ?2="Dusk" 12`, `1: va-pick-4 2015-08-31 Day ?Day=" 1,2,33"`, `2: va-pick-4 ?1="13/30/2015" Day 12345`,
			"3: va-pick-4 2015-08-30 Day 440", "3: va-pick-4 2015-08-30 Night 1585", "4: va-pick-4 2015-08-29 Night 0345",
		},
	},
	{
		Name: "without a title, above another's, draws of no game do not count",
		Text: "8/31/2015; Day: 0,3; Night: 1,2,3,4,5,6\n8/30/2015; Day: 1; Night: 1,2,3\n8/29/2015; Day: 0,3\n\nResults for Pick 4\n8/30/2015; Day: 1,2,3\n",
		Want: []string{
			"1: va-pick-3 2015-08-31 Day 03", "1: va-pick-3 2015-08-31 Night 123456", "2: va-pick-3 2015-08-30 Day 1", "2: va-pick-3 2015-08-30 Night 123",
			"3: va-pick-3 2015-08-29 Day 03", "6: va-pick-4 2015-08-30 Day 123",
		},
	},
	{
		Name: "without a title half of the draws do not tell the game",
		Text: "8/31/2015; Day: 0,3,4; Night: 1,2,3,4\n",
		Want: []string{"1:  2015-08-31 Day 034", "1:  2015-08-31 Night 1234"},
	},
	{
		Name: "without a title the second hundred lines tell what the first does not",
		Text: "8/31/2015; Day: 0,3,4; Night: 1,2,3,4\n" + strings.Repeat("\n", 99) + "8/30/2015; Day: 0,3,4\n8/29/2015; Day: 0,3,4,5\n8/28/2015; Day: 0,3,4\n",
		Want: []string{
			"1:  2015-08-31 Day 034", "1:  2015-08-31 Night 1234",
			"101: va-pick-3 2015-08-30 Day 034", "102: va-pick-3 2015-08-29 Day 0345", "103: va-pick-3 2015-08-28 Day 034",
		},
	},
	{
		Name: "names, dates and balls that are none",
		Text: "Results for Pick 3\n8/30/15; Day: 0,3,4\n8/30/2015; day: 0,3,4; Midday: 1,2,3; Fireball: 7; : 1,2,3\n8/30/2015; Day: 034\n8/30/2015; Day: 0,3,\n8/30/2015; Day: ; Night: 0-3-4\nYesterday; Night: 1,2,3\n",
		Want: []string{
			`2: va-pick-3 ?1="8/30/15" Day 034`,
			`3: va-pick-3 2015-08-30 ?2="day" 034`, `3: va-pick-3 2015-08-30 ?3="Midday" 123 fireball=7`, `3: va-pick-3 2015-08-30 ?5="" 123`,
			`4: va-pick-3 2015-08-30 Day ?Day=" 034"`, `5: va-pick-3 2015-08-30 Day ?Day=" 0,3,"`, `6: va-pick-3 2015-08-30 Day ?Day=" "`, `6: va-pick-3 2015-08-30 Night ?Night=" 0-3-4"`,
			`7: va-pick-3 ?1="Yesterday" Night 123`,
		},
	},
	{
		Name: "pieces without anything between two draws are no draws",
		Text: "Results for Pick 3\n8/30/2015; ; Day: 0,3,4;;  ; Night: 2,8,4;\n",
		Want: []string{"2: va-pick-3 2015-08-30 Day 034", "2: va-pick-3 2015-08-30 Night 284"},
	},
	{
		Name: "the last line is cut off after a semicolon: its next draw is missing",
		Text: "Results for Pick 3\n8/30/2015; Day: 0,3,4; Night: 2,8,4;\n8/29/2015; Day: 0,3,4; ",
		Want: []string{"2: va-pick-3 2015-08-30 Day 034", "2: va-pick-3 2015-08-30 Night 284", "3: va-pick-3 2015-08-29 Day 034", "3: malformed[3] the file ends here, after a semicolon: get it again"},
	},
	{
		Name: "draws that no rule recognizes",
		Text: "Results for Pick 3\n8/30/2015; Day: 0,3,4\nAug 29 2015 Day 0 3 4\n", Want: []string{"2: va-pick-3 2015-08-30 Day 034"}, Skipped: []int{3},
	},
	{
		Name: "Fireballs: blank, wrong, twice, of no draw; pieces that are no draw",
		Text: "Results for Pick 3\n8/30/2015; Day: 0,3,4; Fireball: ; Night: 1,2,3; fireball: 12\n8/29/2015; Fireball: 1; Day: 0,3,4; Fireball: 1; Fireball: 2\n8/28/2015; Day: 0,3,4; huh; Night: 1,2,3\n",
		Want: []string{
			"2: va-pick-3 2015-08-30 Day 034", "2: malformed[5] a Fireball is one digit or blank",
			"3: malformed[2] a Fireball stands before any draw", "3: malformed[5] a second Fireball follows one draw",
			"4: va-pick-3 2015-08-28 Day 034", `4: malformed[3] "huh" is not a draw such as Day: 0,3,4`, "4: va-pick-3 2015-08-28 Night 123",
		},
	},
	{
		Name: "lines that begin as data does",
		Text: "Results for Pick 3\n8/30/2015\n8/30/2015; Day 0,3,4\n8/30/2015, Day: 0,3,4\n" + strings.Repeat("x", feed.MaxLine+1) + "\n8/30/2015; Day: 0,3,4\n",
		Want: []string{
			"2: malformed[] no draw such as Day: 0,3,4 follows the date", "3: malformed[] no draw such as Day: 0,3,4 follows the date",
			"4: malformed[] no draw such as Day: 0,3,4 follows the date", "5: malformed[] the line is longer than 64 KiB", "6: va-pick-3 2015-08-30 Day 034",
		},
	},
	{
		Name: "a date in another form is bad, and its line no notice",
		Text: "Results for Pick 3\n'8/30/2015'; Day: 0-3-4\nDate: 8/30/2015; Day: N; Night: 1-2-3\nAug 30, 2015; day: 034x\nNote 1; Fireball: x\nOpen 7 days; call: us\nPick 3 drawings are held daily; Day: 1:59 p.m.; Night: 11:00 p.m.\nAs of 9/1/2015; Fireball: see below\nCall 804-692-7777; Day: office\nClosed; Day: none\n8/30/2015; Day: 0,3,4\n",
		Want: []string{
			`2: va-pick-3 ?1="'8/30/2015'" Day ?Day=" 0-3-4"`, `3: va-pick-3 ?1="Date: 8/30/2015" Day ?Day=" N"`, `3: va-pick-3 ?1="Date: 8/30/2015" Night ?Night=" 1-2-3"`,
			`4: va-pick-3 ?1="Aug 30, 2015" ?2="day" ?day=" 034x"`, "11: va-pick-3 2015-08-30 Day 034",
		},
	},
	{
		Name: "lines that have lost the line break between them",
		Text: "Results for Pick 3\n12/29/1990; Night: 6,0,012/28/1990; Night: 4,4,2\n8/30/2015; Day: 0,3,4; 8/29/2015; Night: 9,1,7; Fireball: 2\n" +
			"8/30/2015; Day: 0,3,4; Date: 8/29/2015; Night: 9,1,7\n8/28/2015; Day: 1,2,3; Fireball: 4 8/27/2015; Day: 5,6,7\n1/2/2015\r1/1/2015; Day: 1,2,3\n",
		Want: []string{
			"2: malformed[2] " + melted, "2: malformed[3] " + melted,
			"3: va-pick-3 2015-08-30 Day 034", "3: malformed[3] " + melted, "3: malformed[4] " + melted, "3: malformed[5] " + melted,
			"4: va-pick-3 2015-08-30 Day 034", "4: malformed[3] " + melted, "4: malformed[4] " + melted,
			"5: va-pick-3 2015-08-28 Day 123", "5: malformed[3] " + melted, "5: malformed[4] " + melted,
			`6: va-pick-3 ?1="1/2/2015\r1/1/2015" Day 123`,
		},
	},
	{
		Name: "lines that are broken in two, or have lost their date",
		Text: "Results for Pick 3\n8/30/2015; Day: 0,3,4; \nNight: 2,8,4; Fireball: 5\n8/29/2015;\nDay: 0,6,8; huh; night: 9,1,7\n8/28/2015; Day: 0,6,8; Night: 9,1,7\nFireball: 2\n" +
			"Day: 1:59 p.m.; Night: 11:00 p.m.\nNight: none\n",
		Want: []string{
			"2: va-pick-3 2015-08-30 Day 034", `3: va-pick-3 ?1="" Night 284 fireball=5`, "4: malformed[] no draw such as Day: 0,3,4 follows the date",
			`5: va-pick-3 ?1="" Day 068`, `5: malformed[2] "huh" is not a draw such as Day: 0,3,4`, `5: va-pick-3 ?1="" ?3="night" 917`,
			"6: va-pick-3 2015-08-28 Day 068", "6: va-pick-3 2015-08-28 Night 917", "7: malformed[1] a Fireball stands before any draw",
		},
	},
	{
		Name: "a slash that is no date's",
		Text: "Results for Pick 3\n7/27/2016; Day: N/A; Night: 2,8,4\n7/28/2016; Day: 1,2,3; Fireball: N/A; Night: 2,8,4; Fireball: 5\n7/29/2016; Day: 1,2,3; Night: / 4,5,6; Fireball: n/1\n" +
			"7/30/2016; Day: 1,2,3; 7 / 29/2016; Night: 2,8,4\n",
		Want: []string{
			`2: va-pick-3 2016-07-27 Day ?Day=" N/A"`, "2: va-pick-3 2016-07-27 Night 284",
			"3: malformed[3] a Fireball is one digit or blank", "3: va-pick-3 2016-07-28 Night 284 fireball=5",
			"4: va-pick-3 2016-07-29 Day 123", "4: malformed[4] a Fireball is one digit or blank",
			"5: va-pick-3 2016-07-30 Day 123", "5: malformed[3] " + melted, "5: malformed[4] " + melted,
		},
	},
	{
		Name: "draws among stray characters, and lines of UTF-16, are no notices",
		Text: "Results for Pick 3\n8/30/2015; Day: 0,3,4\n> 8/29/2015;\xa0Day:\xa00,3,4;\xa0Night:\xa02,8,4\n\x008\x00/\x002\x008\x00;\x00 \x00D\x00a\x00y\x00:\n",
		Want: []string{
			"2: va-pick-3 2015-08-30 Day 034", `3: va-pick-3 ?1="> 8/29/2015" ?2="\xa0Day" ?` + "\xa0Day" + `="\xa00,3,4"`, `3: va-pick-3 ?1="> 8/29/2015" ?3="\xa0Night" ?` + "\xa0Night" + `="\xa02,8,4"`,
			"4: malformed[] the line has NUL characters, as UTF-16 text has that was appended to a file: save all of the file as UTF-8",
		},
	},
	{
		Name: "draws within markup are no notices",
		Text: "Results for Pick 3\n<tr><td>8/25/2015</td><td>Day: 5,3,3</td></tr>\n| 8/25/2015 | Night: 9,3,2 |\n[\"8/25/2015\", \"Day: 5,3,3\"]\n<p>As of 8/30/2015</p>\n",
		Want: []string{
			"2: malformed[] this seems to be a row within HTML or other markup: save the file as plain text",
			"3: malformed[] this seems to be a row within HTML or other markup: save the file as plain text",
			"4: malformed[] this seems to be a row within HTML or other markup: save the file as plain text",
		},
	},
	{
		Name: "a line that is too long is no title",
		Text: "Results for Pick 4" + strings.Repeat(" ", feed.MaxLine) + "\n8/30/2015; Day: 0,3,4\nResults for Pick 3" + strings.Repeat("x", feed.MaxLine) + "\n8/29/2015; Day: 0,3,4\n",
		Want: []string{
			"1: malformed[] the line is longer than 64 KiB", "2: va-pick-3 2015-08-30 Day 034",
			"3: malformed[] the line is longer than 64 KiB", "4: va-pick-3 2015-08-29 Day 034",
		},
	},
	{Name: "nothing of use", Text: "Results for Pick 3\n\nPlease; try: later\n", Want: nil},
}

const melted = "two lines have become one here: which date this belongs to cannot be told; give each line of the file its own again"

func TestParse(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, virginia.Form, cases)
}

func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	feedtest.Unusable(t, virginia.Form, map[string]string{"": `expected the title "Results for Pick 3"`, "<HTML>": "web page"})
}

func FuzzParse(f *testing.F) {
	feedtest.Fuzz(f, virginia.Form, cases, feed.BeginsWithDigit)
}
