package feed_test

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"testing"

	"lottery/jobs/feed"
	"lottery/jobs/feed/feedtest"
	"lottery/models"
)

func TestSplitFields(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line  string
		want  []string // nil = it cannot be split
		fault string   // the beginning of why
	}{
		{``, []string{""}, ""},
		{`a,b,c`, []string{"a", "b", "c"}, ""},
		{`a,,`, []string{"a", "", ""}, ""},
		{`"a","b, c","d ""e"" f"`, []string{"a", "b, c", `d "e" f`}, ""},
		{`"","x"`, []string{"", "x"}, ""},
		{`""`, []string{""}, ""},
		{`""""`, []string{`"`}, ""},
		{`"a",`, []string{"a", ""}, ""},
		{`a, "b" ,c`, []string{"a", "b", "c"}, ""},
		{`a, b ,c`, []string{"a", " b ", "c"}, ""},
		{`"a`, nil, "the line ends within quotes: line breaks within quotes are not read"},
		{`"a"b,c`, nil, "the quotes do not pair up"},
		{`a"b,c`, nil, "the quotes do not pair up"},
		{`a,"b""`, nil, "the line ends within quotes"},
		{`a,"`, nil, "the line ends within quotes"},
	} {
		got, fault := feed.SplitFields(nil, tc.line)
		if (fault == "") != (tc.fault == "") || !strings.HasPrefix(fault, tc.fault) || (fault == "" && !slices.Equal(got, tc.want)) {
			t.Errorf("%s: %q, %q", tc.line, got, fault)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " ;, ": "", "a b": "a|b", "\"a,b\";'c'\td\u00a0e | 1/2/2024 ": "a|b|c|d|e|1/2/2024", "x:y-z": "x:y-z", "1 - 2 – - 3 * x": "1|2|3|x",
		"\u200ba，b；\xa0c,=\"088\",’d’": "a|b|c|088|d",
	} {
		if got := strings.Join(feed.Words(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParseUSDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"9/7/2024": "2024-09-07", "09/07/2024": "2024-09-07", " 12/31/1999 ": "1999-12-31", "2/29/2024": "2024-02-29",
		"2/29/2023": "", "13/1/2024": "", "0/1/2024": "", "1/0/2024": "", "9/7/24": "", "9/7/02024": "", "9/7": "", "9/7/2024/1": "",
		"2024-09-07": "", "": "", "1/1/1899": "", "1/1/2101": "2101-01-01", "12/31/9999": "9999-12-31", "2/30/2999": "", "+1/1/2024": "", "1 /1/2024": "", "009/7/2024": "", "９/7/2024": "",
	} {
		date, ok := feed.ParseUSDate(text)
		if ok != (want != "") || (ok && date.String() != want) {
			t.Errorf("%q: %v, %v; want %q", text, date, ok, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", feed.MaxLine)
	for _, tc := range []struct {
		name, text string
		want       []string // "!" before one that cannot be read
	}{
		{"nothing", "", nil},
		{"last line without newline", "a\nb", []string{"a", "b"}},
		{"last line with newline", "a\nb\n", []string{"a", "b"}},
		{"CRLF and LF", "a\r\nb\n\r\nc\r\n", []string{"a", "b", "", "c"}},
		{"CR CR LF", "a\r\r\n\r\r\nb\r\r\n", []string{"a", "", "b"}},
		{"CR within a line", "a\rb\r\n", []string{"a\rb"}},
		{"the longest", long + "\nb", []string{long, "b"}},
		{"the longest with CRLF", long + "\r\nb", []string{long, "b"}},
		{"one byte too long", long + "x\nb", []string{"!" + long[:1024], "b"}},
		{"one byte too long with CRLF", long + "x\r\nb", []string{"!" + long[:1024], "b"}},
		{"much too long", long + long + long + "\nb", []string{"!" + long[:1024], "b"}},
		{"UTF-16 after UTF-8", "a\nb\x00\r\x00\n\x00\r\x00\n\x00c\x00\r\x00\n\x00", []string{"a", "!b\x00\r\x00", "", "!\x00c\x00\r\x00", ""}},
		{"a web page in between", "a\n<!DOCTYPE html>\n<p>b</p>\n  <HTML lang=en>\n<x\n", []string{"a", "!<!DOCTYPE html>", "<p>b</p>", "!  <HTML lang=en>", "<x"}},
		{"NUL at the end", "a\n\x00\x00\x00", []string{"a", ""}},
		{"too long at the end", "a\n" + long + long, []string{"a", "!" + long[:1024]}},
	} {
		lines := feed.NewLines(bufio.NewReaderSize(strings.NewReader(tc.text), feed.MaxLine+2))
		var got []string
		count, err := lines.Each(func(line feed.Line) error {
			if line.Number != len(got)+1 {
				t.Errorf("%s: line %d is numbered %d", tc.name, len(got)+1, line.Number)
			}
			text := line.Text
			if line.Fault != "" {
				text = "!" + text
			}
			got = append(got, text)
			return nil
		})
		if err != nil || !slices.Equal(got, tc.want) || count != len(tc.want) {
			t.Errorf("%s: %d lines, want %d (%v)", tc.name, count, len(tc.want), err)
		}
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	parsed := false
	form := feed.Form{Expected: "the expected form", Parse: func(_ feed.Form, r *bufio.Reader, _ func(*feed.Candidate) error) (int, error) {
		parsed = true
		if rest, err := io.ReadAll(r); err != nil || string(rest) != "data" {
			t.Errorf("the parser got %q, %v", rest, err)
		}
		return 1, nil
	}}
	for _, tc := range []struct{ text, want string }{
		{"", "the file is empty"},
		{" \r\n\t\n", "the file is empty"},
		{"\ufeff", "the file is empty"},
		{"<!DOCTYPE html><html>", "web page"},
		{"\r\n  <html lang=en>", "web page"},
		{"\ufeff<?xml version='1.0'?>", "web page"},
		{"<response><row>", "XML"},
		{"\xff\xfed\x00a\x00", "UTF-16"},
		{"d\x00a\x00t\x00a\x00", "UTF-16"},
		{"a,b\r1,2\r3,4\r", "carriage return alone"},
		{"a,b\r1,2\r", "carriage return alone"},
		{"\x1f\x8b\x08", "gzip"},
		{"PK\x03\x04", "zip"},
		{"data", ""},
		{"\ufeffdata", ""},
	} {
		parsed = false
		_, _, err := feedtest.ReadAll(form, tc.text)
		if tc.want == "" {
			if err != nil || !parsed {
				t.Errorf("%q: %v", tc.text, err)
			}
			continue
		}
		if parsed || models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "expected the expected form") {
			t.Errorf("%q: %v", tc.text, err)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"short": "short", strings.Repeat("é", 201): strings.Repeat("é", 200), "a\xffb": "a\ufffdb", "": "",
	} {
		if got := feed.Shown(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestKebab(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"Pick 3": "pick-3", " Daily  4 ": "daily-4", "Cash Five!": "cash-five", "": "", "Mega-Millions": "mega-millions"} {
		if got := feed.Kebab(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
