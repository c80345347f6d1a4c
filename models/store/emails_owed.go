package store

import (
	"context"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
)

// emailOwed begins the name of a billing setting that says that Stripe is to be told the address of the account named
// after it. The value tells one change of the address from the next.
const emailOwed = "email-owed:"

// oweEmail notes in tx that Stripe is to be told the account's new address, if it knows the account. mark tells this
// change of the address from others.
func (s *Store) oweEmail(tx *gorm.DB, accountID, mark string) error {
	var customers int64
	err := tx.Model(&models.BillingAccount{}).Where("account_id = ? AND customer_id IS NOT NULL", accountID).Count(&customers).Error
	if err != nil || customers == 0 {
		return err
	}
	row := billingSetting{emailOwed + accountID, mark}
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
}

// EmailsOwed returns the ids of the accounts whose address Stripe is to be told.
func (s *Store) EmailsOwed(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.reader(ctx).Model(&billingSetting{}).Where("name LIKE ?", emailOwed+"%").Order("name").Pluck("name", &ids).Error
	for i := range ids {
		ids[i] = strings.TrimPrefix(ids[i], emailOwed)
	}
	return ids, unavailable(err)
}

// EmailOwed returns a mark that EmailTold takes, or "" if nothing is owed.
func (s *Store) EmailOwed(ctx context.Context, accountID string) (mark string, err error) {
	return s.BillingSetting(ctx, emailOwed+accountID)
}

// EmailTold notes that Stripe knows the address that the account had when mark was read.
func (s *Store) EmailTold(ctx context.Context, accountID, mark string) error {
	if mark == "" {
		return nil
	}
	return unavailable(s.writer(ctx).Where("name = ? AND value = ?", emailOwed+accountID, mark).Delete(&billingSetting{}).Error)
}
