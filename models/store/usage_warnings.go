package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
)

// UsageWarning records that an account had used that percentage of a day's quota: of the highest, if it has been raised
// since.
type UsageWarning struct {
	AccountID  string      `gorm:"primaryKey"`
	Day        models.Date `gorm:"primaryKey"` // UTC
	Percent    int         `gorm:"primaryKey"`
	DailyLimit int64       // requests; 0 = recorded by a release that did not say
	WarnedAt   time.Time
}

// quietDays is how long an account must have stayed below a percentage of its limit before its owner is mailed about it
// again: whoever uses up every day knows that.
const quietDays = 7

// WarnUsage records that an account used that percentage of a day's quota. first is true for only one caller across all
// nodes, and for one more after each raise of the limit; it adds a mail to the outbox if mailed is set and that is news
// to the account's owner.
func (s *Store) WarnUsage(ctx context.Context, accountID string, used models.QuotaUsed, mailed bool) (first bool, err error) {
	row := UsageWarning{AccountID: accountID, Day: used.Day, Percent: used.Percent, DailyLimit: used.Limit, WarnedAt: s.now()}
	err = s.counting(ctx, func(tx *gorm.DB) error {
		added := tx.Clauses(clause.OnConflict{
			Columns:   []clause.Column{{Name: "account_id"}, {Name: "day"}, {Name: "percent"}},
			DoUpdates: clause.AssignmentColumns([]string{"daily_limit", "warned_at"}),
			Where:     clause.Where{Exprs: []clause.Expression{gorm.Expr("usage_warnings.daily_limit < excluded.daily_limit")}},
		}).Create(&row)
		first = added.RowsAffected == 1
		if added.Error != nil || !first || !mailed {
			return added.Error
		}
		return s.mailWarning(tx, &row)
	})
	return first && err == nil, err
}

// mailWarning adds the mail about a warning, unless the account was warned of as much of the same limit lately.
func (s *Store) mailWarning(tx *gorm.DB, w *UsageWarning) error {
	var lately int64
	err := tx.Model(&UsageWarning{}).
		Where("account_id = ? AND day >= ? AND day < ? AND percent >= ? AND daily_limit = ?", w.AccountID, w.Day-quietDays, w.Day, w.Percent, w.DailyLimit).
		Count(&lately).Error
	if err != nil || lately > 0 {
		return err
	}
	data, err := json.Marshal(models.QuotaUsed{Day: w.Day, Percent: w.Percent, Limit: w.DailyLimit})
	if err != nil {
		return fmt.Errorf("write a mail: %w", err)
	}
	_, err = s.post(tx, &models.Mail{
		AccountID: w.AccountID, Kind: models.MailQuotaUsed, Data: string(data),
		Once: fmt.Sprintf("%s:%s:%s:%d:%d", models.MailQuotaUsed, w.AccountID, w.Day, w.Percent, w.DailyLimit),
	})
	return err
}

// WarningOvertaken says why a mail of WarnUsage is no longer true, apart from its account's state; "" = it still is.
func (s *Store) WarningOvertaken(ctx context.Context, accountID string, used models.QuotaUsed) (why string, err error) {
	now, err := s.Clock(ctx)
	if err != nil {
		return "", err
	}
	if models.DateOf(now) > used.Day {
		return "the day is over", nil
	}
	var more int64
	err = s.reader(ctx).Model(&UsageWarning{}).
		Where("account_id = ? AND day = ? AND percent > ? AND daily_limit >= ?", accountID, used.Day, used.Percent, used.Limit).Count(&more).Error
	if err == nil && more > 0 {
		why = "more has been used since"
	}
	return why, unavailable(err)
}
