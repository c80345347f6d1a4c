package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// quotaPostgres applies the operations in one round trip: the function of migration 17 locks, decides and counts.
func (s *Store) quotaPostgres(ctx context.Context, ops []QuotaOp) ([]QuotaResult, time.Time, error) {
	// Lock rows in the order of the keys, so that two nodes never wait for each other; operations on one
	// counter keep their order.
	order := make([]int, len(ops))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ops[a].Key, ops[b].Key) })
	n := len(ops)
	kinds, keys := make([]int16, n), make([]string, n)
	numbers := make([]int64, 7*n)
	column := func(i int) []int64 { return numbers[i*n : (i+1)*n] }
	for at, i := range order {
		op := &ops[i]
		kinds[at], keys[at] = int16(op.Kind), op.Key
		for c, v := range []int64{int64(op.Period / time.Second), op.Start, op.Need, op.Recent, op.Held, op.Limit, op.N} {
			column(c)[at] = v
		}
	}
	reports, err := reportsOf(ops, order)
	if err != nil {
		return nil, time.Time{}, err
	}
	args := []any{s.skew().Microseconds(), kinds, keys, column(0), column(1), column(2), column(3), column(4), column(5), column(6), reports}
	results := make([]QuotaResult, n)
	for broken := 0; ; broken++ {
		now, err := s.askPostgres(ctx, results, order, args)
		if err == nil {
			return results, now, nil
		}
		// That many connections may be idle, and each as broken as this one.
		if !brokenOff(err) || broken == urgentConnections {
			return nil, time.Time{}, err
		}
	}
}

// reportsOf returns what the QuotaRestores among the operations report, as JSON in their places; nil = there are none.
func reportsOf(ops []QuotaOp, order []int) (reports []string, err error) {
	for at, i := range order {
		if ops[i].Kind != QuotaRestore {
			continue
		}
		if reports == nil {
			reports = make([]string, len(ops))
		}
		text, err := json.Marshal(ops[i].Known)
		if err != nil {
			return nil, err
		}
		reports[at] = string(text)
	}
	return reports, nil
}

// askPostgres tries once, and fills results.
func (s *Store) askPostgres(ctx context.Context, results []QuotaResult, order []int, args []any) (time.Time, error) {
	conn, err := s.counters.Conn(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("count requests: %w", err)
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	server, err := s.lineage.see(ctx, conn)
	if err != nil {
		return time.Time{}, fmt.Errorf("count requests: %w", err)
	}
	n := len(results)
	var micros int64
	if n == 0 { // only the clock is needed
		err := conn.QueryRowContext(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").Scan(&micros)
		return time.UnixMicro(micros).Add(s.skew()).UTC(), unclear(err)
	}
	rows, err := conn.QueryContext(ctx, "SELECT now_us, granted, used_after, started, formerly FROM quota_apply($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)", append(args, server)...)
	if err != nil {
		return time.Time{}, unclear(err)
	}
	defer rows.Close()
	at := 0
	for ; rows.Next() && at < n; at++ {
		r := &results[order[at]]
		var formerly sql.RawBytes
		if err := rows.Scan(&micros, &r.Granted, &r.Used, &r.Start, &formerly); err != nil {
			return time.Time{}, unclear(err)
		}
		r.Former = nil
		if formerly != nil {
			if err := json.Unmarshal(formerly, &r.Former); err != nil {
				return time.Time{}, unclear(err)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return time.Time{}, unclear(err)
	}
	if at != n {
		return time.Time{}, fmt.Errorf("count requests: %w: %d answers to %d operations", ErrQuotaUnclear, at, n)
	}
	return time.UnixMicro(micros).UTC(), nil
}

// brokenOff reports whether somebody ended this connection with what was asked on it (admin_shutdown,
// https://www.postgresql.org/docs/current/errcodes-appendix.html), or whether the request could not be sent
// completely, so that nothing is committed. PostgreSQL may well accept a new connection; if it is being
// stopped it refuses that one.
func brokenOff(err error) bool {
	const adminShutdown = "57P01"
	if code := postgresCode(err); code != "" {
		return code == adminShutdown
	}
	if errors.Is(err, driver.ErrBadConn) { // before anything was sent
		return true
	}
	sent, ok := errors.AsType[*net.OpError](err)
	return ok && sent.Op == "write" && !sent.Timeout()
}

// unclear marks an error after which the statement may have been executed: the server did not refuse it, and it did not
// fail before it was sent.
func unclear(err error) error {
	if err == nil {
		return nil
	}
	refused := postgresCode(err) != ""
	if refused || pgconn.SafeToRetry(err) || errors.Is(err, driver.ErrBadConn) {
		return fmt.Errorf("count requests: %w", err)
	}
	return fmt.Errorf("count requests: %w: %w", ErrQuotaUnclear, err)
}
