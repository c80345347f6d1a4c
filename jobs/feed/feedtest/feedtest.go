// Package feedtest holds what the parsers' tests share: tables of texts and candidates, and the property that their
// fuzz targets check.
package feedtest

import (
	"slices"
	"strings"
	"testing"

	"lottery/jobs/feed"
	"lottery/models"
)

// Case is a text in a published form and its candidates, as textOf writes them.
type Case struct {
	Name    string
	Text    string
	Want    []string
	Ignored []string // the columns and keys that are not read
	Skipped []int    // the lines that are taken for titles, but hold several numbers
}

// ReadAll collects the candidates of a text, and returns how many lines it has.
func ReadAll(form feed.Form, text string) (candidates []feed.Candidate, lines int, err error) {
	lines, err = form.Read(strings.NewReader(text), func(c *feed.Candidate) error {
		kept := *c
		kept.Addons = slices.Clone(c.Addons) // valid only until the parser's next step
		candidates = append(candidates, kept)
		return nil
	})
	return candidates, lines, err
}

// Run parses each case.
func Run(t *testing.T, form feed.Form, cases []Case) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.Name, func(t *testing.T) {
			t.Parallel()
			var ignored []string
			var skipped []int
			form := form
			form.OnIgnored = func(column string) { ignored = append(ignored, column) }
			form.OnSkipped = func(line int, _ string) { skipped = append(skipped, line) }
			candidates, lines, err := ReadAll(form, tc.Text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ignored, tc.Ignored) {
				t.Errorf("ignored %q, want %q", ignored, tc.Ignored)
			}
			if !slices.Equal(skipped, tc.Skipped) {
				t.Errorf("skipped %v, want %v", skipped, tc.Skipped)
			}
			if want := countLines(tc.Text); lines != want {
				t.Errorf("%d lines, want %d", lines, want)
			}
			got := make([]string, len(candidates))
			for i := range candidates {
				got[i] = textOf(&candidates[i])
			}
			if strings.Join(got, "\n") != strings.Join(tc.Want, "\n") {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(tc.Want, "\n     "))
			}
		})
	}
}

// Unusable parses texts that are not files of the form; each error must be a models.Error that contains the given text.
func Unusable(t *testing.T, form feed.Form, cases map[string]string) {
	t.Helper()
	for text, want := range cases {
		_, _, err := ReadAll(form, text)
		if models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Fuzz seeds f with the cases and checks, for any text, that parsing it does not panic, fails only with an error meant
// for the operator, counts its lines, keeps candidates in order and inside the file, marks as read only what was read,
// and yields a candidate for every line that data says must be a draw. data gets the lines that follow the first
// candidate, or all lines if it needs no header.
func Fuzz(f *testing.F, form feed.Form, cases []Case, data func(line string) bool) {
	f.Helper()
	for _, tc := range cases {
		if len(tc.Text) < feed.MaxLine { // the fuzzer would spend its time on shortening longer ones
			f.Add([]byte(tc.Text))
		}
	}
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		candidates, lines, err := ReadAll(form, string(text))
		if err != nil {
			if models.ErrorCode(err) != models.CodeInvalid {
				t.Fatalf("an error that is not for the operator: %v", err)
			}
			return
		}
		content := strings.TrimPrefix(string(text), "\ufeff")
		if want := countLines(content); lines != want {
			t.Fatalf("%d lines, want %d", lines, want)
		}
		given := map[int]bool{}
		last := 1
		for i := range candidates {
			c := &candidates[i]
			if c.Line < last || c.Line > lines {
				t.Fatalf("candidate on line %d of %d, after one on line %d", c.Line, lines, last)
			}
			last, given[c.Line] = c.Line, true
			check(t, c)
		}
		if len(candidates) == 0 {
			return
		}
		for i, line := range strings.Split(content, "\n") {
			if number := i + 1; number > candidates[0].Line && data(strings.TrimSuffix(line, "\r")) && !given[number] {
				t.Fatalf("line %d disappeared: %q", number, line)
			}
		}
	})
}

// check checks what must hold for every candidate.
func check(t *testing.T, c *feed.Candidate) {
	t.Helper()
	switch {
	case c.Malformed != "":
		return
	case c.Sequence < 1 || c.Sequence > models.MaxSequence:
		t.Fatalf("sequence %d: %s", c.Sequence, textOf(c))
	case c.DateOK && c.Date < models.FirstDate:
		t.Fatalf("date %s: %s", c.Date, textOf(c))
	case c.Tod > models.Night:
		t.Fatalf("tod %d: %s", c.Tod, textOf(c))
	case c.Balls && strings.Trim(c.Number, "0123456789") != "":
		t.Fatalf("balls %q: %s", c.Number, textOf(c))
	}
}

// countLines returns how many physical lines text has.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
