package feed

import (
	"slices"
	"strconv"
	"strings"
)

// mostIgnored is how many names are reported per file: in JSON, every record may have new ones.
const mostIgnored = 100

// Ignored finds the columns or keys in a file that its form does not read. If a lottery renames a column, or adds one
// for a new ball, its values must not be lost silently.
type Ignored struct {
	form    Form
	header  *Header
	columns []int           // unknown ones that have had no value so far
	keys    map[string]bool // unknown ones, folded, that have had a value
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

// NewIgnoredKeys watches the keys of records, which have no header.
func (f Form) NewIgnoredKeys() *Ignored { return &Ignored{form: f, keys: map[string]bool{}} }

// Row examines the fields of one complete row.
func (g *Ignored) Row(fields []string) {
	g.columns = slices.DeleteFunc(g.columns, func(i int) bool {
		if strings.TrimSpace(fields[i]) == "" {
			return false
		}
		name := g.header.Names[i]
		if name == "" {
			name = strconv.Itoa(i + 1)
		}
		g.tell(name)
		return true
	})
}

// Key examines an unknown key and its value. Keys with the same FoldName are the same.
func (g *Ignored) Key(cell Cell) {
	folded := FoldName(cell.Column)
	if cell.Blank() || g.keys[folded] || len(g.keys) == mostIgnored {
		return
	}
	g.keys[folded] = true
	g.tell(cell.Column)
}

func (g *Ignored) tell(column string) {
	if g.form.OnIgnored != nil {
		g.form.OnIgnored(column)
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
