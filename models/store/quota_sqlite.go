package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"time"

	"lottery/models"
)

// quotaLog counts on SQLite. What one contact with the database changes is one new row of the table quota_log, however
// many counters that are; quota_counters is brought up to date later, in the order of its key. So a contact writes a
// page or two, not a page for each account.
//
// What is known of counters is kept in memory, and is true as long as the newest row seen is still in the log: what any
// process has changed since is in the rows behind it.
type quotaLog struct {
	write *sql.DB // one connection, which gives up on the write lock soon
	read  *sql.DB
	now   func() time.Time

	mu     sync.Mutex
	newest int64 // id of the newest row seen; 0 = none
	oldest int64 // id of the oldest row that quota_counters does not have yet
	known  map[counterKey]counter
	today  int64 // when the UTC day began, of which more is known than the log names (Unix seconds)

	names      int          // how many counters the rows name that are not being compacted
	compactTo  int64        // the rows up to this one are being compacted; 0 = none
	compacting []counterKey // what those rows name
	done       int          // how many of compacting are in quota_counters
}

// counter is what is known of one.
type counter struct {
	used int64
	row  int64 // id of the newest row that names it; 0 = it was read from quota_counters
}

// loggedCounter is a counter in a row of quota_log.
type loggedCounter struct {
	Account string `json:"a"`
	Start   int64  `json:"s"`
	Used    int64  `json:"u"`
}

// mostKnown is how many counters are kept in memory.
const mostKnown = 200_000

// openQuotaLog gives the counters their own way in: while an import holds SQLite's write lock, requests are counted in
// memory rather than held up.
func openQuotaLog(path string, read *sql.DB, now func() time.Time) (*quotaLog, error) {
	write, err := sql.Open("sqlite", sqliteURI(path, url.Values{
		"_pragma": {"busy_timeout(50)", "journal_mode(WAL)", "synchronous(NORMAL)"}, "_txlock": {"immediate"},
	}))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	return &quotaLog{write: write, read: read, now: now, known: map[counterKey]counter{}}, nil
}

// apply does the operations in their order, in one transaction, and tells its time.
func (l *quotaLog) apply(ctx context.Context, ops []QuotaOp) (results []QuotaResult, now time.Time, err error) {
	err = l.contact(ctx, func(tx *sql.Tx) (changed map[counterKey]int64, err error) {
		now = l.now() // nobody else counts from here on: a wait for the write lock may have lasted beyond midnight
		l.turn(models.PeriodStart(now, 24*time.Hour))
		results, changed, err = l.decide(ctx, tx, ops, now)
		return changed, err
	})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("count requests: %w", err)
	}
	return results, now, nil
}

// look is what a counter says, without the write lock.
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
	used, err := l.values(ctx, tx, []counterKey{key})
	return used[key], err
}

// contact is one transaction: it makes the change, by what all others did, and compacts some if that is due.
func (l *quotaLog) contact(ctx context.Context, change func(tx *sql.Tx) (map[counterKey]int64, error)) error {
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, err := l.changeIn(ctx, tx, change)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		l.forget()
		return fmt.Errorf("%w: %w", ErrQuotaUnclear, err)
	}
	if len(changed) > 0 {
		l.newest++
		for k, used := range changed {
			l.note(k, used)
		}
	}
	l.compacted()
	return nil
}

// changeIn makes the change by what is known, if that is all there is, which appending its row tells: that saves a
// question. Else it learns what others did, and makes the change anew.
func (l *quotaLog) changeIn(ctx context.Context, tx *sql.Tx, change func(tx *sql.Tx) (map[counterKey]int64, error)) (map[counterKey]int64, error) {
	for known := l.newest > 0; ; known = false {
		if !known {
			if err := l.catchUp(ctx, tx); err != nil {
				return nil, err
			}
		}
		changed, err := change(tx)
		if err != nil {
			return nil, err
		}
		appended, err := l.append(ctx, tx, changed)
		switch {
		case err != nil:
			return nil, err
		case appended, !known && len(changed) == 0:
			return changed, l.compactSome(ctx, tx)
		case !known:
			return nil, fmt.Errorf("quota_log has rows after %d, which was its newest just now", l.newest)
		}
	}
}

// decide does the operations on what is known, or else stored, and gives the counters that they change.
func (l *quotaLog) decide(ctx context.Context, tx *sql.Tx, ops []QuotaOp, now time.Time) ([]QuotaResult, map[counterKey]int64, error) {
	keys := make([]counterKey, len(ops))
	for i := range ops {
		keys[i] = counterKey{ops[i].Key, ops[i].Start}
		if !ops[i].Dated() {
			keys[i].start = models.PeriodStart(now, ops[i].Period)
		}
	}
	used, err := l.values(ctx, tx, keys)
	if err != nil {
		return nil, nil, err
	}
	results := make([]QuotaResult, len(ops))
	changed := make(map[counterKey]int64, len(ops))
	for i := range ops {
		before := used[keys[i]]
		after, r := ops[i].apply(before)
		r.Start = keys[i].start
		results[i] = r
		if after != before {
			used[keys[i]], changed[keys[i]] = after, after
		}
	}
	return results, changed, nil
}

// values is what counters say. Those of today are remembered.
func (l *quotaLog) values(ctx context.Context, tx *sql.Tx, keys []counterKey) (map[counterKey]int64, error) {
	used := make(map[counterKey]int64, len(keys))
	var unknown [][2]any
	for _, k := range keys {
		c, ok := l.known[k]
		if !ok {
			unknown = append(unknown, [2]any{k.key, k.start})
		}
		used[k] = c.used
	}
	if len(unknown) == 0 {
		return used, nil
	}
	found, err := queryJSON(ctx, tx, `SELECT q.account_id, q.period_start, q.used FROM json_each(?) AS k
		JOIN quota_counters AS q ON q.account_id = k.value->>0 AND q.period_start = k.value->>1`, unknown)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var k counterKey
		var n int64
		if err := found.Scan(&k.key, &k.start, &n); err != nil {
			return nil, err
		}
		used[k] = n
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	for _, k := range keys {
		if _, ok := l.known[k]; !ok && k.start >= l.today {
			l.known[k] = counter{used: used[k]}
		}
	}
	return used, nil
}

// append writes the row of a contact, if the newest row seen is the newest there is.
func (l *quotaLog) append(ctx context.Context, tx *sql.Tx, changed map[counterKey]int64) (appended bool, err error) {
	if len(changed) == 0 {
		return false, nil
	}
	row := make([]loggedCounter, 0, len(changed))
	for k, used := range changed {
		row = append(row, loggedCounter{k.key, k.start, used})
	}
	text, err := json.Marshal(row)
	if err != nil {
		return false, err
	}
	written, err := tx.ExecContext(ctx, "INSERT INTO quota_log (counters) VALUES (?)", string(text))
	if err != nil {
		return false, err
	}
	id, err := written.LastInsertId() // one more than that of the newest row
	if err != nil || id == l.newest+1 {
		return err == nil, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM quota_log WHERE id = ?", id)
	return false, err
}

// note is that the newest row names a counter.
func (l *quotaLog) note(k counterKey, used int64) {
	l.known[k] = counter{used, l.newest}
	l.names++
}

// catchUp reads the rows that are new.
func (l *quotaLog) catchUp(ctx context.Context, tx *sql.Tx) error {
	continues, err := l.readRows(ctx, tx)
	if err != nil || continues {
		return err
	}
	l.forget() // another process compacted rows that were not seen here, or the database is another one
	_, err = l.readRows(ctx, tx)
	return err
}

// readRows reads the log from the newest row seen on, and tells whether that is still there.
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
			return false, nil // it is not
		}
		var counters []loggedCounter
		if err := json.Unmarshal(text, &counters); err != nil {
			return false, fmt.Errorf("row %d of quota_log: %w", id, err)
		}
		l.newest = id
		for _, c := range counters {
			l.note(counterKey{c.Account, c.Start}, c.Used)
		}
	}
	return continues || seen == 0, rows.Err()
}

// forget begins anew with what the database says.
func (l *quotaLog) forget() {
	l.newest, l.oldest, l.known = 0, 0, map[counterKey]counter{}
	l.names, l.compactTo, l.compacting, l.done = 0, 0, nil, 0
}

// turn drops what was known of past days, and all that can be read again when that is too much.
func (l *quotaLog) turn(today int64) {
	tooMany := len(l.known) > mostKnown
	if l.today == today && !tooMany {
		return
	}
	l.today = today
	maps.DeleteFunc(l.known, func(k counterKey, c counter) bool {
		return !l.logged(c) && (tooMany || k.start < today)
	})
}

// queryJSON and execJSON run a statement whose one parameter is rows, for SQLite's json_each: its driver parses a
// statement every time that it runs.
func queryJSON(ctx context.Context, tx *sql.Tx, statement string, rows any) (*sql.Rows, error) {
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	return tx.QueryContext(ctx, statement, string(text))
}

func execJSON(ctx context.Context, tx *sql.Tx, statement string, rows any) error {
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, statement, string(text))
	return err
}
