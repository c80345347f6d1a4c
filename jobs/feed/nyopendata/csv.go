package nyopendata

import (
	"bufio"
	"strings"

	"lottery/jobs/feed"
)

// columns is where the header put one slot's fields; sum and booster may be -1.
type columns struct {
	slot                 slot
	number, sum, booster int
}

// parseCSV reads the CSV export. A row that does not have the header's fields is one malformed candidate.
func parseCSV(f feed.Form, r *bufio.Reader, yield func(*feed.Candidate) error) (int, error) {
	lines := feed.NewLines(r)
	header, err := f.ReadHeader(lines, feed.FoldName)
	if err != nil {
		return lines.Count(), err
	}
	date := header.Column(dateColumn)
	cols, ok := findColumns(header)
	if date < 0 || !ok {
		return lines.Count(), f.NoHeader(strings.Join(header.Names, ","))
	}
	if err := header.Distinct(); err != nil {
		return lines.Count(), err
	}
	known := []int{date}
	for _, col := range cols {
		known = append(known, col.number, col.sum, col.booster)
	}
	var (
		c       feed.Candidate
		fields  []string
		row     = make([]cells, 0, len(cols))
		ignored = f.NewIgnored(header, known...)
	)
	return lines.Each(func(line feed.Line) error {
		var fault string
		fields, fault = header.Split(fields[:0], line)
		if header.Skipped(line, fields, fault) {
			return nil
		}
		if fault != "" {
			c.Reset(line.Number, line.Text)
			c.FailRow(fault)
			return yield(&c)
		}
		ignored.Row(fields)
		row = row[:0]
		for _, col := range cols {
			row = append(row, cells{
				slot: col.slot, place: col.number,
				number: header.Cell(fields, col.number), sum: header.Cell(fields, col.sum), booster: header.Cell(fields, col.booster),
			})
		}
		return yieldRow(&c, line.Number, line.Text, header.Cell(fields, date), row, yield)
	})
}

// findColumns wants the number columns of all four slots: a renamed one must not lose its draws in silence.
func findColumns(h *feed.Header) (cols []columns, ok bool) {
	for _, s := range slots {
		at := columns{slot: s, number: h.Column(s.column), sum: h.Column(s.column + "sum"), booster: h.Column(s.column + "booster")}
		if at.number < 0 {
			return nil, false
		}
		cols = append(cols, at)
	}
	return cols, true
}
