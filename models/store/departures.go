package store

import (
	"context"
	"crypto/sha256"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// departure is a row of departures: an account closed on a given day.
type departure struct {
	AccountID string `gorm:"primaryKey"`
	EmailHash []byte
	Day       models.Date
}

// depart records within tx that a's address leaves today, by Clock: the node that asks for departures may be another.
// Cleanup deletes departures from before yesterday.
func (s *Store) depart(tx *gorm.DB, a *models.Account) error {
	now, err := s.clock(tx)
	if err != nil {
		return err
	}
	return tx.Create(&departure{a.ID, emailHash(*a.EmailKey), models.DateOf(now)}).Error
}

// Departed is an account that was closed.
type Departed struct {
	AccountID string
	At        time.Time `gorm:"column:deleted_at"`
}

// Departures returns the accounts of an address that were closed today, or yesterday, where the counters'
// clock may still be: what they have used today still counts.
func (s *Store) Departures(ctx context.Context, emailKey string) ([]Departed, error) {
	list, err := s.departures(s.reader(ctx), emailKey)
	return list, translate(err)
}

func (s *Store) departures(tx *gorm.DB, emailKey string) (list []Departed, err error) {
	now, err := s.clock(tx)
	if err != nil {
		return nil, err
	}
	err = tx.Table("departures").Select("departures.account_id, accounts.deleted_at").Joins("JOIN accounts ON accounts.id = departures.account_id").
		Where("email_hash = ? AND day >= ?", emailHash(emailKey), models.DateOf(now)-1).Order("departures.account_id").Find(&list).Error
	return list, err
}

func emailHash(emailKey string) []byte {
	sum := sha256.Sum256([]byte(emailKey))
	return sum[:]
}
