package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"lottery/models"
)

// QuotaKind is what a QuotaOp does.
type QuotaKind uint8

// The kinds of operation on a counter.
const (
	QuotaTake  QuotaKind = iota // grant up to Need, and perhaps an advance, while the limit allows
	QuotaAdd                    // add N, which may be negative, whatever the limit
	QuotaPeek                   // only look
	QuotaReset                  // back to zero
	QuotaFloor                  // at least N: what a node knew of a counter that its ledger may have lost
)

// QuotaOp is one operation on the counter of one key in one period.
type QuotaOp struct {
	Kind   QuotaKind
	Key    string        // the account's id
	Period time.Duration // periods begin at multiples of it since 1970 UTC: 24 h is the UTC day
	Start  int64         // QuotaAdd, QuotaFloor: the period's beginning (Unix seconds); other kinds act on the period of the store's clock

	Need   int64 // QuotaTake: requests that wait
	Recent int64 // QuotaTake: what the node used of late: the most that it may take in advance; 0 = no advance
	Held   int64 // QuotaTake: what the node holds in advance already
	Limit  int64 // QuotaTake: of the period
	N      int64 // QuotaAdd, QuotaFloor
}

// QuotaResult is what became of a QuotaOp.
type QuotaResult struct {
	Granted int64 // QuotaTake
	Used    int64 // afterwards: granted in the period, over all nodes
	Start   int64 // of the period, Unix seconds
}

// QuotaSingly is where advances stop: when this few requests are left, every request is counted singly.
const (
	QuotaSingly   = 256
	quotaFraction = 16 // of what is left may be held in advance
)

// Dated tells whether the operation names its period, rather than meaning the present one.
func (op *QuotaOp) Dated() bool { return op.Kind == QuotaAdd || op.Kind == QuotaFloor }

// grant is how much of a counter at used the operation gets.
func (op *QuotaOp) grant(used int64) int64 {
	left := op.Limit - used
	if left <= 0 {
		return 0
	}
	granted := min(op.Need, left)
	left -= granted
	return granted + max(0, QuotaAdvance(left, op.Recent)-op.Held)
}

// QuotaAdvance is how much a node may hold in advance when left requests are left and it used recent of late.
func QuotaAdvance(left, recent int64) int64 {
	if left <= QuotaSingly {
		return 0
	}
	return min(left/quotaFraction, recent)
}

// apply changes a counter at used. On PostgreSQL the function quota_apply of migration 6 does the same.
func (op *QuotaOp) apply(used int64) (after int64, r QuotaResult) {
	switch op.Kind {
	case QuotaTake:
		r.Granted = op.grant(used)
		used += r.Granted
	case QuotaAdd:
		used = max(0, used+op.N)
	case QuotaFloor:
		used = max(used, op.N)
	case QuotaReset:
		used = 0
	case QuotaPeek:
	}
	r.Used = used
	return used, r
}

// ErrQuotaUnclear marks a failure after which nobody knows whether the operations were applied.
var ErrQuotaUnclear = errors.New("the counters may have been changed")

// counterKey is a counter's row.
type counterKey struct {
	key   string
	start int64
}

func byCounter(a, b counterKey) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.start, b.start))
}

// ApplyQuota does the operations in their order, in one transaction, and tells the time of the counters' clock:
// PostgreSQL's own, or for SQLite this machine's. An error wraps ErrQuotaUnclear unless nothing was applied.
func (s *Store) ApplyQuota(ctx context.Context, ops []QuotaOp) ([]QuotaResult, time.Time, error) {
	if s.dialect == Postgres {
		return s.quotaPostgres(ctx, ops)
	}
	tx, err := s.counters.BeginTx(ctx, nil)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("count requests: %w", err)
	}
	results, now, err := s.applyQuota(ctx, tx, ops)
	if err != nil {
		return nil, now, errors.Join(fmt.Errorf("count requests: %w", err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return nil, now, fmt.Errorf("count requests: %w: %w", ErrQuotaUnclear, err)
	}
	return results, now, nil
}

func (s *Store) applyQuota(ctx context.Context, tx *sql.Tx, ops []QuotaOp) ([]QuotaResult, time.Time, error) {
	now := s.now()
	if len(ops) == 0 {
		return nil, now, nil
	}
	keys := make([]counterKey, len(ops))
	for i := range ops {
		keys[i] = counterKey{ops[i].Key, ops[i].Start}
		if !ops[i].Dated() {
			keys[i].start = models.PeriodStart(now, ops[i].Period)
		}
	}
	rows := slices.Clone(keys)
	slices.SortFunc(rows, byCounter)
	rows = slices.Compact(rows)
	used, err := s.readCounters(ctx, tx, rows)
	if err != nil {
		return nil, now, err
	}
	results := make([]QuotaResult, len(ops))
	changed := make(map[counterKey]bool, len(rows))
	for i := range ops {
		before := used[keys[i]]
		after, r := ops[i].apply(before)
		r.Start = keys[i].start
		results[i] = r
		if after != before {
			used[keys[i]], changed[keys[i]] = after, true
		}
	}
	rows = slices.DeleteFunc(rows, func(k counterKey) bool { return !changed[k] })
	return results, now, s.writeCounters(ctx, tx, rows, used)
}

// readCounters reads many counters with one statement: SQLite's driver parses a statement every time that it runs.
func (s *Store) readCounters(ctx context.Context, tx *sql.Tx, rows []counterKey) (map[counterKey]int64, error) {
	used := make(map[counterKey]int64, len(rows))
	list := make([][2]any, len(rows))
	for i, k := range rows {
		list[i] = [2]any{k.key, k.start}
	}
	found, err := queryJSON(ctx, tx, `SELECT q.account_id, q.period_start, q.used FROM json_each(?) AS k
		JOIN quota_counters AS q ON q.account_id = k.value->>0 AND q.period_start = k.value->>1`, list)
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
	return used, found.Err()
}

func (s *Store) writeCounters(ctx context.Context, tx *sql.Tx, rows []counterKey, used map[counterKey]int64) error {
	list := make([][3]any, len(rows))
	for i, k := range rows {
		list[i] = [3]any{k.key, k.start, used[k]}
	}
	return execJSON(ctx, tx, `INSERT INTO quota_counters (account_id, period_start, used)
		SELECT value->>0, value->>1, value->>2 FROM json_each(?) WHERE true
		ON CONFLICT (account_id, period_start) DO UPDATE SET used = excluded.used`, list)
}

// queryJSON and execJSON run a statement whose one parameter is rows, for SQLite's json_each.
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

// ReadQuota reads a counter of the running period without the write lock: on SQLite that works while an import holds
// it. On PostgreSQL a database that cannot be written cannot be read either: ok is false.
func (s *Store) ReadQuota(ctx context.Context, key string, period time.Duration) (used, start int64, ok bool) {
	if s.dialect != SQLite {
		return 0, 0, false
	}
	start = models.PeriodStart(s.now(), period)
	err := s.reader(ctx).Table("quota_counters").Select("used").
		Where("account_id = ? AND period_start = ?", key, start).Limit(1).Scan(&used).Error
	return used, start, err == nil
}

// openCounters gives the counters their own way in. On SQLite that is one connection which gives up on the write
// lock soon: while an import holds it, requests are counted in memory rather than held up.
func (s *Store) openCounters() (err error) {
	if s.dialect == Postgres {
		s.counters, err = s.write.DB()
		return err
	}
	s.counters, err = sql.Open("sqlite", sqliteURI(s.path, url.Values{
		"_pragma": {"busy_timeout(50)", "journal_mode(WAL)", "synchronous(NORMAL)"}, "_txlock": {"immediate"},
	}))
	if err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	s.counters.SetMaxOpenConns(1)
	return nil
}
