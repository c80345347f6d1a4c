package feed

import (
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

// Ignored finds the columns of a table that its form does not read.
type Ignored struct {
	form    Form
	header  *Header
	columns []int // unknown ones that have had no value so far
}

// NewIgnored watches the columns of a table that are not known; a -1 in known is skipped.
func (f Form) NewIgnored(h *Header, known ...int) *Ignored {
	g := &Ignored{form: f, header: h}
	for i := range h.Names {
		if !slices.Contains(known, i) {
			g.columns = append(g.columns, i)
		}
	}
	return g
}

// Row examines the fields of one complete row.
func (g *Ignored) Row(fields []string) {
	g.columns = slices.DeleteFunc(g.columns, func(i int) bool {
		cell := g.header.Cell(fields, i)
		if cell.Column == "" {
			cell.Column = strconv.Itoa(i + 1)
		}
		g.form.Ignore(cell)
		return !cell.Blank()
	})
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
