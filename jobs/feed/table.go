package feed

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
)

// Table is how a form that has a header is read.
type Table struct {
	Fold func(name string) string // makes column names comparable
	// Open finds the form's columns in a header, and gives what reads the rows below it: nil if the row is no header of
	// the form. An error is a header with a fault.
	Open func(h *Header) (*Rows, error)
}

// Rows reads the rows below one header.
type Rows struct {
	Date int // the column that has a date in every row, and so tells rows from headers
	Read func(line Line, fields []string) error
	// Begins tells whether a line begins as a row does, and so is no title or disclaimer; fields is empty where the line
	// cannot be split. nil = a row begins with a digit.
	Begins func(line Line, fields []string) bool
}

// ReadTable reads a table, past blank lines, titles and disclaimers. Where a header of the form stands among the rows,
// because files were put together, the rows below it are read by it. A row that cannot be split, or has not as many fields
// as the header, is handed to yield as malformed. A file without any header is an error.
func (f Form) ReadTable(r *bufio.Reader, t *Table, yield func(*Candidate) error) (lines int, err error) {
	all := NewLines(r)
	header, rows, err := f.firstHeader(all, t)
	if err != nil {
		return all.Count(), err
	}
	var (
		fields    []string
		malformed Candidate
	)
	return all.Each(func(line Line) error {
		var fault string
		fields, fault = header.split(fields[:0], line)
		if !line.TooLong && len(fields) > 1 && (rows.Date >= len(fields) || !BeginsWithDigit(fields[rows.Date])) {
			if header.repeats(fields) {
				return nil
			}
			again := newHeader(fields, t.Fold)
			opened, err := t.Open(again)
			if err != nil {
				return err
			}
			if opened != nil {
				header, rows = again, opened
				return nil
			}
		}
		switch {
		case !line.TooLong && len(fields) > 0 && AllBlank(fields):
			return nil
		case !line.TooLong && !rows.begin(line, fields) && header.notice(line, fields, fault):
			return nil
		case fault != "":
			malformed.Reset(line.Number, line.Text)
			malformed.FailRow(fault)
			return yield(&malformed)
		default:
			return rows.Read(line, fields)
		}
	})
}

// begin is Begins.
func (r *Rows) begin(line Line, fields []string) bool {
	if r.Begins == nil {
		return BeginsWithDigit(line.Text)
	}
	return r.Begins(line, fields)
}

// firstHeader reads on to the form's header, past blank lines and titles: lines without a field that begins with a
// digit. Where a row comes first, or the end, the error names what stands in the header's place: the last line above it
// with more than one field, or else the first.
func (f Form) firstHeader(lines *Lines, t *Table) (*Header, *Rows, error) {
	first, instead := "", ""
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil, f.noHeader(cmp.Or(instead, first))
		}
		if err != nil {
			return nil, nil, err
		}
		if line.TooLong {
			return nil, nil, f.noHeader(cmp.Or(instead, line.Text))
		}
		fields, fault := SplitFields(nil, line.Text)
		if fault != "" {
			fields = strings.Split(line.Text, ",")
		}
		if filled(fields) <= 1 {
			first = cmp.Or(first, strings.TrimSpace(line.Text))
			continue
		}
		if fault == "" {
			h := newHeader(fields, t.Fold)
			if rows, err := t.Open(h); rows != nil || err != nil {
				return h, rows, err
			}
		}
		if slices.ContainsFunc(fields, BeginsWithDigit) {
			return nil, nil, f.noHeader(cmp.Or(instead, line.Text))
		}
		instead = line.Text
	}
}

// filled is how many fields are not blank.
func filled(fields []string) (n int) {
	for _, field := range fields {
		if strings.TrimSpace(field) != "" {
			n++
		}
	}
	return n
}
