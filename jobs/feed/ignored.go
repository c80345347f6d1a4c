package feed

import (
	"slices"
	"strconv"
	"strings"
)

// mostIgnored is how many names of one file are told: records may have new ones each.
const mostIgnored = 100

// Ignored finds what a file has besides what its form reads. A lottery that renames a column, or adds one for a new
// ball, must not lose its values in silence.
type Ignored struct {
	form    Form
	header  *Header
	columns []int           // unknown ones that had no value yet
	keys    map[string]bool // unknown ones, folded, that had one
}

// NewIgnored looks at the columns of a table beside the known ones; -1 among these stands for none.
func (f Form) NewIgnored(h *Header, known ...int) *Ignored {
	g := &Ignored{form: f, header: h}
	for i := range h.Names {
		if !slices.Contains(known, i) {
			g.columns = append(g.columns, i)
		}
	}
	return g
}

// NewIgnoredKeys looks at the keys of records, which have no header.
func (f Form) NewIgnoredKeys() *Ignored { return &Ignored{form: f, keys: map[string]bool{}} }

// Row looks at the fields of one whole row.
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

// Key looks at an unknown key and its value. Keys that differ only as FoldName allows are the same.
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

// onceEach passes each name on once, whatever header or record of a file it stands in. Those that differ only as FoldName
// allows are the same.
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
