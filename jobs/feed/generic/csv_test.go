package generic_test

import (
	"slices"
	"strings"
	"testing"

	"lottery/jobs/feed"
	"lottery/jobs/feed/feedtest"
	"lottery/jobs/feed/generic"
)

var cases = []feedtest.Case{
	{
		Name: "as exported",
		Text: "game,date,tod,sequence,number,fireball\nny-win-4,2024-01-02,Evening,1,0123,\nnc-pick-3,2024-01-02,Day,2,007,5\n",
		Want: []string{"2: ny-win-4 2024-01-02 Evening 0123", "3: nc-pick-3 2024-01-02 Day #2 007 fireball=5"},
	},
	{
		Name: "columns in any order and case, a byte order mark, CRLF, no newline at the end",
		Text: "\ufeffNumber, TOD ,Game,DATE\r\n 12 , Midday , a-b , 2024-01-02 \r\n\"34\",\"Night\",\"c\",\"2024-01-03\"",
		Want: []string{"2: a-b 2024-01-02 Midday 12", "3: c 2024-01-03 Night 34"},
	},
	{
		Name: "blank lines above and between",
		Text: "\n\ngame,date,tod,number\n\n  \n,,,\ng,2024-01-02,Day,1\n,\n",
		Want: []string{"7: g 2024-01-02 Day 1"},
	},
	{
		Name: "add-ons: any further column, blank is absent, spaces go",
		Text: "game,date,tod,number,Kicker, Extra Ball\ng,2024-01-02,Day,1, x y ,\ng,2024-01-03,Day,1,\"a,\"\"b\"\"\",7\n",
		Want: []string{"2: g 2024-01-02 Day 1 kicker=x y", `3: g 2024-01-03 Day 1 kicker=a,"b" extra ball=7`},
	},
	{
		Name: "bad fields stay as they are",
		Text: "game,date,tod,number\ng,1/2/2024,Day,1\ng,24-01-02,Day,1\ng,2024-02-30,Day,1\ng,2024-01-02,day,1\ng,2024-01-02,,1\ng,2024-01-02,Day,\ng,2024-01-02,Day,1x\n",
		Want: []string{
			`2: g ?date="1/2/2024" Day 1`, `3: g ?date="24-01-02" Day 1`, `4: g ?date="2024-02-30" Day 1`,
			`5: g 2024-01-02 ?tod="day" 1`, `6: g 2024-01-02 ?tod="" 1`, `7: g 2024-01-02 Day ?number=""`, `8: g 2024-01-02 Day 1x`,
		},
	},
	{
		Name: "sequence",
		Text: "game,date,tod,number,sequence\ng,2024-01-02,Day,1,\ng,2024-01-02,Day,1, 99 \ng,2024-01-02,Day,1,0\ng,2024-01-02,Day,1,100\ng,2024-01-02,Day,1,x\ng,2024-01-02,Day,1,+2\n",
		Want: []string{
			"2: g 2024-01-02 Day 1", "3: g 2024-01-02 Day #99 1",
			"4: malformed[sequence] a sequence is a number from 1 to 99, or blank for 1",
			"5: malformed[sequence] a sequence is a number from 1 to 99, or blank for 1",
			"6: malformed[sequence] a sequence is a number from 1 to 99, or blank for 1",
			"7: malformed[sequence] a sequence is a number from 1 to 99, or blank for 1",
		},
	},
	{
		Name: "a broken quote costs one row",
		Text: "game,date,tod,number\ng,2024-01-02,Day,\"1\ng,2024-01-03,Day,2\ng,2024-01-04,Day,3\"\ng,2024-01-05,Day,4\n\"ny-win,Day\n",
		Want: []string{
			"2: malformed[] " + openQuote, "3: g 2024-01-03 Day 2",
			"4: malformed[] the quotes do not pair up", "5: g 2024-01-05 Day 4", "6: malformed[] " + openQuote,
		},
	},
	{
		Name: "wrong field counts",
		Text: "game,date,tod,number\ng,2024-01-02,Day\ng,2024-01-02,Day,1,2\nny-win-4\nny-win-4,,,\nG,Day,1\n,,,7\n",
		Want: []string{
			"2: malformed[] the row has 3 fields, the header has 4", "3: malformed[] the row has 5 fields, the header has 4",
			"4: malformed[] the row has 1 field, the header has 4", `5: ny-win-4 ?date="" ?tod="" ?number=""`,
			"6: malformed[] the row has 3 fields, the header has 4", `7:  ?date="" ?tod="" 7`,
		},
	},
	{
		Name: "titles and disclaimers",
		Text: "Draws of Acme, Inc.\ngame,date,tod,number\nPick 3,,,\ng,2024-01-02,Day,1\nThe end.\nNot official, as of today, ask the lottery.\n" +
			"\"Entered by hand, without warranty\",,,\nThe \"numbers\", as published\n",
		Want: []string{"4: g 2024-01-02 Day 1"},
	},
	{
		Name: "rows with other separators, or quoted as a whole, are no titles",
		Text: "game,date,tod,number\ntx-pick-3;2024-05-02;Day;123\n\"tx-pick-3,2024-05-03,Day,123\"\ntx-pick-3\t2024-05-04\tDay\t123\ntx-pick-3|2024-05-05|Day|123\n" +
			"tx-pick-3 2024-05-06 day 123\ntx-pick-3;5/7/2024;Day;\n'tx-pick-3';'May 8, 2024';'Day';'123'\nNew York Win 4;2024-05-09;Evening;0123\ng;2024-05-10;Day;12\n" +
			"tx-pick-3;2024-05-11;Day;123,,,\ntx-pick-3;\"2024-05-12\"Day;123\ntx-pick-3;2024-05-13\ntx-pick-3 - 2024-05-14 - Day - 123\n",
		Want: []string{
			"2: malformed[] " + oneField + ", and its fields are separated by semicolons: save it with commas",
			"3: malformed[] " + oneField + ", and quotes stand around all of it: leave them out",
			"4: malformed[] " + oneField + ", and its fields are separated by tabs: save it with commas",
			"5: malformed[] " + oneField + ", and its fields are separated by bars: save it with commas",
			"6: malformed[] " + oneField,
			"7: malformed[] " + oneField + ", and its fields are separated by semicolons: save it with commas",
			"8: malformed[] the row has 2 fields, the header has 4",
			"9: malformed[] " + oneField + ", and its fields are separated by semicolons: save it with commas",
			"10: malformed[] " + oneField + ", and its fields are separated by semicolons: save it with commas",
			`11: tx-pick-3;2024-05-11;Day;123 ?date="" ?tod="" ?number=""`,
			"12: malformed[] the quotes do not pair up",
			"13: malformed[] " + oneField + ", and its fields are separated by semicolons: save it with commas",
			"14: malformed[] " + oneField,
		},
	},
	{
		Name: "rows with other separators, whose game's id is not their first word",
		Text: "tod,game,date,number\nDay,g,2024-01-02,1\nDay;tx-pick-3;2024-05-02;123\nMidday;ny-numbers;2024-05-03;123\n\"Day,tx-pick-3,2024-05-04,\"\n" +
			"Results up-to 2024-05-05 Evening\nDay draws of tx-pick-3; 2024-05-06\n",
		Want: []string{
			"2: g 2024-01-02 Day 1", "3: malformed[] " + oneField + ", and its fields are separated by semicolons: save it with commas",
			"4: malformed[] " + oneField + ", and its fields are separated by semicolons: save it with commas",
			"5: malformed[] " + oneField + ", and quotes stand around all of it: leave them out",
		},
	},
	{
		Name: "rows among stray characters, or with commas of another script, are no titles",
		Text: "game,date,tod,number\ng,2024-01-02,Day,1\n'tx-pick-3,'2024-05-02,'Day,'123,\n\xa0tx-pick-3,\xa02024-05-02,\xa0Day,\xa0123,\ntx-pick-3，2024-05-02，Day，123\n",
		Want: []string{
			"2: g 2024-01-02 Day 1", "3: malformed[] the row has 5 fields, the header has 4", "4: malformed[] the row has 5 fields, the header has 4",
			"5: malformed[] " + oneField,
		},
	},
	{
		Name: "rows within markup, or cut off within the game's id, are no titles",
		Text: "game,date,tod,number\n<tr><td>ny-win-4</td><td>2024-01-06</td><td>Midday</td><td>1006</td></tr>\n<b>Since 2024-01-06</b>\nny-win-\n",
		Want: []string{
			"2: malformed[] this seems to be a row within HTML or other markup: save the file as plain text",
			"4: malformed[] the row has 1 field, the header has 4",
		},
	},
	{
		Name: "lines with hyphens before the words, or around them, are titles",
		Text: "game,date,tod,number\n-notes\n---end---\n--- end ---\n---\n",
		Want: nil,
	},
	{
		Name: "titles and disclaimers that hold a date, a time of day or a game's id",
		Text: "game,date,tod,number\nDraws of 2024-05-02 (Day)\nPick 3 Day 2024-05-02\ntx-pick-3 results of 2024\ntx-pick-3; 2020 to 2024\nall-time results; as of 2024\n" +
			"e-mail us at 1-800-555-1234\ntx-pick-3 results as of 2024-05-02\npick3 export 2024-05-02\nas-of 2024-05-02\nEvening draws 2024 as of 2024-05-02\nThis list of 123 draws was made on 2024-05-02; Day draws are in it, and so are those of the Night\n" +
			"Not official \"as of 2024-05-02\"; Day and Night\ng,2024-01-02,Day,1\n",
		Want:    []string{"14: g 2024-01-02 Day 1"},
		Skipped: []int{3},
	},
	{
		Name:    "draws that no rule recognizes",
		Text:    "game,date,tod,number\nny-numbers/2025-01-02/Midday/013\ng,2024-01-02,Day,1\nny-numbers_2025-01-03_Midday_013\nPhone 1-800-555-1234\n",
		Want:    []string{"3: g 2024-01-02 Day 1"},
		Skipped: []int{2, 4, 5},
	},
	{
		Name: "a line that is too long",
		Text: "game,date,tod,number\n" + strings.Repeat("g", feed.MaxLine+1) + "\ng,2024-01-05,Day,4\n",
		Want: []string{"2: malformed[] the line is longer than 64 KiB", "3: g 2024-01-05 Day 4"},
	},
	{
		Name: "add-on values that cannot be kept",
		Text: "game,date,tod,number,fireball,x\ng,2024-01-02,Day,1,10,\ng,2024-01-02,Day,1,,a\x01b\ng,2024-01-02,Day,1,,\xff\ng,2024-01-02,Day,1,," + strings.Repeat("x", 201) + "\n",
		Want: []string{
			"2: malformed[fireball] a Fireball is one digit or blank",
			"3: malformed[x] an add-on is plain text of at most 200 bytes", "4: malformed[x] an add-on is plain text of at most 200 bytes",
			"5: malformed[x] an add-on is plain text of at most 200 bytes",
		},
	},
	{
		Name: "the header again, as its names are compared; with another name, or in another order, the rows below are read by it",
		Text: "game,date,tod,number,Ball 2\ng,2024-01-02,Day,1,\ngame,date,tod,number,Ball 2\n\"GAME\", Date ,TOD,Number,ball 2\ng,2024-01-03,Day,2,7\n" +
			"\ufeffgame,date,tod,number,Ball 3\ng,2024-01-04,Day,3,8\ngame,date,tod,number,sequence\ng,2024-01-05,Day,4,2\nnumber,date,tod,game\n5,2024-01-06,Day,g\n" +
			"game,date,tod,digits\ng,2024-01-07,Day,6\n",
		Want: []string{
			"2: g 2024-01-02 Day 1", "5: g 2024-01-03 Day 2 ball 2=7", "7: g 2024-01-04 Day 3 ball 3=8", "9: g 2024-01-05 Day #2 4", "11: g 2024-01-06 Day 5",
			`12: digits ?date="date" ?tod="tod" game`, `13: 6 2024-01-07 Day g`,
		},
	},
	{
		Name: "the longest name of an add-on, as it is kept",
		Text: "game,date,tod,number," + strings.Repeat("Ⱥ", 21) + "x," + strings.Repeat("\u212a", 64) + "\ng,2024-01-02,Day,1,2,3\n", // the sign of Kelvin, k in lower case
		Want: []string{"2: g 2024-01-02 Day 1 " + strings.Repeat("ⱥ", 21) + "x=2 " + strings.Repeat("k", 64) + "=3"},
	},
	{Name: "a header alone", Text: "game,date,tod,number\n", Want: nil},
}

const openQuote = "the line ends within quotes: line breaks within quotes are not read, put the whole row on one line, or add the quote that is missing"

const oneField = "the row has 1 field, the header has 4"

func TestParse(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, generic.Form, cases)
}

func FuzzParse(f *testing.F) {
	feedtest.Fuzz(f, generic.Form, cases, func(line string) bool {
		return !strings.Contains(line, `"`) && // a comma within quotes divides no fields
			slices.ContainsFunc(strings.Split(line, ","), feed.BeginsWithDigit) &&
			!strings.Contains(strings.ToLower(line), "number") // the header again is no draw
	})
}

func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	feedtest.Unusable(t, generic.Form, map[string]string{
		"":       "the file is empty",
		"<html>": "web page",
		"Draws, all\ngame,date,tod\ng,2024-01-02,Day\n":                           `"game,date,tod" is not the header`,
		"Draws\nAll of them\n":                                                    `"Draws" is not the header`,
		"Draws, all\nof them\n":                                                   `"Draws, all" is not the header`,
		"game,date,tod\ng,2024-01-02,Day\n":                                       `"game,date,tod" is not the header: expected CSV with the header game,date,tod,number`,
		"ny-win-4,2024-01-02,Evening,0123\n":                                      `"ny-win-4,2024-01-02,Evening,0123" is not the header`,
		"Pick 3 Day,1,1,2024,1,1,2,4\n":                                           `"Pick 3 Day,1,1,2024,1,1,2,4" is not the header`,
		"game;date;tod;number\ng;2024-01-02;Day;1\n":                              `"game;date;tod;number" is not the header, and its fields are separated by semicolons`,
		"game,date,tod,number\ng,2024-01-02,Day,1\ngame,date,tod,number,number\n": `names the column "number" twice`,
		"game,date,tod,number,Game\n":                                             `names the column "Game" twice`,
		"game,date,tod,number,\n":                                                 "column 5 of the header",
		"game,date,tod,number," + strings.Repeat("Ⱥ", 32) + "\n":                  "at most 64 bytes in lower case", // there a letter has three bytes, not two
		"\"game,date\n":                                                           "is not the header",
	})
}

func TestColumnsOfRejections(t *testing.T) {
	t.Parallel()
	candidates, _, err := feedtest.ReadAll(generic.Form, "Number,Date,ToD,Game\n 12 ,d,t,g\n")
	if err != nil {
		t.Fatal(err)
	}
	c := candidates[0]
	for _, tc := range []struct{ got, want feed.Cell }{
		{c.NumberCell, feed.Cell{Column: "Number", Value: " 12 "}}, {c.DateCell, feed.Cell{Column: "Date", Value: "d"}},
		{c.TodCell, feed.Cell{Column: "ToD", Value: "t"}}, {c.GameCell, feed.Cell{Column: "Game", Value: "g"}},
	} {
		if tc.got != tc.want {
			t.Errorf("got %v, want %v", tc.got, tc.want)
		}
	}
	if c.Raw != " 12 ,d,t,g" {
		t.Errorf("raw line %q", c.Raw)
	}
}
