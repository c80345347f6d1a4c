package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
)

// BillingAccount returns what is known about an account's payments; only the id is set if nothing is.
func (s *Store) BillingAccount(ctx context.Context, accountID string) (models.BillingAccount, error) {
	b := models.BillingAccount{AccountID: accountID}
	err := s.reader(ctx).Where("account_id = ?", accountID).Limit(1).Find(&b).Error
	return b, unavailable(err)
}

// BilledAccount returns an account by id, even a deleted one, which may still receive payments.
func (s *Store) BilledAccount(ctx context.Context, accountID string) (models.Account, error) {
	a, err := accountBy(s.reader(ctx), "id", accountID, accountID)
	return a, translate(err)
}

// AccountOfCustomer returns the account that a Stripe customer belongs to; CodeNotFound if it is none of ours.
func (s *Store) AccountOfCustomer(ctx context.Context, customerID string) (accountID string, err error) {
	var ids []string
	if err := s.reader(ctx).Model(&models.BillingAccount{}).Where("customer_id = ?", customerID).Limit(1).Pluck("account_id", &ids).Error; err != nil {
		return "", unavailable(err)
	}
	if len(ids) == 0 {
		return "", models.Errorf(models.CodeNotFound, "no account has the Stripe customer %s", customerID)
	}
	return ids[0], nil
}

// AccountOfEvents returns the account of the newest event of a Stripe customer that had one, whether or not the
// customer is still the account's; CodeNotFound if there is no such event.
func (s *Store) AccountOfEvents(ctx context.Context, customerID string) (accountID string, err error) {
	var ids []string
	err = s.reader(ctx).Model(&models.StripeEvent{}).Where("customer_id = ? AND account_id <> ''", customerID).
		Order("received_at DESC").Limit(1).Pluck("account_id", &ids).Error
	if err != nil {
		return "", unavailable(err)
	}
	if len(ids) == 0 {
		return "", models.Errorf(models.CodeNotFound, "no event of the Stripe customer %s was of an account", customerID)
	}
	return ids[0], nil
}

// BillingAccountsAfter returns up to limit accounts that have a customer, in the order of their ids, after the id after
// and up to the id last; "" = no upper bound.
func (s *Store) BillingAccountsAfter(ctx context.Context, after, last string, limit int) (ids []string, err error) {
	q := s.reader(ctx).Model(&models.BillingAccount{}).Where("customer_id IS NOT NULL AND account_id > ?", after)
	if last != "" {
		q = q.Where("account_id <= ?", last)
	}
	err = q.Order("account_id").Limit(limit).Pluck("account_id", &ids).Error
	return ids, unavailable(err)
}

// GraceEnded returns the accounts whose grace period is over at now: all of them, so that those that cannot be looked at
// keep none of the others from it.
func (s *Store) GraceEnded(ctx context.Context, now time.Time) (ids []string, err error) {
	err = s.reader(ctx).Model(&models.BillingAccount{}).Where("grace_ends_at <= ?", now).
		Order("grace_ends_at").Pluck("account_id", &ids).Error
	return ids, unavailable(err)
}

// BillingChange is what one sync found, to be stored in one transaction.
type BillingChange struct {
	Billing models.BillingAccount
	Plan    *models.Plan // the plan according to Stripe; nil = no subscription gives one
	Actor   string
	Reason  string
	EventID string
	Flags   []models.AccountFlag
	Mails   []models.Mail
}

// Billed is the result of StoreBilling.
type Billed struct {
	Account models.Account
	Was     models.Plan // the plan in force before
	Changed bool        // Stripe's plan differs from before
}

// StoreBilling stores what a sync under l found: the subscription, the plan, with an audit entry if it changed, flags
// and mails. Nodes notice a changed plan like any change of an account.
func (s *Store) StoreBilling(ctx context.Context, l Lease, c BillingChange) (Billed, error) {
	var out Billed
	err := s.under(ctx, l, func(tx *gorm.DB) error {
		var a models.Account
		if err := s.locking(tx).Take(&a, "id = ?", c.Billing.AccountID).Error; err != nil {
			return err
		}
		if a.Status == models.AccountClosed { // perhaps after Stripe was asked
			c.Plan, c.Mails = nil, nil
			c.Billing.DropSession()
		}
		out.Was, _ = a.Plan()
		before := a.BilledPlan
		out.Changed = (before == nil) != (c.Plan == nil) || (before != nil && *before != *c.Plan)
		if err := tx.Save(&c.Billing).Error; err != nil { // under the lease nobody else writes it, except DeleteAccount
			return err
		}
		if out.Changed {
			if err := tx.Model(&models.Account{}).Where("id = ?", a.ID).Updates(map[string]any{"billed_plan": c.Plan}).Error; err != nil {
				return err
			}
			if err := s.changed(tx, a.ID); err != nil {
				return err
			}
			entry := models.AuditEntry{
				Actor: c.Actor, Action: "plan.billed", AccountID: a.ID, Was: models.BilledName(before), Became: models.BilledName(c.Plan),
				Reason: c.Reason, EventID: c.EventID,
			}
			if err := s.audit(tx, &entry); err != nil {
				return err
			}
		}
		for i := range c.Flags {
			if err := s.raise(tx, &c.Flags[i]); err != nil {
				return err
			}
		}
		for i := range c.Mails {
			if _, err := s.post(tx, &c.Mails[i]); err != nil {
				return err
			}
		}
		return tx.Take(&out.Account, "id = ?", a.ID).Error
	})
	return out, translate(err)
}

// SaveBilling stores what checkout knows, under l.
func (s *Store) SaveBilling(ctx context.Context, l Lease, b models.BillingAccount) error {
	return translate(s.under(ctx, l, func(tx *gorm.DB) error {
		var a models.Account
		if err := s.locking(tx).Take(&a, "id = ?", b.AccountID).Error; err != nil {
			return err
		}
		if a.Status == models.AccountClosed {
			b.DropSession()
		}
		return tx.Save(&b).Error
	}))
}

// KnownPrices returns every price that gives a plan, in live or in test mode.
func (s *Store) KnownPrices(ctx context.Context, livemode bool) ([]models.KnownPrice, error) {
	var list []models.KnownPrice
	err := s.reader(ctx).Where("livemode = ?", livemode).Order("added_at, price_id").Find(&list).Error
	return list, unavailable(err)
}

// SetPrice makes p a known price, and the one that checkout sells.
func (s *Store) SetPrice(ctx context.Context, p models.KnownPrice) error {
	p.AddedAt, p.Current = s.now(), true
	return translate(s.transaction(ctx, func(tx *gorm.DB) error {
		err := tx.Model(&models.KnownPrice{}).Where("plan = ? AND livemode = ? AND price_id <> ?", p.Plan, p.Livemode, p.PriceID).
			Updates(map[string]any{"current": false}).Error
		if err != nil {
			return err
		}
		return tx.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "price_id"}}, DoUpdates: clause.Assignments(map[string]any{"current": true}),
		}).Create(&p).Error
	}))
}

// AddPrice makes p a known price, unless it is one. What is sold stays the same.
func (s *Store) AddPrice(ctx context.Context, p models.KnownPrice) error {
	p.AddedAt, p.Current = s.now(), false
	return translate(s.writer(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&p).Error)
}

// billingSetting is a row of billing_settings.
type billingSetting struct {
	Name  string `gorm:"primaryKey"`
	Value string
}

// BillingSetting returns what setup stored under name, or "".
func (s *Store) BillingSetting(ctx context.Context, name string) (string, error) {
	var row billingSetting
	if err := s.reader(ctx).Where("name = ?", name).Limit(1).Find(&row).Error; err != nil {
		return "", unavailable(err)
	}
	return row.Value, nil
}

// SetBillingSetting stores value under name.
func (s *Store) SetBillingSetting(ctx context.Context, name, value string) error {
	row := billingSetting{name, value}
	err := s.writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	return unavailable(err)
}
