package store

import (
	"context"
	"time"

	"gorm.io/gorm/clause"
)

// Clock returns the time by the clock that all nodes share: PostgreSQL's, or for SQLite this machine's.
func (s *Store) Clock(ctx context.Context) (time.Time, error) {
	if s.dialect == SQLite {
		return s.now(), nil
	}
	var now time.Time
	if err := s.reader(ctx).Raw("SELECT clock_timestamp()").Scan(&now).Error; err != nil {
		return now, unavailable(err)
	}
	return now.UTC().Add(s.skew()), nil
}

// later is an SQL expression for the time d from now by that clock.
func (s *Store) later(d time.Duration) clause.Expr {
	if s.dialect == SQLite {
		return clause.Expr{SQL: "?", Vars: []any{s.now().Add(d)}}
	}
	return clause.Expr{SQL: "statement_timestamp() + ?::bigint * interval '1 microsecond'", Vars: []any{(d + s.skew()).Microseconds()}}
}
