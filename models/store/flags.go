package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
)

// RaiseFlag asks an operator to look at an account. A flag is raised once per kind and reference: seeing the same thing
// again, or getting the same event again, does not bring back a flag that was cleared.
func (s *Store) RaiseFlag(ctx context.Context, f models.AccountFlag) error {
	return translate(s.raise(s.writer(ctx), &f))
}

// RaiseFlagAnew is RaiseFlag for something that somebody did just now, perhaps not for the first time: a
// cleared flag is raised again.
func (s *Store) RaiseFlagAnew(ctx context.Context, f models.AccountFlag) error {
	f.RaisedAt = s.now()
	return translate(s.writer(ctx).Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "account_id"}, {Name: "kind"}, {Name: "ref"}},
		Where:     clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "account_flags.cleared_at IS NOT NULL"}}},
		DoUpdates: clause.Assignments(map[string]any{"cleared_at": nil, "raised_at": f.RaisedAt, "detail": f.Detail}),
	}).Create(&f).Error)
}

func (s *Store) raise(tx *gorm.DB, f *models.AccountFlag) error {
	f.RaisedAt = s.now()
	return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(f).Error
}

// Flags returns the flags that are not cleared, oldest first, of one account, or of all if accountID is "".
func (s *Store) Flags(ctx context.Context, accountID string) ([]models.AccountFlag, error) {
	q := s.reader(ctx).Where("cleared_at IS NULL").Order("id")
	if accountID != "" {
		q = q.Where("account_id = ?", accountID)
	}
	list := []models.AccountFlag{}
	err := q.Find(&list).Error
	return list, unavailable(err)
}

// FlagCleared returns when the flag with f's account, kind and reference was cleared; nil = it was not, or was never raised.
func (s *Store) FlagCleared(ctx context.Context, f models.AccountFlag) (*time.Time, error) {
	var found []models.AccountFlag
	err := s.reader(ctx).Where("account_id = ? AND kind = ? AND ref = ?", f.AccountID, f.Kind, f.Ref).Find(&found).Error
	if err != nil || len(found) == 0 {
		return nil, unavailable(err)
	}
	return found[0].ClearedAt, nil
}

// SecondCustomers returns the Stripe customers that an account was flagged for as second ones, cleared or not. Such a
// flag's reference is the customer, perhaps with what it was flagged for again after a colon.
func (s *Store) SecondCustomers(ctx context.Context, accountID string) (ids []string, err error) {
	err = s.reader(ctx).Model(&models.AccountFlag{}).Where("account_id = ? AND kind = ?", accountID, models.FlagSecondCustomer).
		Order("id").Pluck("ref", &ids).Error
	customers := ids[:0]
	for _, ref := range ids {
		if id, _, _ := strings.Cut(ref, ":"); !slices.Contains(customers, id) {
			customers = append(customers, id)
		}
	}
	return customers, unavailable(err)
}

// ClearFlags records that an operator has looked at an account's flags and returns those, oldest first. A
// flag raised meanwhile stays.
func (s *Store) ClearFlags(ctx context.Context, accountID string) (cleared []models.AccountFlag, err error) {
	err = s.transaction(ctx, func(tx *gorm.DB) error {
		cleared = nil
		if err := s.locking(tx).Where("account_id = ? AND cleared_at IS NULL", accountID).Order("id").Find(&cleared).Error; err != nil || len(cleared) == 0 {
			return err
		}
		return tx.Model(&cleared).Update("cleared_at", s.now()).Error
	})
	return cleared, translate(err)
}
