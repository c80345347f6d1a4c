package admin

import (
	"cmp"
	"io"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
)

const (
	absentCell = "-"
	columnGap  = 3
)

// writeTable writes one object as two columns, key and value, and a list as a table with a header. Nested objects
// follow below as tables of their own.
func writeTable(w io.Writer, v any) error {
	rows, keys := rowsOf(v)
	if reflect.Indirect(reflect.ValueOf(v)).Kind() == reflect.Struct {
		return writeObject(w, rows[0])
	}
	table := [][]string{heads(keys)}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, f := range row {
			cells[i] = cell(f)
		}
		table = append(table, cells)
	}
	if err := writeAligned(w, table); err != nil {
		return err
	}
	return writeDetails(w, rows, keys)
}

func writeObject(w io.Writer, row []field) error {
	var lines [][]string
	for _, f := range flatten("", row) {
		lines = append(lines, []string{head(f.key), cell(f)})
	}
	if err := writeAligned(w, lines); err != nil {
		return err
	}
	for _, f := range row {
		if !isObjects(f) || f.value.Len() == 0 {
			continue
		}
		if _, err := io.WriteString(w, "\n"+head(f.key)+"\n"); err != nil {
			return err
		}
		if err := writeTable(w, f.value.Interface()); err != nil {
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

// writeDetails writes the lists inside a list's rows, each preceded by the row's first field.
func writeDetails(w io.Writer, rows [][]field, keys []string) error {
	for i, key := range keys {
		var table [][]string
		for _, row := range rows {
			if !isObjects(row[i]) {
				continue
			}
			inner, names := rowsOf(row[i].value.Interface())
			for _, fields := range inner {
				if table == nil {
					table = append(table, append([]string{head(keys[0])}, heads(names)...))
				}
				cells := []string{cell(row[0])}
				for _, f := range fields {
					cells = append(cells, cell(f))
				}
				table = append(table, cells)
			}
		}
		if table == nil {
			continue
		}
		if _, err := io.WriteString(w, "\n"+head(key)+"\n"); err != nil {
			return err
		}
		if err := writeAligned(w, table); err != nil {
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

func writeAligned(w io.Writer, lines [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 0, columnGap, ' ', 0)
	for _, cells := range lines {
		if _, err := io.WriteString(tw, strings.Join(cells, "\t")+"\n"); err != nil {
			return err
		}
	}
	return tw.Flush()
}
