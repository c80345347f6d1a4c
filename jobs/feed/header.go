package feed

import (
	"fmt"
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

// noHeader is the error for a file whose first row is not the form's header.
func (f Form) noHeader(row string) error {
	return f.unusable(fmt.Sprintf("%q is not the header", Shown(row)) + separated(row))
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

// split appends the fields of line to fields; of a line that SplitFields cannot split, none.
// fault, if not empty, is why line is no row of this table.
func (h *Header) split(fields []string, line Line) (_ []string, fault string) {
	split, fault := SplitFields(fields, line.Text)
	switch {
	case line.TooLong:
		return split, "the line is longer than 64 KiB"
	case fault != "":
		return fields, fault
	case len(split) != len(h.Names):
		return split, fmt.Sprintf("the row has %d fields, the header has %d", len(split), len(h.Names)) + Undivided(split, line.Text)
	default:
		return split, ""
	}
}

// repeats tells whether fields say the same as the header: files that were put together have it again for each part.
func (h *Header) repeats(fields []string) bool {
	return slices.EqualFunc(fields, h.folded, func(field, name string) bool { return h.fold(strings.TrimSpace(field)) == name })
}

// notice tells whether a line that does not begin as a row does is a title or a disclaimer. It has one field that is not
// blank, or another number of fields than a row and none that begins with a digit, or quotes that do not pair up and not
// as many commas as a row. fields and fault are what split made of it.
func (h *Header) notice(line Line, fields []string, fault string) bool {
	switch {
	case len(fields) == 0:
		return strings.Count(line.Text, ",")+1 != len(h.Names)
	case filled(fields) == 1:
		return fault != "" || strings.TrimSpace(fields[0]) != ""
	default:
		return fault != "" && !slices.ContainsFunc(fields, BeginsWithDigit)
	}
}

// maxShown is the longest piece of a file that a report or a message repeats, in characters.
const maxShown = 200

// Shown is s as a report shows it: valid UTF-8 of at most maxShown characters.
func Shown(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxShown {
		return s
	}
	characters := 0
	for i := range s {
		if characters == maxShown {
			return s[:i]
		}
		characters++
	}
	return s
}
