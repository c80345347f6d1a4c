package sandbox

import (
	"fmt"
	"strings"
	"time"
)

// nextPeriod returns the first period end after a time, counted from the anchor. As at Stripe, an anchor on the 31st
// gives the 30th or 28th in shorter months and the 31st again after them.
func nextPeriod(anchor, after int64, p *price) int64 {
	a := time.Unix(anchor, 0).UTC()
	for n := int64(1); ; n++ {
		if end := addIntervals(a, p, n).Unix(); end > after {
			return end
		}
	}
}

func addIntervals(a time.Time, p *price, n int64) time.Time {
	n *= p.Count
	switch p.Interval {
	case "day":
		return a.AddDate(0, 0, int(n))
	case "week":
		return a.AddDate(0, 0, 7*int(n))
	case "year":
		return addMonths(a, 12*int(n))
	default:
		return addMonths(a, int(n))
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
