package texas_test

import (
	"slices"
	"strings"
	"testing"

	"lottery/jobs/feed"
	"lottery/jobs/feed/feedtest"
	"lottery/jobs/feed/texas"
)

var cases = []feedtest.Case{
	{
		Name: "sum, sum and blank Fireball, blank sum and Fireball, both, neither",
		Text: "Pick 3 Morning,9,9,2013,3,9,8,20\nPick 3 Day,12,11,2015,6,5,5,16,\nPick 3 Evening,10,2,2023,1,1,5,,1\n" +
			"Pick 3 Night,10,2,2023,0,0,0,0,7\nPick 3 Night,10,3,2023,1,2,3",
		Want: []string{
			"1: tx-pick-3 2013-09-09 Morning 398", "2: tx-pick-3 2015-12-11 Day 655", "3: tx-pick-3 2023-10-02 Evening 115 fireball=1",
			"4: tx-pick-3 2023-10-02 Night 000 fireball=7", "5: tx-pick-3 2023-10-03 Night 123",
		},
	},
	{
		Name: "Daily 4, trailing commas, spaces, CRLF, a wrong sum",
		Text: "Daily 4 Morning,11,1,2023,3,3,9,4,,8\r\n Daily 4  Night , 5 ,16, 2012, 9 ,6,8,9,1,,,\r\nDaily 4 Day,5,16,2012,9,6,8,9\r\n",
		Want: []string{
			"1: tx-daily-4 2023-11-01 Morning 3394 fireball=8", "2: tx-daily-4 2012-05-16 Night 9689", "3: tx-daily-4 2012-05-16 Day 9689",
		},
	},
	{
		Name: "tods that are none; a title of a known game is no data, its name and time of day are",
		Text: "Pick 3,9,9,2013,3,9,8,20\nPick 3 Noon,9,9,2013,3,9,8,20\nPick 3 morning,9,9,2013,3,9,8,20\nPick 3 Past Winning Numbers\nPick 3 winners, thank you\nPick 3 Day\n",
		Want: []string{
			`1: tx-pick-3 2013-09-09 ?1="Pick 3" 398`, `2: tx-pick-3 2013-09-09 ?1="Pick 3 Noon" 398`, `3: tx-pick-3 2013-09-09 ?1="Pick 3 morning" 398`,
			"6: malformed[] the line has 1 field; the game's name, month, day, year and the balls make 7",
		},
	},
	{
		Name: "other games are named for what they are",
		Text: "Powerball,1,2,2020,5,10,15,20,25,3,2\nCash Five,1,2,2020,1,2,3,4,5\nPick 5 Night,1,2,2020,1,2,3,4,5\nAll or Nothing Morning,1,2,2020,1,2,3,4,5,6,7,8,9,10,11,12\nDaily 44 Day,1,2,2020,1,2\nNight,1,2,2020,1,2,3\n,1,2,2020,1,2,3\n",
		Want: []string{
			`1: tx-powerball 2020-01-02 ?1="Powerball" ?6="10"`, `2: tx-cash-five 2020-01-02 ?1="Cash Five" 12345`,
			"3: tx-pick-5 2020-01-02 Night 12345", `4: tx-all-or-nothing 2020-01-02 Morning ?14="10"`,
			"5: tx-daily-44 2020-01-02 Day 12", `6: tx-night 2020-01-02 ?1="Night" 123`, `7: tx- 2020-01-02 ?1="" 123`,
		},
	},
	{
		Name: "dates and balls that are none",
		Text: "Pick 3 Day,13,9,2013,3,9,8,20\nPick 3 Day,2,30,2013,3,9,8,20\nPick 3 Day,9,9,13,3,9,8,20\nPick 3 Day,,,,3,9,8,20\nPick 3 Day,9,9,2013,3,19,8,20\nPick 3 Day,9,9,2013,3,,8,20\nPick 3 Day,9,9,2013,3,9,x,20\n",
		Want: []string{
			`1: tx-pick-3 ?2="13,9,2013" Day 398`, `2: tx-pick-3 ?2="2,30,2013" Day 398`, `3: tx-pick-3 ?2="9,9,13" Day 398`, `4: tx-pick-3 ?2=",," Day 398`,
			`5: tx-pick-3 2013-09-09 Day ?6="19"`, `6: tx-pick-3 2013-09-09 Day ?6=""`, `7: tx-pick-3 2013-09-09 Day ?7="x"`,
		},
	},
	{
		Name: "malformed: fields missing, a Fireball that is none, something behind it, quotes",
		Text: "Daily 4 Day,9,9,2013,3,9,8\nPick 3 Day,9,9\nPick 3 Day,9,9,2013,3,9,8,20,20\nPick 3 Day,9,9,2013,3,9,8,20,2,1\n\"Pick 3 Day,9,9,2013,3,9,8\n\"Pick 3 Day\",\"9\",9,2013,3,9,8\n\"Pick 3 Day,9\n\"Powerball,1,2,2020,5,10,15\n\"Texas, Lottery\n",
		Want: []string{
			"1: malformed[] the line has 7 fields; the game's name, month, day, year and the balls make 8",
			"2: malformed[] the line has 3 fields; the game's name, month, day, year and the balls make 7",
			"3: malformed[9] a Fireball is one digit or blank", "4: malformed[10] nothing is known to follow the Fireball",
			"5: " + openQuote, "6: tx-pick-3 2013-09-09 Day 398",
			"7: " + openQuote, "8: " + openQuote,
		},
	},
	{
		Name: "titles, blank lines and notices are skipped, a line that is too long is not",
		Text: "Texas Lottery\n\n  \nWinning numbers, as published\nIf these, for any reason, differ, the state, its agents, and others, are right\n,,,,,,,\nNote the \"quotes\n" + strings.Repeat("x", feed.MaxLine+1) + "\nPick 3 Day,9,9,2013,3,9,8",
		Want: []string{"8: malformed[] the line is longer than 64 KiB", "9: tx-pick-3 2013-09-09 Day 398"},
	},
	{
		Name: "column names are skipped, wherever they stand; a game's line without its date is not",
		Text: "Game Name,Month,Day,Year,1st,2nd,3rd\nGame Name,Month,Day,Year,Num1,Num2,Num3,Sum,Fireball\nPick 3 Day,9,9,2013,3,9,8,20,1\n\"Game Name\",\"MONTH\", day ,Year,Num1,Num2,Num3\n" +
			"Pick 3 Day,Month,Day,Year,3,9,8\nGame Name,Month,Day,2013,3,9,8\n",
		Want: []string{
			"3: tx-pick-3 2013-09-09 Day 398 fireball=1", `5: tx-pick-3 ?2="Month,Day,Year" Day 398`, `6: tx-game-name ?2="Month,Day,2013" ?1="Game Name" 398`,
		},
	},
	{
		Name: "draws with other separators, or quoted as a whole, or with the name lost, are no titles",
		Text: "Pick 3 Day,9,9,2013,3,9,8\n\"Pick 3 Morning,10,3,2023,8,2,4,,1\"\nPick 3 Morning;10;4;2023;8;2;4;;1\nPick 3 Morning 10/2/2023 1-1-5\nPick3 Morning,10,2,2023,1,1\n" +
			"10,13,2023,8,2,4\nPick 3 Day\t1\t2\t23\t1\t1\t5,,\n  daily4 night|10/2/2023|1|1|5|5\nPick 3 Evening;Oct 4, 2023;8-2-4\nPick 3 Night 10/2/2023 115 FB 3 Sum 7\n" +
			"10;13;2023;8;2;4\nCash Five,10,2,2023,1,2\nPick 3 Noon|10/2/2023|115\nPick 3 Day - 10 - 5 - 2023 - 8 - 2 - 4\n",
		Want: []string{
			"1: tx-pick-3 2013-09-09 Day 398", "2: " + undivided + ", and quotes stand around all of it: leave them out",
			"3: " + undivided + ", and its fields are separated by semicolons: save it with commas", "4: " + undivided,
			"5: malformed[] the line has 6 fields; the game's name, month, day, year and the balls make 7",
			`6: tx-10 ?2="13,2023,8" ?1="10" 24`,
			"7: malformed[] the line has 3 fields; the game's name, month, day, year and the balls make 7",
			"8: malformed[] the line has 1 field; the game's name, month, day, year and the balls make 8, and its fields are separated by bars: save it with commas",
			"9: malformed[] the line has 2 fields; the game's name, month, day, year and the balls make 7",
			"10: " + undivided,
			"11: malformed[] the line has 1 field; the game's name, month, day, year and the balls make 4, and its fields are separated by semicolons: save it with commas",
			`12: tx-cash-five 2023-10-02 ?1="Cash Five" 12`,
			"13: malformed[] the line has 1 field; the game's name, month, day, year and the balls make 7, and its fields are separated by bars: save it with commas",
			"14: " + undivided,
		},
	},
	{
		Name: "a row within markup, or cut off within its first field, is no title",
		Text: "Pick 3 Mor\nPick 3 Day,10,2,2023,1,1,5,,1\n<tr><td>Pick 3 Day</td><td>10</td><td>3</td><td>2023</td></tr>\n" +
			"**Pick 3 Day**,**10**,**4**,**2023**,**1**,**2**,**3**\n<p>Pick 3 Day, since 12/11/2015</p>\nPick 3\nPick 3",
		Want: []string{
			"1: malformed[] the line has 1 field; the game's name, month, day, year and the balls make 7",
			"2: tx-pick-3 2023-10-02 Day 115 fireball=1",
			"3: malformed[] this seems to be a row within HTML or other markup: save the file as plain text",
			"4: malformed[] this seems to be a row within HTML or other markup: save the file as plain text",
			"7: malformed[] the file ends here, within a row: get it again",
		},
	},
	{
		Name: "notices with an & or brackets, whose numbers are part of sentences",
		Text: "Pick 3 Day,9,9,2013,3,9,8\nDrawings are held Monday to Saturday at 10:00 AM, 12:27 PM, 6:00 PM & 10:12 PM\n" +
			"Odds: Pick 3 up to 1:1,000 & Daily 4 up to 1:10,000\nPlay responsibly [18 or older, 24 hours a day, 7 days a week]\n" +
			"Winning numbers [10/1/2023 to 10/31/2023], 27 draws\nResults & statistics, 2024, 2025\n" +
			"Match 0, 1, 2, 3, 4, or more\nThe numbers 1 2 3 4 5 6 were drawn\nPick 3 is drawn at 10 and 12\nTexas Lottery, 2024",
		Want:    []string{"1: tx-pick-3 2013-09-09 Day 398"},
		Skipped: []int{3, 5, 7, 8},
	},
	{
		Name: "a mark or spaces at the end are no row that was cut off",
		Text: " Pick 3 Day,9,9,2013,3,9,8\n\ufeff \r",
		Want: []string{"1: tx-pick-3 2013-09-09 Day 398"},
	},
	{
		Name: "titles that hold numbers, dates or a time of day",
		Text: "Pick 3 Winning Numbers 2024\nPick 3 Day Results as of 10/2/2023\nPick 3 Day Results as of 10/12/2023\nPick 3 Day 2024\nPick 3 Night Results 1/1/2023 to 10/12/2023\n" +
			"Daily 4 Morning (10/12/2023)\nPick 3 Day 10/1/2023 - 10/31/2023\nPick 3 Day 9/9/2013 8:30 PM\nCall 1-800-375-6886, or 512 344 5000\n" +
			"Pick 3 Results 2013 - 2016\nPick 3 – 2013 – 2016\nPick 3 Day — Page 1 — 2\nDaily 4 - Sep 9 2013 - Oct 3 2016\nPick 3 Day,9,9,2013,3,9,8\nPick 3 Day - 9/10/2013 - 3 - 9 - 8\n",
		Want:    []string{"14: tx-pick-3 2013-09-09 Day 398", "15: " + undivided},
		Skipped: []int{5, 6, 7, 8, 9, 13},
	},
	{
		Name: "a colon before the digits, or behind the date",
		Text: "Pick 3 Day,9,9,2013,3,9,8\nPick 3 Day 9/10/2013: 398\nPick 3 Day: 9/11/2013: 398\nPick 3 Day: 9/12/2013, 398\nPick 3 Day 9/9/2013 8:30:\n",
		Want: []string{"1: tx-pick-3 2013-09-09 Day 398", "2: " + undivided, "3: " + undivided, "4: " + strings.Replace(undivided, "1 field", "2 fields", 1)}, Skipped: []int{5},
	},
	{
		Name:    "draws that no rule recognizes",
		Text:    "9/8/2013,9,3,8\nPick 3 Day,9,9,2013,3,9,8\nPick 3 Day/9/10/2013/9/3/8\n9/11/2013,9,3,8\n",
		Want:    []string{"2: tx-pick-3 2013-09-09 Day 398"},
		Skipped: []int{1, 3, 4},
	},
	{
		Name: "digits of another script are no title",
		Text: "Pick 3 Day,9,9,2013,3,9,8\nPick 3 Day,９,１０,２０１３,３,９,８\nPick ３ Day,９,１１,２０１３,３,９,８,２０,\nPick 3 Day,9,12,2013,٣,9,8\n",
		Want: []string{
			"1: tx-pick-3 2013-09-09 Day 398", `2: tx-pick-3 ?2="９,１０,２０１３" Day ?5="３"`, `3: tx-pick ?2="９,１１,２０１３" Day ?5="３"`,
			`4: tx-pick-3 2013-09-12 Day ?5="٣"`,
		},
	},
	{
		Name: "draws among stray characters, or with commas of another script, are no titles",
		Text: "Pick 3 Day,9,9,2013,3,9,8\n\u00a0Pick\u00a03 Day,\u00a09,\u00a010,\u00a02013,\u00a03,\u00a09,\u00a08,\u00a0\n\xa0Pick 3 Day,\xa09,\xa011,\xa02013,\xa03,\xa09,\xa08\n" +
			"\u200bPick 3 Day,\u200b9,\u200b12,\u200b2013,\u200b3,\u200b9,\u200b8\n'Pick 3 Day,'9,'13,'2013,'3,'9,'8\nPick 3 Day，9，14，2013，3，9，8\n" +
			"P\x00i\x00c\x00k\x00,\x009\x00,\x009\x00\r\x00\n\x00",
		Want: []string{
			"1: tx-pick-3 2013-09-09 Day 398", "2: tx-pick-3 2013-09-10 Day 398", "3: tx-pick-3 ?2=\"\\xa09,\\xa011,\\xa02013\" Day ?5=\"\\xa03\"",
			"4: tx-pick-3 ?2=\"\\u200b9,\\u200b12,\\u200b2013\" Day ?5=\"\\u200b3\"", `5: tx-pick-3 ?2="'9,'13,'2013" Day ?5="'3"`, "6: " + undivided,
			"7: malformed[] the line has NUL characters, as UTF-16 text has that was appended to a file: save all of the file as UTF-8",
		},
	},
	{
		Name: "a web page among the draws",
		Text: "Pick 3 Day,9,9,2013,3,9,8\n<!doctype html><html>\n<p>Down for maintenance</p>\nPick 3 Day,9,10,2013,3,9,8\n",
		Want: []string{"1: tx-pick-3 2013-09-09 Day 398", "2: malformed[] a web page (HTML) begins here, where data was expected: get that part of the file again", "4: tx-pick-3 2013-09-10 Day 398"},
	},
	{Name: "nothing of use", Text: "Service unavailable, try later\n", Want: nil},
}

const openQuote = "malformed[] the line ends within quotes: line breaks within quotes are not read, put the whole row on one line, or add the quote that is missing"

const undivided = "malformed[] the line has 1 field; the game's name, month, day, year and the balls make 7"

func TestParse(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, texas.Form, cases)
}

func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	feedtest.Unusable(t, texas.Form, map[string]string{"": "expected lines such as Pick 3 Morning", "<!doctype html>": "web page"})
}

func FuzzParse(f *testing.F) {
	feedtest.Fuzz(f, texas.Form, cases, func(line string) bool {
		if strings.Contains(line, `"`) || !slices.ContainsFunc(strings.Split(line, ",")[1:], feed.BeginsWithDigit) {
			return false
		}
		return strings.HasPrefix(line, "Pick 3 ") || (strings.Count(line, ",") >= 6 && !strings.Contains(feed.FoldName(line), "month"))
	})
}
