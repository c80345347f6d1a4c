package feed

import (
	"cmp"
	"slices"
	"strconv"
)

// mostIgnored is how many names are reported per file: in JSON, every record may have new ones.
const mostIgnored = 100

// Ignore tells OnIgnored of a field that the form does not read, unless it is blank. If a lottery renames a column, or
// adds one for a new ball, its values must not be lost silently.
func (f Form) Ignore(cell Cell) {
	if f.OnIgnored != nil && !cell.Blank() {
		f.OnIgnored(cell.Column)
	}
}

// Unknown returns what examines each complete row of a table for values in columns that are not known; a -1 in known is
// skipped.
func (f Form) Unknown(h *Header, known ...int) (row func(fields []string)) {
	var columns []int // unknown ones that have had no value so far
	for i := range h.Names {
		if !slices.Contains(known, i) {
			columns = append(columns, i)
		}
	}
	return func(fields []string) {
		columns = slices.DeleteFunc(columns, func(i int) bool {
			cell := Cell{cmp.Or(h.Names[i], strconv.Itoa(i+1)), fields[i]}
			f.Ignore(cell)
			return !cell.Blank()
		})
	}
}

// onceEach returns a function that calls tell once for each name, whichever header or record has it. Names with the
// same FoldName are the same.
func onceEach(tell func(column string)) func(column string) {
	if tell == nil {
		return nil
	}
	told := map[string]bool{}
	return func(column string) {
		if folded := FoldName(column); !told[folded] && len(told) < mostIgnored {
			told[folded] = true
			tell(column)
		}
	}
}
