package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// ErrUsageUnclear marks a failure that leaves unclear whether the counts were added.
var ErrUsageUnclear = errors.New("the usage may have been written")

// AddUsage adds counted requests to the stored ones: all or none. Pass at most a few hundred: on SQLite the daily
// quotas wait for it. An error wraps ErrUsageUnclear unless nothing was added.
func (s *Store) AddUsage(ctx context.Context, days []models.UsageDay) error {
	if len(days) == 0 {
		return nil
	}
	days = mergeUsage(days)
	list := make([][5]any, len(days))
	for i := range days {
		d := &days[i]
		list[i] = [5]any{d.AccountID, d.Day.String(), d.Endpoint, d.Class, d.Requests}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	rows, day := "json_each(?)", "value->>1"
	if s.dialect == Postgres {
		rows, day = "json_array_elements(?::json)", "CAST(value->>1 AS DATE)"
	}
	return s.counting(ctx, func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO usage_days (account_id, day, endpoint, class, requests) SELECT value->>0, "+day+
			", value->>2, CAST(value->>3 AS SMALLINT), CAST(value->>4 AS BIGINT) FROM "+rows+" WHERE TRUE "+
			"ON CONFLICT (account_id, day, endpoint, class) DO UPDATE SET requests = usage_days.requests + excluded.requests", string(text)).Error
	})
}

// mergeUsage sorts rows, so that nodes lock them in the same order, and combines equal ones.
func mergeUsage(days []models.UsageDay) []models.UsageDay {
	sorted := slices.Clone(days)
	slices.SortFunc(sorted, CompareUsage)
	rows := sorted[:0]
	for _, d := range sorted {
		if n := len(rows); n > 0 && CompareUsage(rows[n-1], d) == 0 {
			rows[n-1].Requests += d.Requests
			continue
		}
		rows = append(rows, d)
	}
	return rows
}

// counting runs fn in one transaction on the quota counters' connection. On SQLite statistics therefore queue with the
// counters instead of competing with them for the write lock; and while an import holds it, they also give up soon.
func (s *Store) counting(ctx context.Context, fn func(tx *gorm.DB) error) error {
	tx, err := s.counters.BeginTx(ctx, nil)
	if err != nil {
		return unavailable(err)
	}
	session := s.writer(ctx)
	session.Statement.ConnPool = tx
	err = fn(session)
	if err == nil {
		err = ctx.Err() // after a commit with an ended context, the outcome would be unclear
	}
	if err != nil {
		return unavailable(errors.Join(err, tx.Rollback()))
	}
	err = tx.Commit()
	if err != nil && !saidBySQLite(err) {
		err = fmt.Errorf("%w: %w", ErrUsageUnclear, err)
	}
	return unavailable(err)
}

// CompareUsage orders by account, day, endpoint and class.
func CompareUsage(a, b models.UsageDay) int {
	return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.Day, b.Day),
		cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Class, b.Class))
}

// DayUsage is the counted requests of one day.
type DayUsage struct {
	Day      models.Date
	Requests int64
}

// UsageByDay returns an account's counted requests per day from one day to another, inclusive, newest first,
// without days that have none.
func (s *Store) UsageByDay(ctx context.Context, accountID string, from, to models.Date) ([]DayUsage, error) {
	var days []DayUsage
	err := s.reader(ctx).Table("usage_days").Select("day, CAST(SUM(requests) AS BIGINT) AS requests").
		Where("account_id = ? AND day BETWEEN ? AND ?", accountID, from, to).
		Group("day").Order("day DESC").Scan(&days).Error
	return days, unavailable(err)
}

// CountedToday returns an account's requests of the current UTC day from the counters in the database, including what
// nodes hold in advance, and that day by the counters' clock. It does not wait for writers.
func (s *Store) CountedToday(ctx context.Context, accountID string) (used int64, today models.Date, err error) {
	now, err := s.Clock(ctx)
	if err != nil {
		return 0, 0, err
	}
	counter := counterKey{accountID, models.PeriodStart(now, 24*time.Hour)}
	if s.dialect == SQLite {
		used, err = s.quota.look(ctx, counter)
	} else {
		err = s.reader(ctx).Table("quota_counters").Select("used").
			Where("account_id = ? AND period_start = ?", counter.key, counter.start).Limit(1).Scan(&used).Error
	}
	if err != nil {
		return 0, 0, unavailable(err)
	}
	return used, models.DateOf(now), nil
}

// Today returns the current UTC day by the clock of the counters in the database.
func (s *Store) Today(ctx context.Context) (models.Date, error) {
	now, err := s.Clock(ctx)
	return models.DateOf(now), err
}

// EndpointUsage is the counted requests of one endpoint with one class of status.
type EndpointUsage struct {
	Endpoint string
	Class    int // first digit of the status
	Requests int64
}

// UsageByEndpoint returns an account's counted requests from one day to another, inclusive, by endpoint
// and class, highest first.
func (s *Store) UsageByEndpoint(ctx context.Context, accountID string, from, to models.Date) ([]EndpointUsage, error) {
	var list []EndpointUsage
	err := s.reader(ctx).Table("usage_days").Select("endpoint, class, CAST(SUM(requests) AS BIGINT) AS requests").
		Where("account_id = ? AND day BETWEEN ? AND ?", accountID, from, to).
		Group("endpoint, class").Order("requests DESC, endpoint, class").Scan(&list).Error
	return list, unavailable(err)
}

// AccountUsage is an account and its counted requests of one day.
type AccountUsage struct {
	Account  models.Account // without personal data if it was deleted
	Requests int64
}

// UsageTop returns the limit accounts with the most counted requests on a day, highest first.
func (s *Store) UsageTop(ctx context.Context, day models.Date, limit int) ([]AccountUsage, error) {
	var top []struct {
		AccountID string
		Requests  int64
	}
	err := s.reader(ctx).Table("usage_days").Select("account_id, CAST(SUM(requests) AS BIGINT) AS requests").
		Where("day = ?", day).Group("account_id").Order("requests DESC, account_id").Limit(limit).Scan(&top).Error
	if err != nil {
		return nil, unavailable(err)
	}
	ids := make([]string, len(top))
	for i := range top {
		ids[i] = top[i].AccountID
	}
	var accounts []models.Account
	if err := s.reader(ctx).Find(&accounts, "id IN ?", ids).Error; err != nil {
		return nil, unavailable(err)
	}
	list := make([]AccountUsage, len(top))
	for i, t := range top {
		list[i] = AccountUsage{models.Account{ID: t.AccountID}, t.Requests}
		if at := slices.IndexFunc(accounts, func(a models.Account) bool { return a.ID == t.AccountID }); at >= 0 {
			list[i].Account = accounts[at]
		}
	}
	return list, nil
}
