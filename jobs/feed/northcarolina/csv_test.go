package northcarolina_test

import (
	"strings"
	"testing"

	"lottery/jobs/feed"
	"lottery/jobs/feed/feedtest"
	"lottery/jobs/feed/northcarolina"
)

const (
	pick3 = `"Date","Day/Eve","Ball 1","Ball 2","Ball 3","Fireball","GreenBall","DoubleDraw*"` + "\r\n"
	pick4 = `"Date","Day/Eve","Ball 1","Ball 2","Ball 3","Ball 4","Fireball"` + "\r\n"
)

var cases = []feedtest.Case{
	{
		Name: "Pick 3 as published, with its disclaimer",
		Text: pick3 + `"06/21/2025","D","4","2","7","7","",""` + "\r\n" + `"06/21/2025","E","0","0","0","","True",""` + "\r\n" + `"6/2/2025","E","1","2","3","","False","W"` + "\r\n\r\n" +
			`"*DoubleDraw Key: W=Whiteball, R=Redball. Every effort ""has"" been made. "` + "\r\n",
		Want: []string{
			"2: nc-pick-3 2025-06-21 Day 427 fireball=7", "3: nc-pick-3 2025-06-21 Evening 000 greenball=True", "4: nc-pick-3 2025-06-02 Evening 123 greenball=False",
		},
	},
	{
		Name: "Pick 4, LF, no newline at the end",
		Text: "Title of the download\n" + strings.TrimSuffix(pick4, "\r\n") + "\n" + `06/21/2025,D,4,0,1,2,` + "\n" + `"06/21/2025","E","4","5","4","5","4"`,
		Want: []string{"3: nc-pick-4 2025-06-21 Day 4012", "4: nc-pick-4 2025-06-21 Evening 4545 fireball=4"},
	},
	{
		Name: "CR CR LF, as a program leaves it that makes CRLF of the LF of a CRLF",
		Text: strings.ReplaceAll(pick4+`"06/21/2025","E","4","5","4","5","4"`+"\r\n\r\n"+`"Every effort has been made"`+"\r\n", "\r\n", "\r\r\n"),
		Want: []string{"2: nc-pick-4 2025-06-21 Evening 4545 fireball=4"},
	},
	{
		Name: "columns by name, in any order",
		Text: "Ball 2,DOUBLEDRAW,Date,Ball 1,day/eve\n2,D,06/21/2025,1,E\n",
		Want: []string{"2: nc-pick-2 2025-06-21 Evening #2 12"},
	},
	{
		Name:    "the header again, as its names are compared; with other columns, the rows below are read by it",
		Text:    "1,Date,Day/Eve,Ball 1\nx,06/21/2025,D,4\n1,Date,Day/Eve,Ball 1\n\"1\",\"DATE\", day/eve ,Ball_1\nx,06/22/2025,D,5\nBall 2,Date,Day/Eve,Ball 1\n6,06/23/2025,E,7\n",
		Ignored: []string{"1"},
		Want:    []string{"2: nc-pick-1 2025-06-21 Day 4", "5: nc-pick-1 2025-06-22 Day 5", "7: nc-pick-2 2025-06-23 Evening 76"},
	},
	{
		Name: "a column that is not known is told of once, below however many headers it stands",
		Text: "Date,Day/Eve,Ball 1,Wild Ball,Bonus\n06/21/2025,D,4,7,\nDate,Day/Eve,Ball 1,Ball 2,Wild Ball,Bonus\n06/21/2025,D,4,2,7,\n" +
			"Date,Day/Eve,Ball 1,WILD_BALL,Bonus\n06/20/2025,D,4,7,1\n",
		Want:    []string{"2: nc-pick-1 2025-06-21 Day 4", "4: nc-pick-2 2025-06-21 Day 42", "6: nc-pick-1 2025-06-20 Day 4"},
		Ignored: []string{"Wild Ball", "Bonus"},
	},
	{
		Name:    "columns that are not known are told of, where they have a value",
		Text:    "Date,Day/Eve,Ball 1,Ball 2,Third Ball,Wild Ball,Fireball\n06/21/2025,D,4,2,7,,\n06/21/2025,E,4,2,7,,1\n",
		Want:    []string{"2: nc-pick-2 2025-06-21 Day 42", "3: nc-pick-2 2025-06-21 Evening 42 fireball=1"},
		Ignored: []string{"Third Ball"},
	},
	{
		Name: "double draws",
		Text: pick3 + `"09/26/2024","E","0","7","8","7","","R"` + "\n" + `"09/26/2024","E","0","6","0","2","","D"` + "\n" + `"09/26/2024","","0","6","0","2","","D"` + "\n" + `"09/26/2024","E","0","6","0","2","","X"` + "\n",
		Want: []string{
			"2: nc-pick-3 2024-09-26 Evening 078 fireball=7", "3: nc-pick-3 2024-09-26 Evening #2 060 fireball=2", `4: nc-pick-3 2024-09-26 ?Day/Eve="" #2 060 fireball=2`,
			"5: malformed[DoubleDraw*] DoubleDraw is W (Whiteball), R (Redball), D (DoubleDraw) or blank",
		},
	},
	{
		Name: "fields that are none",
		Text: pick3 + `"13/01/2024","D","1","2","3","","",""` + "\n" + `"09/26/24","D","1","2","3","","",""` + "\n" + `"","D","1","2","3","","",""` + "\n" + `"09/26/2024","d","1","2","3","","",""` + "\n" +
			`"09/26/2024","N","1","2","3","","",""` + "\n" + `"09/26/2024","D","1","12","3","","",""` + "\n" + `"09/26/2024","D","1","2","","","",""` + "\n" + `"09/26/2024","D","1","2","3","12","",""` + "\n",
		Want: []string{
			`2: nc-pick-3 ?Date="13/01/2024" Day 123`, `3: nc-pick-3 ?Date="09/26/24" Day 123`, `4: nc-pick-3 ?Date="" Day 123`,
			`5: nc-pick-3 2024-09-26 ?Day/Eve="d" 123`, `6: nc-pick-3 2024-09-26 ?Day/Eve="N" 123`,
			`7: nc-pick-3 2024-09-26 Day ?Ball 2="12"`, `8: nc-pick-3 2024-09-26 Day ?Ball 3=""`, "9: malformed[Fireball] a Fireball is one digit or blank",
		},
	},
	{
		Name: "a web page instead of the second file",
		Text: pick4 + "06/21/2025,E,4,5,4,5,4\r\n<!DOCTYPE html>\r\n<body>Down for maintenance</body>\r\n",
		Want: []string{"2: nc-pick-4 2025-06-21 Evening 4545 fireball=4", "3: malformed[] a web page (HTML) begins here, where data was expected: get that part of the file again"},
	},
	{
		Name: "divided rows below a header that does not begin with the date",
		Text: "Day/Eve,Date,Ball 1,Ball 2,Ball 3,Fireball\nD,06/21/2025,4,2,7,7\nE;06/21/2025;4;2;7;7\n\"E,06/22/2025,4,2,7,7\"\nE\t06/23/2025\t4\t2\t7\t7\n" +
			"Draws of 2025; 06/21/2025 to 06/22/2025\n\"Entered by hand, 4 times out of 5\"\n",
		Want: []string{
			"2: nc-pick-3 2025-06-21 Day 427 fireball=7",
			"3: malformed[] the row has 1 field, the header has 6, and its fields are separated by semicolons: save it with commas",
			"4: malformed[] the row has 1 field, the header has 6, and quotes stand around all of it: leave them out",
			"5: malformed[] the row has 1 field, the header has 6, and its fields are separated by tabs: save it with commas",
		},
		Skipped: []int{6},
	},
	{
		Name: "draws that no rule recognizes",
		Text: pick3 + "06/21/2025,D,4,2,7,7,,\nFri 06/20/2025 D 1 2 3\nJune 19 2025 D 1 2 3\nJun 18; D; 1; 2; 3\n",
		Want: []string{"2: nc-pick-3 2025-06-21 Day 427 fireball=7"}, Skipped: []int{3, 4, 5},
	},
	{
		Name: "rows among stray characters with a comma too many are no notices",
		Text: pick4 + "06/21/2025,E,4,5,4,5,4\n'06/20/2025,'E,'4,'5,'4,'5,'4,\n\u00a006/19/2025,\u00a0E,\u00a04,\u00a05,\u00a04,\u00a05,\u00a04,\n" +
			`="06/18/2025",="E",="4",="5",="4",="5",="4",` + "\n" + `Sun,="06/17/2025",="E",="4",="5",="4",="5",="4"` + "\n" +
			`\"06/16/2025\",\"E\",\"4\",\"5\",\"4\",\"5\",\"4\",` + "\n",
		Want: []string{
			"2: nc-pick-4 2025-06-21 Evening 4545 fireball=4", "3: malformed[] the row has 8 fields, the header has 7", "4: malformed[] the row has 8 fields, the header has 7",
			"5: malformed[] the quotes do not pair up", "6: malformed[] the quotes do not pair up", "7: malformed[] the quotes do not pair up",
		},
	},
	{
		Name: "a row within markup, or its first quote alone, is no notice",
		Text: pick3 + `<tr><td>06/21/2025</td><td>E</td><td>1</td></tr>` + "\n" + `| "06/21/2025" | "E" | "1" |` + "\n" + `<p>Updated 06/22/2025, with thanks</p>` + "\n" + `"`,
		Want: []string{
			"2: malformed[] this seems to be a row within HTML or other markup: save the file as plain text",
			"3: malformed[] this seems to be a row within HTML or other markup: save the file as plain text",
			"5: malformed[] the line ends within quotes: line breaks within quotes are not read, put the whole row on one line, or add the quote that is missing",
		},
	},
	{
		Name: "rows that are none: counts, quotes, length; notices, also of a program that fills up rows",
		Text: "Pick 4 results,,,,,,\n" + pick4 + `"Every effort is made, yet 1 is no draw","","","","","",""` + "\n" + `"09/26/2024","D","1","2","3","4"` + "\n" + `"09/26/2024"` + "\n" + `"Not official"` + "\n" + `"*","*"` + "\n" + `"09/26/2024,"D","1","2","3","4",""` + "\n" +
			`Date "of", "the, draws` + "\n" + `"x","D,"1","2","3","4",""` + "\n" + strings.Repeat("x", feed.MaxLine+1) + "\n" + `"","","","","","",""` + "\n" + `"09/26/2024","D","1","2","3","4",""` + "\n",
		Want: []string{
			"4: malformed[] the row has 6 fields, the header has 7", "5: malformed[] the row has 1 field, the header has 7",
			"8: malformed[] the quotes do not pair up", "10: malformed[] the quotes do not pair up", "11: malformed[] the line is longer than 64 KiB", "13: nc-pick-4 2024-09-26 Day 1234",
		},
	},
}

func TestParse(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, northcarolina.Form, cases)
}

func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	feedtest.Unusable(t, northcarolina.Form, map[string]string{
		"":                              "the file is empty",
		"<html>":                        "web page",
		"Down for maintenance\n":        `"Down for maintenance" is not the header: expected CSV with the header "Date","Day/Eve","Ball 1"`,
		"Date,Day/Eve,Ball 1,Ball 3\n":  "is not the header",
		"Date,Day/Eve,Fireball\n":       "is not the header",
		"Date,Ball 1,Ball 2\n":          "is not the header",
		"Date,Day/Eve,Ball 1,Ball 1\n":  `names the column "Ball 1" twice`,
		"Date,Day/Eve,Ball 1,Ball 2a\n": "is not the header",
		"06/21/2025,D,4,4,7\n":          `"06/21/2025,D,4,4,7" is not the header`,
		"Date,Date,Ball 1\n":            "is not the header",
		"Error 503\n\n<html>\n":         "no header before line 3, and a web page (HTML) begins here",
		"D" + strings.Repeat("x", feed.MaxLine) + "\n": "no header before line 1, and the line is longer than 64 KiB: expected CSV",
		"\"Date,Day/Eve,Ball 1\"\n":                    "is not the header, and quotes stand around all of it: leave them out",
		"06/21/2025,D,4,2,7\n":                         `"06/21/2025,D,4,2,7" is not the header`,
		"\"Date\",\"Day/Eve,Ball 1\n1\n":               "is not the header",
	})
}

func FuzzParse(f *testing.F) {
	feedtest.Fuzz(f, northcarolina.Form, cases, func(line string) bool {
		return feed.BeginsWithDigit(line) && !strings.Contains(feed.FoldName(line), "day/eve") // the header again is no draw
	})
}
