package sandbox

import (
	"fmt"
	"strings"
	"time"
)

// nextPeriod returns the first period end after a time, counted from the anchor. As at Stripe, an anchor on the 31st
// gives the 30th or 28th in shorter months and the 31st again after them.
func nextPeriod(anchor, after int64, p *price) int64 {
	a, months := time.Unix(anchor, 0).UTC(), int(p.Count)
	if p.Interval == "year" {
		months *= 12
	}
	for n := 1; ; n++ {
		if end := addMonths(a, n*months).Unix(); end > after {
			return end
		}
	}
}

// addMonths keeps the day of the month if the month has it, and otherwise takes its last day.
func addMonths(a time.Time, n int) time.Time {
	b := a.AddDate(0, n, 0)
	if b.Day() != a.Day() {
		b = b.AddDate(0, 0, -b.Day())
	}
	return b
}

// money formats an amount for people.
func money(cents int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, strings.ToUpper(currency))
}
