package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"
)

// The log of the counters is compacted: the counters that its rows name are written to the table
// quota_counters, in that table's order, and then the rows are deleted. Each contact does one step of a
// millisecond or two, since requests wait.

const (
	// compactKeys and compactRows are how many counters the log may name, and how many rows it may have, before it is
	// compacted, since a process that starts reads all of it. If more counters are in use, compaction waits until the
	// log names each compactUses times on average, so that it is written to quota_counters less often; but the log
	// never exceeds mostRows rows.
	compactKeys = 20_000
	compactRows = 1_000
	compactUses = 4
	mostRows    = 50_000

	// How many counters a step looks at, how many it writes to quota_counters, and how many rows it deletes.
	compactLook  = 10_000
	compactStore = 200
	compactTake  = 1_000
)

// compaction collects what the rows name, stores it, and deletes the rows.
type compaction struct {
	to     int64            // the last row to be compacted; 0 = no compaction is under way
	known  int              // how many counters were known when it began: these rows name no others
	looked int              // how many of those have been looked at
	named  [64][]counterKey // counters that the rows name and that are not stored yet, by the ids' part of the alphabet
	sorted int              // how many parts of named are sorted
	past   bool             // some counters are of past days
	stored bool             // all counters are stored
	taken  int64            // rows below this one are deleted
	ended  int              // how many compactions have ended
}

// compactPatience is how long compact waits for other writers; unlike a request, it can afford to.
const compactPatience = 5 * time.Second

// compact moves all of the log to quota_counters.
func (l *quotaLog) compact(ctx context.Context) error {
	wanted, progress := -1, time.Now()
	for done := false; !done; {
		err := l.contact(ctx, func(*sql.Tx) error {
			c := &l.compaction
			if wanted < 0 {
				wanted = c.ended + 1
				if c.to != 0 {
					wanted++ // the log has grown since that compaction began
				}
			}
			done = c.ended >= wanted || l.newest == 0
			if !done && c.to == 0 {
				l.beginCompaction()
			}
			return nil
		})
		switch {
		case err == nil:
			progress = time.Now()
		case !Locked(err) || ctx.Err() != nil || time.Since(progress) > compactPatience:
			return err
		}
	}
	return nil
}

// logged reports whether quota_counters may lack the counter's value.
func (l *quotaLog) logged(c *counter) bool { return c.row > 0 && c.row >= l.oldest }

// compactIfDue begins a compaction if one is needed.
func (l *quotaLog) compactIfDue() {
	rows := l.newest - l.oldest
	if l.compaction.to == 0 && ((l.names >= compactKeys || rows >= compactRows) && l.names >= compactUses*len(l.known.at) || rows >= mostRows) {
		l.beginCompaction()
	}
}

func (l *quotaLog) beginCompaction() {
	l.compaction = compaction{to: l.newest, known: len(l.known.list), taken: l.oldest, ended: l.compaction.ended}
	l.names = 0
}

// compactSome does the next step. Call committed once the transaction has been committed.
func (l *quotaLog) compactSome(ctx context.Context, tx *sql.Tx) (committed func(), err error) {
	c := &l.compaction
	switch {
	case c.to == 0:
		return func() {}, nil
	case c.looked < c.known:
		return l.gatherSome(), nil
	case !c.stored:
		return l.storeSome(ctx, tx)
	default:
		return l.takeSome(ctx, tx)
	}
}

// gatherSome finds which of some known counters the rows name. Counters that became known since the compaction began
// are ignored: if every contact were about a new account, there would be no end.
func (l *quotaLog) gatherSome() (committed func()) {
	c := &l.compaction
	some := l.known.list[c.looked:min(c.looked+compactLook, c.known)]
	c.looked += len(some)
	for i := range some {
		if key := some[i].key; l.logged(&some[i]) {
			part := alphabetic(key.key)
			c.named[part] = append(c.named[part], key)
			c.past = c.past || key.start < l.today
		}
	}
	return func() {}
}

// alphabetic returns in which of 64 parts of the alphabet an id is. All ids begin with the same four characters.
func alphabetic(id string) int {
	if len(id) <= len("acc_") {
		return 0
	}
	return min(int(id[len("acc_")])/2, 63)
}

// storeSome writes some of the counters that the rows name, all of one period, to quota_counters. It may store newer
// values than those rows have; the rows with these are still in the log.
func (l *quotaLog) storeSome(ctx context.Context, tx *sql.Tx) (committed func(), err error) {
	c := &l.compaction
	part := slices.IndexFunc(c.named[:], func(keys []counterKey) bool { return len(keys) > 0 })
	if part < 0 {
		c.stored, l.oldest = true, c.to+1
		return func() {}, nil
	}
	keys := c.named[part]
	if part >= c.sorted {
		slices.SortFunc(keys, func(a, b counterKey) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.key, b.key))
		})
		c.sorted = part + 1
	}
	used := make(map[string]int64, compactStore)
	n := 0
	for ; n < min(compactStore, len(keys)) && keys[n].start == keys[0].start; n++ {
		if place, ok := l.known.at[keys[n]]; ok {
			used[keys[n].key] = l.known.list[place].used
		}
	}
	text, err := json.Marshal(used)
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO quota_counters (account_id, period_start, used)
		SELECT key, ?, value FROM json_each(?) WHERE true
		ON CONFLICT (account_id, period_start) DO UPDATE SET used = excluded.used`, keys[0].start, string(text))
	return func() { c.named[part] = keys[n:] }, err
}

// takeSome deletes some of the rows, from the oldest on. The newest row stays, so that others
// see that they missed none.
func (l *quotaLog) takeSome(ctx context.Context, tx *sql.Tx) (committed func(), err error) {
	c := &l.compaction
	last := min(c.taken+compactTake-1, c.to)
	_, err = tx.ExecContext(ctx, "DELETE FROM quota_log WHERE id <= ? AND id < (SELECT max(id) FROM quota_log)", last)
	return func() {
		c.taken = last + 1
		if last < c.to {
			return
		}
		if c.past {
			l.known.keep(l.today, l.logged)
		}
		*c = compaction{ended: c.ended + 1}
	}, err
}
