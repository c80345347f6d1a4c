package feed

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lottery/models"
)

// Header is the first row of a table.
type Header struct {
	Names  []string // as published, trimmed
	fold   func(string) string
	folded []string       // Names, folded
	index  map[string]int // folded name → column
	twice  string         // the first name that stands twice; "" = none does
}

// FoldName makes names comparable that differ only in case, spaces, underscores and the marks # and *:
// "Midday Win 4 #" and "midday_win_4" are the same column.
func FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '_', '#', '*', '\u00a0':
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// ReadHeader reads on to the first row of a table, past blank lines and titles of one field, and folds its
// names by fold. A file without any row of several fields is an error. Whether the row is the form's header, the
// parser finds out by its columns; then it asks for Distinct.
func (f Form) ReadHeader(lines *Lines, fold func(string) string) (*Header, error) {
	title := ""
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil, f.NoHeader(title)
		}
		if err != nil {
			return nil, err
		}
		fields, fault := SplitFields(nil, line.Text)
		if line.TooLong || fault != "" {
			return nil, f.NoHeader(line.Text)
		}
		if len(fields) > 1 {
			return newHeader(fields, fold), nil
		}
		if title == "" {
			title = line.Text
		}
	}
}

func newHeader(fields []string, fold func(string) string) *Header {
	h := &Header{Names: make([]string, len(fields)), fold: fold, folded: make([]string, len(fields)), index: make(map[string]int, len(fields))}
	for i, name := range fields {
		h.Names[i] = strings.TrimSpace(name)
		folded := fold(h.Names[i])
		h.folded[i] = folded
		if _, twice := h.index[folded]; twice && folded != "" && h.twice == "" {
			h.twice = h.Names[i]
		}
		h.index[folded] = i
	}
	return h
}

// Distinct is an error if a name stands twice. A row that is no header at all may well repeat itself, so this is
// asked only of what is known to be one.
func (h *Header) Distinct() error {
	if h.twice == "" {
		return nil
	}
	return models.Errorf(models.CodeInvalid, "the header names the column %q twice: keep one of them", Shown(h.twice))
}

// NoHeader is the error for a file whose first row is not the form's header.
func (f Form) NoHeader(row string) error {
	return f.unusable(fmt.Sprintf("%q is not the header", Shown(row)))
}

// Column is the place of a column by its folded name, or -1.
func (h *Header) Column(folded string) int {
	if i, ok := h.index[folded]; ok {
		return i
	}
	return -1
}

// Cell is the field of row in column i; of a column that the table does not have (-1), an empty one.
func (h *Header) Cell(row []string, i int) Cell {
	if i < 0 {
		return Cell{}
	}
	return Cell{h.Names[i], row[i]}
}

// Split appends the fields of line to fields; of a line that SplitFields cannot split, none.
// fault, if not empty, is why line is no row of this table.
func (h *Header) Split(fields []string, line Line) (_ []string, fault string) {
	split, fault := SplitFields(fields, line.Text)
	switch {
	case line.TooLong:
		return split, "the line is longer than 64 KiB"
	case fault != "":
		return fields, fault
	case len(split) != len(h.Names):
		return split, fmt.Sprintf("the row has %d fields, the header has %d", len(split), len(h.Names))
	default:
		return split, ""
	}
}

// Repeats tells whether fields say the same as the header: files that were put together have it again for each part.
func (h *Header) Repeats(fields []string) bool {
	return slices.EqualFunc(fields, h.folded, func(field, name string) bool { return h.fold(strings.TrimSpace(field)) == name })
}

// Skipped tells whether a line is blank, the header again, a title or a disclaimer of a lottery's table. A notice
// has one field, or quotes that do not pair up and not as many commas as a row, and does not begin as a row does:
// with a date. fields and fault are what Split made of the line.
func (h *Header) Skipped(line Line, fields []string, fault string) bool {
	switch {
	case line.TooLong:
		return false
	case h.Repeats(fields):
		return true
	case BeginsWithDigit(line.Text):
		return false
	case len(fields) == 0:
		return strings.Count(line.Text, ",")+1 != len(h.Names)
	case AllBlank(fields):
		return true
	default:
		return fault != "" && len(fields) == 1
	}
}

// MaxShown is the longest piece of a file that a report or a message repeats, in characters.
const MaxShown = 200

// Shown is s as a report shows it: valid UTF-8 of at most MaxShown characters.
func Shown(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= MaxShown {
		return s
	}
	characters := 0
	for i := range s {
		if characters == MaxShown {
			return s[:i]
		}
		characters++
	}
	return s
}
