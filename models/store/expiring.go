package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// expiringPage is how many keys are read at a time.
const expiringPage = 200

// MailExpiringKeys adds a mail to the outbox for every active key that expires within notice, once per key. Keys that
// live no longer than notice get none, and neither do rotated ones: their owners have just dealt with them.
func (s *Store) MailExpiringKeys(ctx context.Context, notice time.Duration) (posted int, err error) {
	now, err := s.Clock(ctx) // by this machine's, the only mail might be sent weeks early
	if err != nil {
		return 0, err
	}
	after := ""
	for {
		keys, err := s.expiring(ctx, now, after, notice)
		if err != nil || len(keys) == 0 {
			return posted, err
		}
		after = keys[len(keys)-1].ID
		for i := range keys {
			if !keys[i].CreatedAt.Before(keys[i].ExpiresAt.Add(-notice)) {
				continue
			}
			isNew, err := s.postExpiry(s.writer(ctx), &keys[i])
			if err != nil {
				return posted, translate(err)
			}
			if isNew {
				posted++
			}
		}
	}
}

// expiring returns the next keys to look at, in the order of their ids.
func (s *Store) expiring(ctx context.Context, now time.Time, after string, notice time.Duration) ([]models.APIKey, error) {
	var keys []models.APIKey
	err := s.reader(ctx).
		Where("revoked_at IS NULL AND grace_until IS NULL AND expires_at > ? AND expires_at <= ? AND id > ?", now, now.Add(notice), after).
		Where("account_id IN (SELECT id FROM accounts WHERE status = ?)", models.AccountActive).
		Where("NOT EXISTS (SELECT 1 FROM mails WHERE mails.once = ? || api_keys.id)", expiryOnce).
		Order("id").Limit(expiringPage).Find(&keys).Error
	return keys, unavailable(err)
}

// expiryOnce is the prefix of the unique name of a key's mail.
const expiryOnce = string(models.MailKeyExpires) + ":"

func (s *Store) postExpiry(tx *gorm.DB, k *models.APIKey) (isNew bool, err error) {
	data, err := json.Marshal(models.KeyExpires{Name: k.Name, Prefix: k.Prefix, ExpiresAt: k.ExpiresAt.UTC()})
	if err != nil {
		return false, fmt.Errorf("write a mail: %w", err)
	}
	return s.post(tx, &models.Mail{AccountID: k.AccountID, Kind: models.MailKeyExpires, Data: string(data), Once: expiryOnce + k.ID})
}

// ExpiryOvertaken says why a mail of MailExpiringKeys is no longer true, apart from its account's
// state; "" = it still is.
func (s *Store) ExpiryOvertaken(ctx context.Context, m *models.Mail) (why string, err error) {
	now, err := s.Clock(ctx)
	if err != nil {
		return "", err
	}
	k, err := s.KeyOf(ctx, m.AccountID, strings.TrimPrefix(m.Once, expiryOnce))
	switch status := k.StatusAt(now); {
	case models.ErrorCode(err) == models.CodeNotFound:
		return "the key is gone", nil
	case err != nil:
		return "", err
	case k.GraceUntil != nil:
		return "the key was rotated since", nil
	case status != models.KeyActive:
		return "the key is " + string(status), nil
	default:
		return "", nil
	}
}
