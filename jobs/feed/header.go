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
	twice  string         // the first name that occurs twice; "" = none
}

// FoldName makes names equal that differ only in case, spaces, underscores and the marks # and *: "Midday Win 4 #" and
// "midday_win_4" are the same column.
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

// Distinct returns an error if a name occurs twice. Call it only for a row known to be a header: any other row may well
// repeat a value.
func (h *Header) Distinct() error {
	if h.twice == "" {
		return nil
	}
	return models.Errorf(models.CodeInvalid, "the header names the column %q twice: keep one of them", Shown(h.twice))
}

// noHeader returns the error for a file whose first row is not the form's header.
func (f Form) noHeader(row string) error {
	why := separated(row)
	if fields, fault := SplitFields(nil, row); fault == "" && why == "" {
		why = Undivided(fields, row)
	}
	return f.unusable(fmt.Sprintf("%q is not the header", Shown(row)) + why)
}

// Column returns the index of a column by its folded name, or -1.
func (h *Header) Column(folded string) int {
	if i, ok := h.index[folded]; ok {
		return i
	}
	return -1
}

// Cell returns the field of row in column i; an empty one for a missing column (-1).
func (h *Header) Cell(row []string, i int) Cell {
	if i < 0 {
		return Cell{}
	}
	return Cell{h.Names[i], row[i]}
}

// split appends the fields of line to fields, none if SplitFields cannot split it. fault, if not empty, says why line
// is not a row of this table.
func (h *Header) split(fields []string, line Line) (_ []string, fault string) {
	split, fault := SplitFields(fields, line.Text)
	switch {
	case line.Fault != "":
		return split, line.Fault
	case fault != "":
		return fields, fault
	case len(split) != len(h.Names):
		return split, fmt.Sprintf("the row has %s, the header has %d", models.Count(len(split), "field"), len(h.Names)) + Undivided(split, line.Text)
	default:
		return split, ""
	}
}

// repeats reports whether fields repeat the header, as they do in a file concatenated from several.
func (h *Header) repeats(fields []string) bool {
	return slices.EqualFunc(fields, h.folded, func(field, name string) bool { return h.fold(strings.TrimSpace(field)) == name })
}

// notice reports whether a line that does not begin like a row is a title or a disclaimer: it has exactly one non-blank
// field (the first, if it has as many fields as a row); or a different number of fields than a row, none of them
// beginning with a digit, whether or not its quotes pair up (if it is more than quotes). fields and fault are what
// split returned for it.
func (h *Header) notice(line Line, fields []string, fault string) bool {
	switch {
	case len(fields) == 0:
		fields = strings.Split(line.Text, ",")
		return Bare(line.Text) != "" && len(fields) != len(h.Names) && !slices.ContainsFunc(fields, BeginsWithDigit)
	case filled(fields) == 1:
		return fault != "" || strings.TrimSpace(fields[0]) != ""
	default:
		return fault != "" && !slices.ContainsFunc(fields, BeginsWithDigit)
	}
}

// maxShown is how many characters of a file a report or message quotes at most.
const maxShown = 200

// Shown returns s as a report shows it: valid UTF-8 of at most maxShown characters.
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
