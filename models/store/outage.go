package store

import "log/slog"

// Outage logs when something that is done again and again begins to fail and when it works again, but not each failure
// between: while the database is away, everything that needs it fails many times a minute.
type Outage struct{ lasts bool }

// Note takes the error of one attempt; nil = it worked.
func (o *Outage) Note(log *slog.Logger, err error, begins, ends string) {
	switch {
	case err != nil && !o.lasts:
		log.Warn(begins, "error", err)
	case err == nil && o.lasts:
		log.Info(ends)
	}
	o.lasts = err != nil
}
