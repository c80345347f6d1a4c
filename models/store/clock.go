package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Clock returns the time by the clock that all nodes share: PostgreSQL's, or for SQLite this machine's.
func (s *Store) Clock(ctx context.Context) (time.Time, error) {
	now, err := s.clock(s.reader(ctx))
	return now, unavailable(err)
}

// clock is Clock within tx.
func (s *Store) clock(tx *gorm.DB) (time.Time, error) {
	if s.dialect == SQLite {
		return s.now(), nil
	}
	var now time.Time
	err := tx.Raw("SELECT clock_timestamp()").Scan(&now).Error
	return now.UTC().Add(s.skew()), err
}

// earlier returns the time by which it is judged what is old enough to be deleted: Clock's, or this machine's if that
// is earlier. What one of them makes look old while it is far ahead would be gone for good.
func (s *Store) earlier(db *gorm.DB) (time.Time, error) {
	shared, err := s.clock(db)
	if own := s.now(); own.Before(shared) {
		return own, unavailable(err)
	}
	return shared, unavailable(err)
}

// later is an SQL expression for the time d from now by that clock.
func (s *Store) later(d time.Duration) clause.Expr {
	if s.dialect == SQLite {
		return clause.Expr{SQL: "?", Vars: []any{s.now().Add(d)}}
	}
	return clause.Expr{SQL: "statement_timestamp() + ?::bigint * interval '1 microsecond'", Vars: []any{(d + s.skew()).Microseconds()}}
}
