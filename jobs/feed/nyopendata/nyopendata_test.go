package nyopendata_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lottery/jobs/feed"
	"lottery/jobs/feed/feedtest"
	"lottery/jobs/feed/nyopendata"
)

const header = "Draw Date,Midday Daily #,Midday Daily Sum,Evening Daily #,Evening Daily Sum,Midday Win 4 #,Midday Win 4 Sum,Evening Win 4 #,Evening Win 4 Sum," +
	"Midday Daily Booster,Evening Daily Booster,Midday Win 4 Booster,Evening Win 4 Booster\n"

var csvCases = []feedtest.Case{
	{
		Name: "four draws a row, zeros kept or lost, sums, boosters",
		Text: header + "09/24/2020,433,,024,,3070,,0000,,,,,\n9/5/2019,8,8,0,0,88,16,12,3,5,,10,20\n",
		Want: []string{
			"2: ny-numbers 2020-09-24 Midday 433", "2: ny-numbers 2020-09-24 Evening 024", "2: ny-win-4 2020-09-24 Midday 3070", "2: ny-win-4 2020-09-24 Evening 0000",
			"3: ny-numbers 2019-09-05 Midday 8 sum=8 booster=5", "3: ny-numbers 2019-09-05 Evening 0 sum=0", "3: ny-win-4 2019-09-05 Midday 88 sum=16 booster=10", "3: ny-win-4 2019-09-05 Evening 12 sum=3 booster=20",
		},
	},
	{
		Name: "blanks are no draw; a sum without digits is one without digits",
		Text: header + "09/24/2020,,,  ,  ,,5,2151,,,,,7\n09/25/2020,,,,,,,,,,,,\n99/99/2020,,,,,,,,,5,5,5,5\n",
		Want: []string{`2: ny-win-4 2020-09-24 Midday ?Midday Win 4 #="" sum=5`, "2: ny-win-4 2020-09-24 Evening 2151 booster=7"},
	},
	{
		Name:    "columns in any order and spelling, boosters and sums missing, others ignored and told of",
		Ignored: []string{"Note"},
		Text:    "A title\n\nevening_win_4,Note,Midday  Win 4,EVENING DAILY#,midday daily,\"draw date\"\n1,x,2,3,4,09/24/2020\n5,,,,,2020-09-25T00:00:00.000",
		Want: []string{
			"4: ny-win-4 2020-09-24 Evening 1", "4: ny-win-4 2020-09-24 Midday 2", "4: ny-numbers 2020-09-24 Evening 3", "4: ny-numbers 2020-09-24 Midday 4",
			"5: ny-win-4 2020-09-25 Evening 5",
		},
	},
	{
		Name: "a bad date is told of every draw of the row",
		Text: header + "02/30/2020,1,,2,,,,,,,,,\n09/24/20,1,,,,,,,,,,,\n2020-09-24,1,,,,,,,,,,,\n2020-09-24T10:00:00.000,1,,,,,,,,,,,\n,1,,,,,,,,,,,\n",
		Want: []string{
			`2: ny-numbers ?Draw Date="02/30/2020" Midday 1`, `2: ny-numbers ?Draw Date="02/30/2020" Evening 2`, `3: ny-numbers ?Draw Date="09/24/20" Midday 1`,
			`4: ny-numbers ?Draw Date="2020-09-24" Midday 1`, `5: ny-numbers ?Draw Date="2020-09-24T10:00:00.000" Midday 1`, `6: ny-numbers ?Draw Date="" Midday 1`,
		},
	},
	{
		Name: "the header again, as its names are compared; with its columns in another order, the rows below are read by it",
		Text: header + "09/24/2020,433,,,,,,,,,,,\n" + header + strings.ToUpper(header) + "09/25/2020,434,,,,,,,,,,,\n" +
			"Draw Date,Evening Daily #,Midday Daily #,Evening Win 4 #,Midday Win 4 #\n01/02/2021,222,111,4444,3333\n",
		Want: []string{
			"2: ny-numbers 2020-09-24 Midday 433", "5: ny-numbers 2020-09-25 Midday 434",
			"7: ny-numbers 2021-01-02 Evening 222", "7: ny-numbers 2021-01-02 Midday 111", "7: ny-win-4 2021-01-02 Evening 4444", "7: ny-win-4 2021-01-02 Midday 3333",
		},
	},
	{
		Name: "columns that are not known are told of once, where they have a value; without a name by their number",
		Text: strings.TrimSuffix(header, "\n") + ",Wild Ball,,Remark,Midday Daily Fireball\n09/24/2020,1,,,,,,,,,,,,,,,\n09/25/2020,2,,,,,,,,,,,,,x, ,7\n09/26/2020,3,,,,,,,,,,,,5,y,,8\n09/27/2020,1\n",
		Want: []string{
			"2: ny-numbers 2020-09-24 Midday 1", "3: ny-numbers 2020-09-25 Midday 2", "4: ny-numbers 2020-09-26 Midday 3",
			"5: malformed[] the row has 2 fields, the header has 17",
		},
		Ignored: []string{"15", "Midday Daily Fireball", "Wild Ball"},
	},
	{
		Name: "rows that are none",
		Text: header + "09/24/2020,433\nEnd of the file.\n\n\"09/24/2020,433,,724,,3070,,2151,,,,,\n,,\n" + strings.Repeat("x", feed.MaxLine+1) + "\n09/26/2020,1,,,,,,,,,,,\n",
		Want: []string{
			"2: malformed[] the row has 2 fields, the header has 13", "5: malformed[] the line ends within quotes: line breaks within quotes are not read, put the whole row on one line, or add the quote that is missing", "7: malformed[] the line is longer than 64 KiB", "8: ny-numbers 2020-09-26 Midday 1",
		},
	},
}

var jsonCases = []feedtest.Case{
	{
		Name: "as SODA answers",
		Text: `[{"draw_date":"2020-09-24T00:00:00.000","midday_daily":"433","evening_daily":"24","midday_win_4":"3070","evening_win_4":"2151"}` + "\n" +
			`,{"draw_date":"2020-09-25T00:00:00.000","evening_daily":"0","evening_daily_sum":"0","evening_daily_booster":"5","midday_win_4_sum":"9","surprise":{"a":[1,{}]}}]` + "\n",
		Want: []string{
			"1: ny-numbers 2020-09-24 Midday 433", "1: ny-numbers 2020-09-24 Evening 24", "1: ny-win-4 2020-09-24 Midday 3070", "1: ny-win-4 2020-09-24 Evening 2151",
			"2: ny-numbers 2020-09-25 Evening 0 sum=0 booster=5", `2: ny-win-4 2020-09-25 Midday ?midday_win_4="" sum=9`,
		},
		Ignored: []string{"surprise"},
	},
	{
		Name: "keys that are not known are told of once, where they have a value; Socrata's own are not",
		Text: `[{"draw_date":"2020-09-24T00:00:00.000",":id":"row-1",":@computed_region_x":"7","midday_numbers":"433","midday_daily_sum":"10","note":null,"wild_ball":" "},` +
			`{"draw_date":"2020-09-25T00:00:00.000","Wild Ball":3,"evening_daily":"24","midday_numbers":"434"},{"wild_ball":4}]`,
		Want:    []string{`1: ny-numbers 2020-09-24 Midday ?midday_daily="" sum=10`, "1: ny-numbers 2020-09-25 Evening 24"},
		Ignored: []string{"midday_numbers", "Wild Ball"},
	},
	{
		Name: "printed over several lines, a byte order mark, null and plain numbers",
		Text: "\ufeff\n [\n  {\n    \"midday_daily\": 88,\n    \"evening_daily\": null,\n    \"draw_date\": \"2020-09-24T00:00:00.000\"\n  },\n\n  { \"draw_date\": \"2020-09-25T00:00:00.000\",\n \"evening_win_4\": \"7\" }\n]",
		Want: []string{"3: ny-numbers 2020-09-24 Midday 88", "9: ny-win-4 2020-09-25 Evening 7"},
	},
	{
		Name: "several records on a line, elements and values of other kinds",
		Text: "[{\"draw_date\":\"x\",\"midday_daily\":\"1\"},{}, 5,\n[[1],2],{\"draw_date\":\"2020-09-24T00:00:00.000\",\"midday_daily\":[1],\"evening_daily\":true,\"midday_win_4\":\"1\",\"midday_win_4_booster\":{}}]",
		Want: []string{
			`1: ny-numbers ?draw_date="x" Midday 1`, "1: malformed[] an element of the array is not a record", "2: malformed[] an element of the array is not a record",
			"2: malformed[midday_daily] the value is neither text nor a number", "2: malformed[evening_daily] the value is neither text nor a number", "2: malformed[midday_win_4_booster] the value is neither text nor a number",
		},
	},
	{
		Name: "a record that has a key twice",
		Text: `[{"draw_date":"2020-01-01T00:00:00.000","midday_daily":"123","Midday Daily":"456"},{"draw_date":"2020-01-02T00:00:00.000","midday_daily":"7","x":1,"x":2}]`,
		Want: []string{`1: malformed[] the record has "Midday Daily" twice`, "1: ny-numbers 2020-01-02 Midday 7"}, Ignored: []string{"x"},
	},
	{Name: "no records", Text: "[]\n", Want: nil},
}

func TestParseCSV(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, nyopendata.Form, csvCases)
}

func TestParseJSON(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, nyopendata.Form, jsonCases)
}

func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	feedtest.Unusable(t, nyopendata.Form, map[string]string{
		"":                           "the file is empty",
		"\n<!DOCTYPE HTML>":          "web page",
		"Draw Date,Midday Daily #\n": `"Draw Date,Midday Daily #" is not the header: expected the dataset hsys-3def`,
		strings.Replace(header, "Evening Win 4 #", "Evening Win4 No", 1): "is not the header",
		"Draw_Date," + header:                                    `names the column "Draw Date" twice`,
		"09/24/2020,433,,024,,3070\n":                            `"09/24/2020,433,,024,,3070" is not the header`,
		"09/24/2020,433,433,3070,2151\n":                         `"09/24/2020,433,433,3070,2151" is not the header`,
		`{"error":true,"message":"Dataset is gone"}`:             `data.ny.gov answered "Dataset is gone"`,
		`{"draw_date":"2020-09-24T00:00:00.000"}`:                "it is a JSON object, not an array",
		"[{\"draw_date\":\"2020-09-24T00:00:00.000\"},\n{\"a\":": "ends early at line 2",
		"[\n\n{]":       "ends early at line 3",
		"[":             "ends early at line 1",
		`[{"a":"b"}] x`: "something follows",
		"[] []":         "something follows",
		`{"a":`:         "ends early at line 1",
	})
}

// The number of reported keys is limited, even if every record has new ones.
func TestManyUnknownKeys(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `,{"key%d":1}`, i)
	}
	told := 0
	form := nyopendata.Form
	form.OnIgnored = func(string) { told++ }
	if _, _, err := feedtest.ReadAll(form, "["+b.String()[1:]+"]"); err != nil || told != 100 {
		t.Errorf("told of %d, %v", told, err)
	}
}

// A record's line must be right even in long files, which the decoder reads in pieces.
func TestLinesOfManyRecords(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("[\n")
	const records = 3000
	for i := range records {
		if i > 0 {
			b.WriteString(",\n")
		}
		note, err := json.Marshal(strings.Repeat("x", i%700))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "{\"midday_daily\":\"%d\",\n\"note\":%s}", i%1000, note)
	}
	b.WriteString("]")
	candidates, lines, err := feedtest.ReadAll(nyopendata.Form, b.String())
	if err != nil || len(candidates) != records || lines != 2*records+1 {
		t.Fatalf("%d candidates, %d lines, %v", len(candidates), lines, err)
	}
	for i, c := range candidates {
		if c.Line != 2+2*i || c.Number != fmt.Sprint(i%1000) {
			t.Fatalf("record %d: %+v", i, c)
		}
	}
}

func FuzzParseCSV(f *testing.F) {
	feedtest.Fuzz(f, nyopendata.Form, csvCases, func(string) bool { return false }) // a row may hold no draw
}

func FuzzParseJSON(f *testing.F) {
	feedtest.Fuzz(f, nyopendata.Form, jsonCases, func(string) bool { return false })
}

// A report shows an element that is no record as it stands in the file.
func TestElementsThatAreNoRecords(t *testing.T) {
	t.Parallel()
	var shown []string
	found, _, err := feedtest.ReadAll(nyopendata.Form, `[null,5,true,"x"]`)
	for i := range found {
		shown = append(shown, found[i].Raw)
	}
	if want := []string{"null", "5", "true", "x"}; err != nil || !slices.Equal(shown, want) {
		t.Errorf("%q, %v; want %q", shown, err, want)
	}
}
