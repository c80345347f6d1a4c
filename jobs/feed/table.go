package feed

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Table describes how to read a form that has a header.
type Table struct {
	Fold func(name string) string // makes column names comparable
	// Open finds the form's columns in a header and returns what reads the rows below it: nil if the row is not a
	// header of the form. An error means a header with a fault.
	Open func(h *Header) (*Rows, error)
}

// Rows reads the rows below one header.
type Rows struct {
	Date int // the column that holds a date in every row, which distinguishes rows from headers
	Read func(line Line, fields []string) error
	// Begins reports whether a line begins like a row, and so is no title or disclaimer; fields is empty if the line
	// cannot be split. nil = a row begins with a digit, or, where the date is not the first column, most of its words do.
	Begins func(line Line, fields []string) bool
}

// ReadTable reads a table, skipping blank lines, titles and disclaimers. Another header of the form among the rows, as
// in concatenated files, applies to the rows below it. A row that cannot be split, or has a different number of fields
// than the header, is yielded as malformed. A file without any header is an error.
func (f Form) ReadTable(r *bufio.Reader, t *Table, yield func(*Candidate) error) (lines int, err error) {
	all := NewLines(r)
	header, rows, err := f.firstHeader(all, t)
	if err != nil {
		return all.read, err
	}
	var (
		fields    []string
		malformed Candidate
	)
	return all.Each(func(line Line) error {
		var fault string
		fields, fault = header.split(fields[:0], line)
		if line.Fault == "" && len(fields) > 1 && (rows.Date >= len(fields) || !BeginsWithDigit(fields[rows.Date])) {
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
		case line.Fault == "" && len(fields) > 0 && allBlank(fields):
			return nil
		case line.Fault == "" && !rows.begin(line, fields) && header.notice(line, fields, fault):
			if !InMarkup(line.Text) {
				f.Skip(line)
				return nil
			}
			fault = FaultMarkup
		case fault == "":
			return rows.Read(line, fields)
		}
		malformed.Reset(line.Number, line.Text)
		malformed.FailRow(fault)
		return yield(&malformed)
	})
}

// begin is Begins with its default.
func (r *Rows) begin(line Line, fields []string) bool {
	if r.Begins == nil {
		return BeginsWithDigit(line.Text) || r.Date > 0 && mostlyNumbers(line.Text)
	}
	return r.Begins(line, fields)
}

// mostlyNumbers reports whether a line, however it is divided, holds three words or more that begin with a digit, and
// fewer others.
func mostlyNumbers(line string) bool {
	words, numbers := Words(line), 0
	for _, word := range words {
		if BeginsWithDigit(word) {
			numbers++
		}
	}
	return numbers >= 3 && 2*numbers > len(words)
}

// firstHeader reads up to the form's header, skipping blank lines and titles, which are lines without a field that
// begins with a digit. If a row or the end comes first, the error quotes what was in the header's place: the last line
// above it with more than one field, or else the first. If a line that cannot be read comes first, it says why.
func (f Form) firstHeader(lines *Lines, t *Table) (*Header, *Rows, error) {
	first, instead := "", ""
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil, nil, f.noHeader(cmp.Or(instead, first))
		}
		if err != nil {
			return nil, nil, err
		}
		if line.Fault != "" {
			return nil, nil, f.unusable(fmt.Sprintf("no header before line %d, and %s", line.Number, line.Fault))
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
