package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"lottery/models"
)

// quotaLog counts on SQLite. All counters that one contact changes are appended to the table quota_log as a
// single row; quota_counters is updated later, in the order of its key. So a contact writes a page or two
// instead of a page per account.
//
// Known counters are kept in memory. They are valid as long as the newest row seen is still in the log, since
// everything that any process has changed since is in the rows after it.
type quotaLog struct {
	write *sql.DB // one connection, which soon gives up on the write lock
	read  *sql.DB
	now   func() time.Time

	mu     sync.Mutex
	newest int64 // id of the newest row seen; 0 = none
	oldest int64 // id of the oldest row that is not in quota_counters yet
	known  knownCounters
	today  int64 // start of the UTC day of which more may be known than the log names (Unix seconds)

	places  []int32         // of the counters that a contact is about, one per operation
	changed []int32         // of those that it changes
	keys    []counterKey    // of its operations
	row     []loggedCounter // what it writes

	names      int // how many counters are named by rows that are not being compacted
	compaction compaction
}

// loggedCounter is a counter in a row of quota_log.
type loggedCounter struct {
	Account string `json:"a"`
	Start   int64  `json:"s"`
	Used    int64  `json:"u"`
}

// openQuotaLog opens a separate connection for the counters: while an import holds SQLite's write lock, requests are
// counted in memory instead of being delayed.
func openQuotaLog(path string, read *sql.DB, now func() time.Time) (*quotaLog, error) {
	write, err := sql.Open("sqlite", sqliteURI(path, url.Values{
		"_pragma": {"busy_timeout(50)", "journal_mode(WAL)", logLimit, "synchronous(NORMAL)"}, "_txlock": {"immediate"},
	}))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	return &quotaLog{write: write, read: read, now: now}, nil
}

// apply applies the operations in order, in one transaction, and returns that transaction's time.
func (l *quotaLog) apply(ctx context.Context, ops []QuotaOp) (results []QuotaResult, now time.Time, err error) {
	err = l.contact(ctx, func(tx *sql.Tx) (err error) {
		now = l.now() // nobody else counts from here on; waiting for the write lock may have taken beyond midnight
		results, err = l.decide(ctx, tx, ops, now)
		return err
	})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("count requests: %w", err)
	}
	return results, now, nil
}

// look returns a counter's value without the write lock.
func (l *quotaLog) look(ctx context.Context, key counterKey) (int64, error) {
	tx, err := l.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was changed
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.catchUp(ctx, tx); err != nil {
		return 0, err
	}
	l.keys = append(l.keys[:0], key)
	if err := l.find(ctx, tx); err != nil {
		return 0, err
	}
	return l.known.list[l.places[0]].used, nil
}

// contact is one transaction: it makes the change based on what all others did, and does a step of
// compaction if one is due.
func (l *quotaLog) contact(ctx context.Context, change func(tx *sql.Tx) error) error {
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	appended, compacted, err := l.changeIn(ctx, tx, change)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		l.forget()
		if saidBySQLite(err) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrQuotaUnclear, err)
	}
	if appended {
		l.newest++
		l.settle()
	}
	compacted()
	l.compactIfDue()
	return nil
}

// changeIn makes the change based on what is known. Appending its row reveals whether anything is newer, which
// saves a query; if so, it reads what others did and makes the change again. Call compacted once the
// transaction has been committed.
func (l *quotaLog) changeIn(ctx context.Context, tx *sql.Tx, change func(tx *sql.Tx) error) (appended bool, compacted func(), err error) {
	for known := l.newest > 0; ; known = false {
		if !known {
			if err := l.catchUp(ctx, tx); err != nil {
				return false, nil, err
			}
		}
		l.changed = l.changed[:0]
		if err := change(tx); err != nil {
			return false, nil, err
		}
		appended, err := l.append(ctx, tx)
		switch {
		case err != nil:
			return false, nil, err
		case appended, !known && len(l.changed) == 0:
			compacted, err := l.compactSome(ctx, tx)
			return appended, compacted, err
		case !known:
			return false, nil, fmt.Errorf("quota_log has rows after %d, which was its newest just now", l.newest)
		}
	}
}

// decide applies the operations to known or stored counters. The new values are kept beside the old ones until settle.
func (l *quotaLog) decide(ctx context.Context, tx *sql.Tx, ops []QuotaOp, now time.Time) ([]QuotaResult, error) {
	l.turn(models.PeriodStart(now, 24*time.Hour))
	l.keys = l.keys[:0]
	for i := range ops {
		key := counterKey{ops[i].Key, ops[i].Start}
		if !ops[i].Dated() {
			key.start = models.PeriodStart(now, ops[i].Period)
		}
		l.keys = append(l.keys, key)
	}
	if err := l.find(ctx, tx); err != nil {
		return nil, err
	}
	for _, place := range l.places {
		c := &l.known.list[place]
		c.next, c.changes = c.used, false
	}
	results := make([]QuotaResult, len(ops))
	l.changed, l.row = l.changed[:0], l.row[:0]
	for i, place := range l.places {
		c := &l.known.list[place]
		before := c.next
		c.next, results[i] = ops[i].apply(before)
		results[i].Start = l.keys[i].start
		if c.next != before && !c.changes {
			c.changes = true
			l.changed = append(l.changed, place)
			l.row = append(l.row, loggedCounter{Account: l.keys[i].key, Start: l.keys[i].start})
		}
	}
	for i, place := range l.changed {
		l.row[i].Used = l.known.list[place].next
	}
	return results, nil
}

// settle takes over the changes of the last decide, which are now in the newest row.
func (l *quotaLog) settle() {
	for _, place := range l.changed {
		c := &l.known.list[place]
		c.used, c.row = c.next, l.newest
	}
	l.names += len(l.changed)
}

// find makes the counters of l.keys known, and their places. If many had to be queried, it reads all of the day
// instead; from then on, one that is not among them is known to be zero.
func (l *quotaLog) find(ctx context.Context, tx *sql.Tx) error {
	unknown := l.findKnown()
	if len(unknown) > 0 && l.today > 0 && l.known.wantAll(len(unknown)) { // before the first count, the day is not known
		if err := l.readAll(ctx, tx); err != nil {
			return err
		}
		unknown = l.findKnown()
	}
	if len(unknown) == 0 {
		return nil
	}
	text, err := json.Marshal(unknown) // one parameter, since the driver parses a statement every time it runs
	if err != nil {
		return err
	}
	found, err := tx.QueryContext(ctx, `SELECT q.account_id, q.period_start, q.used FROM json_each(?) AS k
		JOIN quota_counters AS q ON q.account_id = k.value->>0 AND q.period_start = k.value->>1`, string(text))
	if err != nil {
		return err
	}
	if _, err := l.learn(found); err != nil {
		return err
	}
	for i, k := range l.keys {
		l.places[i] = l.known.place(k)
	}
	return nil
}

// findKnown sets the places of those of l.keys that are known, and returns the others.
func (l *quotaLog) findKnown() (unknown [][2]any) {
	l.places = l.places[:0]
	for _, k := range l.keys {
		place, ok := l.known.find(k)
		if !ok {
			unknown = append(unknown, [2]any{k.key, k.start})
		}
		l.places = append(l.places, place)
	}
	return unknown
}

// readAll reads the counters of today and later, once.
func (l *quotaLog) readAll(ctx context.Context, tx *sql.Tx) error {
	l.known.asked = allAsked
	found, err := tx.QueryContext(ctx, "SELECT account_id, period_start, used FROM quota_counters WHERE period_start >= ? LIMIT ?", l.today, mostRead)
	if err != nil {
		return err
	}
	read, err := l.learn(found)
	l.known.whole, l.known.since = err == nil && read < mostRead, l.today
	return err
}

// learn adds counters from the database that are not known yet, and returns how many it read.
func (l *quotaLog) learn(found *sql.Rows) (read int, err error) {
	defer found.Close()
	for ; found.Next(); read++ {
		var k counterKey
		var used int64
		if err := found.Scan(&k.key, &k.start, &used); err != nil {
			return read, err
		}
		if _, ok := l.known.at[k]; !ok { // otherwise the log has a newer value
			l.known.counter(k).used = used
		}
	}
	return read, found.Err()
}

// append writes a contact's row, if the newest row seen is still the newest.
func (l *quotaLog) append(ctx context.Context, tx *sql.Tx) (appended bool, err error) {
	if len(l.changed) == 0 {
		return false, nil
	}
	text, err := json.Marshal(l.row)
	if err != nil {
		return false, err
	}
	written, err := tx.ExecContext(ctx, "INSERT INTO quota_log (counters) VALUES (?)", string(text))
	if err != nil {
		return false, err
	}
	id, err := written.LastInsertId() // one more than the newest row's id
	if err != nil || id == l.newest+1 {
		return err == nil, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM quota_log WHERE id = ?", id)
	return false, err
}

// catchUp reads the new rows.
func (l *quotaLog) catchUp(ctx context.Context, tx *sql.Tx) error {
	continues, err := l.readRows(ctx, tx)
	if err != nil || continues {
		return err
	}
	l.forget() // another process compacted rows not seen here, or this is another database
	_, err = l.readRows(ctx, tx)
	return err
}

// readRows reads the log from the newest row seen on. It reports whether that row is still there.
func (l *quotaLog) readRows(ctx context.Context, tx *sql.Tx) (continues bool, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, CASE WHEN id > ?1 THEN counters END FROM quota_log WHERE id >= ?1 ORDER BY id", l.newest)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	seen := l.newest
	for rows.Next() {
		var id int64
		var text []byte
		if err := rows.Scan(&id, &text); err != nil {
			return false, err
		}
		switch {
		case id == seen:
			continues = true
			continue
		case seen == 0 && l.newest == 0:
			l.oldest = id
		case seen != 0 && !continues:
			return false, nil // it is gone
		}
		var counters []loggedCounter
		if err := json.Unmarshal(text, &counters); err != nil {
			return false, fmt.Errorf("row %d of quota_log: %w", id, err)
		}
		l.newest = id
		for _, c := range counters {
			known := l.known.counter(counterKey{c.Account, c.Start})
			known.used, known.row = c.Used, id
			l.names++
		}
	}
	return continues || seen == 0, rows.Err()
}

// forget discards everything known; the next read starts from the database.
func (l *quotaLog) forget() {
	l.newest, l.oldest, l.known = 0, 0, knownCounters{}
	l.names, l.compaction = 0, compaction{ended: l.compaction.ended}
}

// turn drops what is known of past days.
func (l *quotaLog) turn(today int64) {
	if l.today == today {
		return
	}
	l.known.keep(today, l.logged)
	l.today = today
	if l.compaction.to != 0 && !l.compaction.stored {
		l.beginCompaction() // it was going through the list of known counters
	}
}
