package admin

import (
	"cmp"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

const (
	absentCell = "-"
	columnGap  = 3
	// narrowest is the width below which no column of prose goes.
	narrowest = 12
)

// tables writes results for people. On a terminal, long cells continue on the next line, within their column, and a list
// that does not fit even so becomes a block of lines for each row. No word is broken: ids, times and URLs can be copied.
// For programs, each row is one line, however long.
type tables struct {
	w     io.Writer
	width int // of the terminal; 0 = none
}

func tablesTo(w io.Writer) tables {
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return tables{w, width}
		}
	}
	return tables{w: w}
}

// write writes one object as two columns, key and value, and a list as a table with a header. Nested objects follow below
// as tables of their own.
func (t tables) write(v any) error {
	rows, keys := rowsOf(v)
	if reflect.Indirect(reflect.ValueOf(v)).Kind() == reflect.Struct {
		return t.object(rows[0])
	}
	lines := [][]string{heads(keys)}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, f := range row {
			cells[i] = cell(f)
		}
		lines = append(lines, cells)
	}
	if err := t.list(lines); err != nil {
		return err
	}
	return t.details(rows, keys)
}

func (t tables) object(row []field) error {
	var lines [][]string
	for _, f := range flatten("", row) {
		lines = append(lines, []string{head(f.key), cell(f)})
	}
	if err := t.aligned(lines); err != nil {
		return err
	}
	for _, f := range row {
		if !isObjects(f) || f.value.Len() == 0 {
			continue
		}
		if _, err := io.WriteString(t.w, "\n"+head(f.key)+"\n"); err != nil {
			return err
		}
		if err := t.write(f.value.Interface()); err != nil {
			return err
		}
	}
	return nil
}

// flatten turns the fields of a nested object into fields of the outer one.
func flatten(prefix string, row []field) []field {
	var flat []field
	for _, f := range row {
		f.key = prefix + f.key
		v := f.value
		for v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() == reflect.Struct {
			flat = append(flat, flatten(f.key+"_", fieldsOf(v))...)
		} else {
			flat = append(flat, f)
		}
	}
	return flat
}

// details writes the lists inside a list's rows, each preceded by the row's first field.
func (t tables) details(rows [][]field, keys []string) error {
	for i, key := range keys {
		var lines [][]string
		for _, row := range rows {
			if !isObjects(row[i]) {
				continue
			}
			inner, names := rowsOf(row[i].value.Interface())
			for _, fields := range inner {
				if lines == nil {
					lines = append(lines, append([]string{head(keys[0])}, heads(names)...))
				}
				cells := []string{cell(row[0])}
				for _, f := range fields {
					cells = append(cells, cell(f))
				}
				lines = append(lines, cells)
			}
		}
		if lines == nil {
			continue
		}
		if _, err := io.WriteString(t.w, "\n"+head(key)+"\n"); err != nil {
			return err
		}
		if err := t.list(lines); err != nil {
			return err
		}
	}
	return nil
}

// isObjects reports whether f is a list of objects.
func isObjects(f field) bool {
	return f.value.Kind() == reflect.Slice && f.value.Type().Elem().Kind() == reflect.Struct
}

// cell returns f on one line; for a list of objects, its length.
func cell(f field) string {
	if isObjects(f) {
		return strconv.Itoa(f.value.Len())
	}
	return cmp.Or(strings.ReplaceAll(clean(f.text()), "\n", " "), absentCell)
}

func heads(keys []string) []string {
	list := make([]string, len(keys))
	for i, key := range keys {
		list[i] = head(key)
	}
	return list
}

func head(key string) string { return strings.ToUpper(strings.ReplaceAll(key, "_", " ")) }

// list writes a table whose first line is its header.
func (t tables) list(lines [][]string) error {
	if t.width == 0 || t.widths(lines) != nil {
		return t.aligned(lines)
	}
	if len(lines) == 1 {
		return t.headers(lines[0])
	}
	for i, cells := range lines[1:] {
		var block [][]string
		for j, c := range cells {
			block = append(block, []string{lines[0][j], c})
		}
		if i > 0 {
			if _, err := io.WriteString(t.w, "\n"); err != nil {
				return err
			}
		}
		if err := t.aligned(block); err != nil {
			return err
		}
	}
	return nil
}

// headers writes the header of an empty list that does not fit the terminal on several lines.
func (t tables) headers(names []string) error {
	var b strings.Builder
	width := 0
	for i, name := range names {
		switch {
		case i == 0:
		case width+columnGap+text.StringWidth(name) > t.width:
			b.WriteString("\n")
			width = 0
		default:
			b.WriteString(strings.Repeat(" ", columnGap))
			width += columnGap
		}
		b.WriteString(name)
		width += text.StringWidth(name)
	}
	_, err := io.WriteString(t.w, b.String()+"\n")
	return err
}

// aligned writes lines of cells as columns.
func (t tables) aligned(lines [][]string) error {
	w := table.NewWriter()
	w.SetStyle(table.Style{Box: table.BoxStyle{PaddingRight: strings.Repeat(" ", columnGap)}})
	w.SuppressTrailingSpaces()
	var columns []table.ColumnConfig
	for i, width := range t.widths(lines) {
		columns = append(columns, table.ColumnConfig{Number: i + 1, WidthMax: width, WidthMaxEnforcer: text.WrapSoft})
	}
	w.SetColumnConfigs(columns)
	for _, cells := range lines {
		row := make(table.Row, len(cells))
		for i, c := range cells {
			row[i] = c
		}
		w.AppendRow(row)
	}
	_, err := io.WriteString(t.w, w.Render()+"\n")
	return err
}

// widths returns the columns' widths at which a table fits the terminal: the widest columns become narrower, as far as
// their longest words allow. Nil = there is no terminal, or it does not fit.
func (t tables) widths(lines [][]string) []int {
	if t.width == 0 {
		return nil
	}
	var full, least []int // of each column: as wide as it is, and as narrow as it may be
	for _, cells := range lines {
		for i, c := range cells {
			if i == len(full) {
				full, least = append(full, 0), append(least, 0)
			}
			full[i] = max(full[i], text.StringWidth(c))
			for word := range strings.FieldsSeq(c) {
				least[i] = max(least[i], text.StringWidth(word))
			}
		}
	}
	for limit := slices.Max(append(full, narrowest)); limit >= narrowest; limit-- {
		widths, sum := make([]int, len(full)), -columnGap
		for i := range widths {
			widths[i] = min(full[i], max(limit, least[i]))
			sum += widths[i] + columnGap
		}
		if sum <= t.width {
			return widths
		}
	}
	return nil
}
