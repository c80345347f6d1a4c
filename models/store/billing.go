package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
)

// BillingAccount is what is known of an account's money; its zero value, with the id, if nothing is.
func (s *Store) BillingAccount(ctx context.Context, accountID string) (models.BillingAccount, error) {
	b := models.BillingAccount{AccountID: accountID}
	err := s.reader(ctx).Where("account_id = ?", accountID).Limit(1).Find(&b).Error
	if err != nil {
		return b, unavailable(err)
	}
	return b, nil
}

// BilledAccount is an account by its id, also one that was deleted: money may still come for it.
func (s *Store) BilledAccount(ctx context.Context, accountID string) (models.Account, error) {
	var accounts []models.Account
	if storable(accountID) {
		if err := s.reader(ctx).Where("id = ?", accountID).Limit(1).Find(&accounts).Error; err != nil {
			return models.Account{}, unavailable(err)
		}
	}
	if len(accounts) == 0 {
		return models.Account{}, models.Errorf(models.CodeNotFound, "there is no account %q", accountID)
	}
	return accounts[0], nil
}

// AccountOfCustomer is the account that a Stripe customer belongs to; CodeNotFound if it is nobody's.
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

// AccountOfEvents is the account that the newest event of a Stripe customer was of, whether or not the account has that
// customer still; CodeNotFound if none was of any.
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

// BillingAccountsAfter is up to limit accounts that have a customer, by id, after the one with the id after and up to the
// one with the id last; "" = the last of all.
func (s *Store) BillingAccountsAfter(ctx context.Context, after, last string, limit int) (ids []string, err error) {
	q := s.reader(ctx).Model(&models.BillingAccount{}).Where("customer_id IS NOT NULL AND account_id > ?", after)
	if last != "" {
		q = q.Where("account_id <= ?", last)
	}
	if err := q.Order("account_id").Limit(limit).Pluck("account_id", &ids).Error; err != nil {
		return nil, unavailable(err)
	}
	return ids, nil
}

// GraceEnded is up to limit accounts whose time of grace is over at now.
func (s *Store) GraceEnded(ctx context.Context, now time.Time, limit int) (ids []string, err error) {
	err = s.reader(ctx).Model(&models.BillingAccount{}).Where("grace_ends_at <= ?", now).
		Order("grace_ends_at").Limit(limit).Pluck("account_id", &ids).Error
	if err != nil {
		return nil, unavailable(err)
	}
	return ids, nil
}

// BillingChange is what one sync found, to be stored at once.
type BillingChange struct {
	Billing models.BillingAccount
	Plan    *models.Plan // what Stripe says; nil = nothing that gives a plan
	Actor   string
	Reason  string
	EventID string
	Flags   []models.AccountFlag
	Mails   []models.Mail
}

// Billed is what StoreBilling did.
type Billed struct {
	Account models.Account
	Was     models.Plan // the plan in force before
	Changed bool        // what Stripe says of the plan is another than before
}

// StoreBilling stores what a sync under l found: the subscription, the plan, an audit entry and the mails if the plan
// changed, and flags. Nodes see a changed plan as they see any changed account.
func (s *Store) StoreBilling(ctx context.Context, l Lease, c BillingChange) (Billed, error) {
	var out Billed
	err := s.under(ctx, l, func(tx *gorm.DB) error {
		var a models.Account
		if err := s.locking(tx).Take(&a, "id = ?", c.Billing.AccountID).Error; err != nil {
			return err
		}
		if a.Status == models.AccountClosed { // since Stripe was asked, maybe
			c.Plan, c.Mails = nil, nil
			c.Billing.DropSession()
		}
		out.Was, _ = a.Plan()
		before := a.BilledPlan
		out.Changed = (before == nil) != (c.Plan == nil) || (before != nil && *before != *c.Plan)
		if err := tx.Save(&c.Billing).Error; err != nil { // the lease makes us its only writer, but for DeleteAccount
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
				Actor: c.Actor, Action: "plan.billed", AccountID: a.ID, Was: planName(before), Became: planName(c.Plan),
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

func planName(p *models.Plan) string {
	if p == nil {
		return string(models.PlanFree)
	}
	return string(*p)
}

// KnownPrices is every price that gives a plan, of live or of test mode.
func (s *Store) KnownPrices(ctx context.Context, livemode bool) ([]models.KnownPrice, error) {
	var list []models.KnownPrice
	if err := s.reader(ctx).Where("livemode = ?", livemode).Order("added_at, price_id").Find(&list).Error; err != nil {
		return nil, unavailable(err)
	}
	return list, nil
}

// SetPrice makes a price known, and the one that checkout sells.
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

// billingSetting is a row of billing_settings.
type billingSetting struct {
	Name  string `gorm:"primaryKey"`
	Value string
}

// BillingSetting is what set-up noted under name, or "".
func (s *Store) BillingSetting(ctx context.Context, name string) (string, error) {
	var row billingSetting
	if err := s.reader(ctx).Where("name = ?", name).Limit(1).Find(&row).Error; err != nil {
		return "", unavailable(err)
	}
	return row.Value, nil
}

// SetBillingSetting notes value under name.
func (s *Store) SetBillingSetting(ctx context.Context, name, value string) error {
	row := billingSetting{name, value}
	err := s.writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	if err != nil {
		return unavailable(err)
	}
	return nil
}
