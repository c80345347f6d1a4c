package feedtest

import (
	"fmt"
	"strings"

	"lottery/jobs/feed"
)

// textOf formats c on one line: `3: tx-pick-3 2013-09-09 Morning 398 fireball=5`. A field that could not be read appears
// as published, with its column and a question mark.
func textOf(c *feed.Candidate) string {
	if c.Malformed != "" {
		return fmt.Sprintf("%d: malformed[%s] %s", c.Line, c.MalformedCell.Column, c.Malformed)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d: %s", c.Line, c.GameID)
	if c.DateOK {
		fmt.Fprintf(&b, " %s", c.Date)
	} else {
		b.WriteString(unread(c.DateCell))
	}
	if c.Tod != 0 {
		fmt.Fprintf(&b, " %s", c.Tod)
	} else {
		b.WriteString(unread(c.TodCell))
	}
	if c.Sequence != 1 {
		fmt.Fprintf(&b, " #%d", c.Sequence)
	}
	if c.Number != "" {
		fmt.Fprintf(&b, " %s", c.Number)
	} else {
		b.WriteString(unread(c.NumberCell))
	}
	if !c.SumCell.Blank() {
		fmt.Fprintf(&b, " sum=%s", c.SumCell.Value)
	}
	for _, a := range c.Addons {
		fmt.Fprintf(&b, " %s=%s", a.Name, a.Value)
	}
	return b.String()
}

func unread(cell feed.Cell) string { return fmt.Sprintf(" ?%s=%q", cell.Column, cell.Value) }
