package store

import (
	"context"
	"database/sql"
	"slices"
)

// The log of the counters is compacted: what its rows name is brought to the table quota_counters, some with each
// contact, in the order of that table, and then the rows go.

const (
	// compactKeys and compactRows are how many counters and how many rows the log may name and have before it is
	// compacted: a process that starts reads it as a whole. Where more counters are in use, each is to be named
	// compactUses times, since that is how seldom it is written to quota_counters then; but there are never more than
	// mostRows.
	compactKeys = 20_000
	compactRows = 1_000
	compactUses = 4
	mostRows    = 50_000
	// compactPortion is how many counters a contact brings to quota_counters while it compacts: a millisecond's work.
	compactPortion = 200
)

// compact brings all of the log to quota_counters.
func (l *quotaLog) compact(ctx context.Context) error {
	for begun, done := false, false; !done; {
		err := l.contact(ctx, func(*sql.Tx) (map[counterKey]int64, error) {
			if l.compactTo == 0 {
				l.beginCompaction()
				begun = true
			}
			done = begun && len(l.portion()) == len(l.compacting)-l.done
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

// beginCompaction notes what is to be brought to quota_counters.
func (l *quotaLog) beginCompaction() {
	l.compactTo, l.names = l.newest, 0
	for k, c := range l.known {
		if l.logged(c) {
			l.compacting = append(l.compacting, k)
		}
	}
	slices.SortFunc(l.compacting, byCounter)
}

// compactSome writes some of what is being compacted, and takes the rows away after the last. Newer values than theirs
// may be written: their rows are in the log still. The newest row stays, so that others see that they missed none.
func (l *quotaLog) compactSome(ctx context.Context, tx *sql.Tx) error {
	if l.compactTo == 0 {
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
	if err != nil || l.done+len(portion) < len(l.compacting) {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM quota_log WHERE id <= ? AND id < (SELECT max(id) FROM quota_log)", l.compactTo)
	return err
}

// portion is what the next contact compacts.
func (l *quotaLog) portion() []counterKey {
	return l.compacting[l.done:min(l.done+compactPortion, len(l.compacting))]
}

// compacted is that the transaction of a compactSome has been committed. It begins the next compaction when that is due.
func (l *quotaLog) compacted() {
	if l.compactTo != 0 {
		if l.done += len(l.portion()); l.done < len(l.compacting) {
			return
		}
		l.oldest = l.compactTo + 1
		for _, k := range l.compacting {
			if k.start < l.today && !l.logged(l.known[k]) {
				delete(l.known, k)
			}
		}
		l.compactTo, l.compacting, l.done = 0, nil, 0
	}
	rows := l.newest - l.oldest
	if (l.names >= compactKeys || rows >= compactRows) && l.names >= compactUses*len(l.known) || rows >= mostRows {
		l.beginCompaction()
	}
}
