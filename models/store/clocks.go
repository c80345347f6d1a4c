package store

import (
	"log/slog"
	"time"
)

// ClocksApart is how far apart the clocks of machines may be.
const ClocksApart = time.Minute

// Clocks logs when this machine's clock and another one begin to differ by more than ClocksApart, and when they agree
// again.
type Clocks struct{ apart bool }

// Compare takes what the clock of whose machine said at some moment after this machine's said asked.
func (c *Clocks) Compare(log *slog.Logger, whose string, theirs, asked time.Time) {
	ahead := behind(theirs, asked, time.Now())
	switch apart := ahead.Abs() > ClocksApart; {
	case apart == c.apart:
		return
	case apart:
		log.Warn("this machine's clock and another are more than a minute apart; synchronize both with NTP",
			"other", whose, "ahead", ahead.Round(time.Second))
	default:
		log.Info("this machine's clock and the other agree again", "other", whose)
	}
	c.apart = !c.apart
}

// behind returns how far theirs is behind the time between asked and answered; it is below 0 if theirs is ahead. The
// monotonic clock, which nobody sets, does not count.
func behind(theirs, asked, answered time.Time) time.Duration {
	asked, answered = asked.Round(0), answered.Round(0)
	switch {
	case theirs.Before(asked):
		return asked.Sub(theirs)
	case theirs.After(answered):
		return answered.Sub(theirs)
	default:
		return 0
	}
}
