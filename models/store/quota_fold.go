package store

import (
	"context"
	"database/sql"
	"slices"
)

// How the log of the counters is brought to the table quota_counters: some with each contact, in the order of that
// table, and then their rows go.

const (
	// foldKeys and foldRows are how many counters and how many rows the log may name and have before it is folded: a
	// process that starts reads it as a whole.
	foldKeys = 20_000
	foldRows = 1_000
	// foldPortion is how many counters a contact brings to quota_counters while it folds: a millisecond's work.
	foldPortion = 200
)

// fold brings all of the log to quota_counters.
func (l *quotaLog) fold(ctx context.Context) error {
	for begun, done := false, false; !done; {
		err := l.contact(ctx, func(*sql.Tx) (map[counterKey]int64, error) {
			if l.foldTo == 0 {
				l.beginFold()
				begun = true
			}
			done = begun && len(l.portion()) == len(l.folding)-l.done
			return map[counterKey]int64{}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// logged tells whether quota_counters may not have the counter yet.
func (l *quotaLog) logged(c counter) bool { return c.row > 0 && c.row >= l.oldest }

// beginFold notes what is to be brought to quota_counters.
func (l *quotaLog) beginFold() {
	l.foldTo, l.names = l.newest, 0
	for k, c := range l.known {
		if l.logged(c) {
			l.folding = append(l.folding, k)
		}
	}
	slices.SortFunc(l.folding, byCounter)
}

// foldSome writes some of what is being folded, and takes the rows away after the last. Newer values than theirs
// may be written: their rows are in the log still. The newest row stays, so that others see that they missed none.
func (l *quotaLog) foldSome(ctx context.Context, tx *sql.Tx) error {
	if l.foldTo == 0 {
		return nil
	}
	portion := l.portion()
	list := make([][3]any, len(portion))
	for i, k := range portion {
		list[i] = [3]any{k.key, k.start, l.known[k].used}
	}
	err := execJSON(ctx, tx, `INSERT INTO quota_counters (account_id, period_start, used)
		SELECT value->>0, value->>1, value->>2 FROM json_each(?) WHERE true
		ON CONFLICT (account_id, period_start) DO UPDATE SET used = excluded.used`, list)
	if err != nil || l.done+len(portion) < len(l.folding) {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM quota_log WHERE id <= ? AND id < (SELECT max(id) FROM quota_log)", l.foldTo)
	return err
}

// portion is what the next contact folds.
func (l *quotaLog) portion() []counterKey {
	return l.folding[l.done:min(l.done+foldPortion, len(l.folding))]
}

// folded is that the transaction of a foldSome has been committed. It begins the next fold when that is due.
func (l *quotaLog) folded() {
	if l.foldTo != 0 {
		if l.done += len(l.portion()); l.done < len(l.folding) {
			return
		}
		l.oldest = l.foldTo + 1
		for _, k := range l.folding {
			if k.start < l.today && !l.logged(l.known[k]) {
				delete(l.known, k)
			}
		}
		l.foldTo, l.folding, l.done = 0, nil, 0
	}
	if l.names >= foldKeys || l.newest-l.oldest >= foldRows {
		l.beginFold()
	}
}
