package store

import (
	"log/slog"
	"time"
)

// Outage logs when something that is done again and again begins to fail and when it works again, but not each failure
// between: while the database is away, everything that needs it fails many times a minute. Nor does it log each change
// of something that works now and then, as with some of its connections after PostgreSQL's password was changed: if it
// fails again within settledAfter, its end is logged only once it has worked for that long.
type Outage struct {
	Every time.Duration // how often one that lasts is logged again, with its present reason; 0 = never

	lasts    bool // as the log has it
	relapsed bool
	said     time.Time // when a failure was logged last
	failed   time.Time // the last failure
	ended    time.Time // when an end was logged last
}

const settledAfter = 10 * time.Second

// Note takes the error of one attempt; nil = it worked.
func (o *Outage) Note(log *slog.Logger, err error, begins, ends string) {
	now := time.Now()
	switch {
	case err != nil && !o.lasts:
		log.Warn(begins, "error", err)
		o.lasts, o.relapsed, o.failed, o.said = true, now.Sub(o.ended) < settledAfter, now, now
	case err != nil:
		if o.failed = now; o.Every > 0 && now.Sub(o.said) >= o.Every {
			log.Warn(begins, "error", err)
			o.said = now
		}
	case o.lasts && (!o.relapsed || now.Sub(o.failed) >= settledAfter):
		log.Info(ends)
		o.lasts, o.ended = false, now
	}
}
