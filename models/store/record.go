package store

import (
	"context"

	"gorm.io/gorm"

	"lottery/models"
)

// Record is everything held about an account, for a request under the GDPR (article 15), newest first.
type Record struct {
	Account  models.Account
	Keys     []models.APIKey
	Usage    []models.UsageDay
	Warnings []UsageWarning
	Billing  models.BillingAccount
	Changes  []models.AuditEntry
	Flags    []models.AccountFlag
	Events   []models.StripeEvent
	Mails    []models.Mail
	Sessions []models.Session
	Links    []models.Link
}

// Record reads everything held about an account as of one moment; CodeNotFound if there is none, or it was deleted.
func (s *Store) Record(ctx context.Context, ref string) (Record, error) {
	tx := s.snapshot(s.reader(ctx))
	if tx.Error != nil {
		return Record{}, translate(tx.Error)
	}
	defer tx.Rollback()
	a, err := findAccount(tx, ref)
	if err != nil {
		return Record{}, translate(err)
	}
	r := Record{Account: a, Billing: models.BillingAccount{AccountID: a.ID}}
	of := func(order string) *gorm.DB { return tx.Where("account_id = ?", a.ID).Order(order) }
	for _, read := range []*gorm.DB{
		of("created_at DESC, id").Find(&r.Keys),
		of("day DESC, endpoint, class").Where("day <= ?", models.LastDate).Find(&r.Usage), // a clock may have been far ahead
		of("day DESC, percent").Where("day <= ?", models.LastDate).Find(&r.Warnings),
		of("account_id").Limit(1).Find(&r.Billing),
		of("id DESC").Find(&r.Changes),
		of("id DESC").Find(&r.Flags),
		of("received_at DESC, id").Find(&r.Events),
		of("id DESC").Find(&r.Mails),
		of("created_at DESC, id").Find(&r.Sessions),
		tx.Where("account_id = ? OR email_key = ?", a.ID, a.EmailKey).Order("id DESC").Find(&r.Links),
	} {
		if read.Error != nil {
			return Record{}, translate(read.Error)
		}
	}
	return r, nil
}

// forget removes within tx the personal data of an account that is being deleted, outside its own row: what was sent to
// it and written about it, and anything in other rows that could contain its address.
func (s *Store) forget(tx *gorm.DB, a *models.Account) error {
	key := *a.EmailKey
	for _, gone := range []*gorm.DB{
		tx.Where("account_id = ?", a.ID).Delete(&models.Session{}),
		tx.Model(&models.Link{}).Where("account_id = ? OR email_key = ? OR mailbox = ?", a.ID, key, emailHash(key)).
			Updates(map[string]any{"email": "", "email_key": "", "account_id": "", "spent_at": gorm.Expr("COALESCE(spent_at, ?)", s.now())}), // dead, but still counted
		tx.Where("account_id = ?", a.ID).Delete(&models.Mail{}), // its last error may repeat the address
		tx.Model(&models.BillingAccount{}).Where("account_id = ?", a.ID).
			Updates(map[string]any{"session_id": nil, "session_url": nil, "session_expires_at": nil}), // Stripe's page shows the address
		tx.Model(&models.AccountFlag{}).Where("account_id = ? AND detail LIKE ?", a.ID, withAddress).Update("detail", ""),
		tx.Model(&models.StripeEvent{}).Where("account_id = ? AND outcome LIKE ?", a.ID, withAddress).Update("outcome", ""),
	} {
		if gone.Error != nil {
			return gone.Error
		}
	}
	return nil
}

// withAddress matches texts from elsewhere, such as Stripe's errors, that may contain an address.
const withAddress = "%@%"
