package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"lottery/models"
	"lottery/models/secret"
)

// seenEvery is the precision of Session.LastSeenAt: a session writes it no more often than that.
const seenEvery = time.Hour

// Visitor is a session and its account.
type Visitor struct {
	Session models.Session
	Account models.Account
}

// Visitor returns the session whose token has that SHA-256, and its account; CodeNotFound if there is no such session,
// it was unused for too long, or its account is closed.
func (s *Store) Visitor(ctx context.Context, hash [32]byte) (Visitor, error) {
	var v Visitor
	gone := models.Errorf(models.CodeNotFound, "no such session")
	now := s.now()
	err := s.reader(ctx).Take(&v.Session, "hash = ?", hash[:]).Error
	unseen := now.Sub(v.Session.LastSeenAt)
	if errors.Is(err, gorm.ErrRecordNotFound) || (err == nil && unseen > models.SessionIdle) {
		return v, gone
	}
	if err != nil {
		return v, unavailable(err)
	}
	if v.Account, err = s.Account(ctx, v.Session.AccountID); err != nil {
		if models.ErrorCode(err) == models.CodeNotFound {
			return v, gone
		}
		return v, err
	}
	if unseen.Abs() >= seenEvery { // below 0, the clock was ahead: by its time, the session would live on for that long
		// Failing to write this must not change who somebody is.
		_ = s.writer(ctx).Model(&models.Session{}).Where("id = ?", v.Session.ID).Update("last_seen_at", now).Error
	}
	return v, nil
}

// newSession signs an account in, within tx.
func (s *Store) newSession(tx *gorm.DB, accountID string, hash [32]byte) error {
	now := s.now()
	return tx.Create(&models.Session{ID: secret.NewID("ses_"), AccountID: accountID, Hash: hash[:], CreatedAt: now, LastSeenAt: now}).Error
}

// Sessions returns an account's live sessions, most recently used first, and at most that many.
func (s *Store) Sessions(ctx context.Context, accountID string, most int) ([]models.Session, error) {
	var list []models.Session
	err := s.reader(ctx).Where("account_id = ? AND last_seen_at > ?", accountID, s.now().Add(-models.SessionIdle)).
		Order("last_seen_at DESC, id").Limit(most).Find(&list).Error
	return list, unavailable(err)
}

// EndSession ends one of an account's sessions.
func (s *Store) EndSession(ctx context.Context, accountID, sessionID string) error {
	err := s.writer(ctx).Where("account_id = ? AND id = ?", accountID, sessionID).Delete(&models.Session{}).Error
	return unavailable(err)
}

// EndSessions ends all of an account's sessions. It also voids links to new addresses that were asked for in them, and
// sign-in links that its address was sent: one who read the mailbox before could open a new session.
func (s *Store) EndSessions(ctx context.Context, accountID string) error {
	return translate(s.transaction(ctx, func(tx *gorm.DB) error {
		var a models.Account
		if err := s.locking(tx).Take(&a, "id = ?", accountID).Error; err != nil {
			return err
		}
		if err := s.endSessions(tx, accountID); err != nil || a.EmailKey == nil {
			return err
		}
		return s.voidSignIns(tx, *a.EmailKey)
	}))
}

func (s *Store) endSessions(tx *gorm.DB, accountID string) error {
	if err := tx.Where("account_id = ?", accountID).Delete(&models.Session{}).Error; err != nil {
		return err
	}
	return s.voidChanges(tx, accountID)
}
