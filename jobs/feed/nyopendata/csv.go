package nyopendata

import (
	"bufio"
	"cmp"
	"slices"

	"lottery/jobs/feed"
)

// columns holds the column indexes of one slot's fields; sum and booster may be -1.
type columns struct {
	slot                 slot
	number, sum, booster int
}

// parseCSV reads the CSV export. A row with a different number of fields than the header becomes one malformed
// candidate.
func parseCSV(f feed.Form, r *bufio.Reader, yield func(*feed.Candidate) error) (int, error) {
	var c feed.Candidate
	return f.ReadTable(r, &feed.Table{
		Fold: feed.FoldName,
		Open: func(h *feed.Header) (*feed.Rows, error) {
			date := h.Column(dateColumn)
			cols, ok := findColumns(h)
			if date < 0 || !ok {
				return nil, nil
			}
			known := []int{date}
			for _, col := range cols {
				known = append(known, col.number, col.sum, col.booster)
			}
			unknown, row := f.Unknown(h, known...), make([]cells, 0, len(cols))
			return &feed.Rows{
				Date: date,
				Read: func(line feed.Line, fields []string) error {
					unknown(fields)
					row = row[:0]
					for _, col := range cols {
						row = append(row, cells{
							slot: col.slot, number: h.Cell(fields, col.number), sum: h.Cell(fields, col.sum), booster: h.Cell(fields, col.booster),
						})
					}
					return yieldRow(&c, line.Number, line.Text, h.Cell(fields, date), row, yield)
				},
			}, h.Distinct()
		},
	}, yield)
}

// findColumns returns the columns of all four slots, in the header's order. It requires their numbers: a renamed column
// must not lose its draws silently.
func findColumns(h *feed.Header) (cols []columns, ok bool) {
	for _, s := range slots {
		at := columns{slot: s, number: h.Column(s.column), sum: h.Column(s.column + "sum"), booster: h.Column(s.column + "booster")}
		if at.number < 0 {
			return nil, false
		}
		cols = append(cols, at)
	}
	slices.SortFunc(cols, func(a, b columns) int { return cmp.Compare(a.number, b.number) })
	return cols, true
}
