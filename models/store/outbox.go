package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"lottery/models"
)

// DueMail is a mail of the outbox, and the address to send it to.
type DueMail struct {
	models.Mail

	Email   string // "" = the account no longer has one
	Account models.Account
}

// mailAhead is longer than any mail waits for its next attempt: one that waits longer was scheduled by a wrong clock.
const mailAhead = 6 * time.Hour

// ClaimMails claims up to limit due mails until d from now, so that only one node sends each. A mail that was never
// tried is due, whatever the clock of the node that wrote it said. Mails about a day's quota come last: there may be
// many at a time, and the others are about money and keys.
func (s *Store) ClaimMails(ctx context.Context, limit int, d time.Duration) ([]DueMail, error) {
	var due []models.Mail
	err := s.reader(ctx).Where("sent_at IS NULL AND failed_at IS NULL AND (next_at <= ? OR attempts = 0 OR next_at > ?)", s.later(0), s.later(mailAhead)).
		Order(clause.OrderBy{Expression: clause.Expr{SQL: "kind = ?, next_at, id", Vars: []any{models.MailQuotaUsed}}}).Limit(limit).Find(&due).Error
	if err != nil {
		return nil, unavailable(err)
	}
	var claimed []DueMail
	for _, m := range due {
		done := s.writer(ctx).Model(&models.Mail{}).Where("id = ? AND next_at = ? AND sent_at IS NULL AND failed_at IS NULL", m.ID, m.NextAt).
			Updates(map[string]any{"next_at": s.later(d), "attempts": m.Attempts + 1})
		if done.Error != nil {
			return claimed, unavailable(done.Error)
		}
		if done.RowsAffected == 0 {
			continue // another node was faster
		}
		m.Attempts++
		mail := DueMail{Mail: m}
		a, err := s.Account(ctx, m.AccountID)
		switch {
		case models.ErrorCode(err) == models.CodeNotFound:
		case err != nil:
			return claimed, err
		default:
			mail.Email, mail.Account = *a.Email, a
		}
		claimed = append(claimed, mail)
	}
	return claimed, nil
}

// post adds a mail to the outbox; isNew is false if a mail of that name is there already.
func (s *Store) post(tx *gorm.DB, m *models.Mail) (isNew bool, err error) {
	m.CreatedAt = s.now()
	m.NextAt = m.CreatedAt
	added := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(m)
	return added.RowsAffected == 1, added.Error
}

// MailFilter selects mails of the outbox.
type MailFilter struct {
	AccountID string // "" = of all accounts
	Dead      bool   // only those that were given up
	Limit     int    // 0 = all
}

// MailsNewest returns mails of the outbox, newest first.
func (s *Store) MailsNewest(ctx context.Context, f MailFilter) ([]models.Mail, error) {
	q := s.reader(ctx).Order("id DESC")
	if f.AccountID != "" {
		q = q.Where("account_id = ?", f.AccountID)
	}
	if f.Dead {
		q = q.Where("failed_at IS NOT NULL")
	}
	if f.Limit > 0 {
		q = q.Limit(f.Limit)
	}
	list := []models.Mail{}
	err := q.Find(&list).Error
	return list, unavailable(err)
}

// RetryMails makes mails that were given up due again, and returns them: the one with that id, or all if id is 0.
func (s *Store) RetryMails(ctx context.Context, id int64) (list []models.Mail, _ error) {
	err := s.transaction(ctx, func(tx *gorm.DB) error {
		dead := func() *gorm.DB {
			q := tx.Model(&models.Mail{}).Where("failed_at IS NOT NULL")
			if id != 0 {
				q = q.Where("id = ?", id)
			}
			return q
		}
		if err := dead().Order("id").Find(&list).Error; err != nil {
			return err
		}
		for i := range list {
			list[i].FailedAt, list[i].Attempts, list[i].NextAt = nil, 0, s.now()
		}
		return dead().Updates(map[string]any{"failed_at": nil, "attempts": 0, "next_at": s.later(0)}).Error
	})
	return list, unavailable(err)
}

// MailSent records that the mail of that name was sent. It is known by its name, not its id, since SQLite gives the id of
// the newest mail to the next one if the former was deleted with its account.
func (s *Store) MailSent(ctx context.Context, once string) error {
	return s.settleMail(ctx, once, map[string]any{"sent_at": s.now(), "last_error": ""})
}

// MailFailed records why a mail could not be sent. It is retried after wait, or never if wait is 0.
func (s *Store) MailFailed(ctx context.Context, once, reason string, wait time.Duration) error {
	columns := map[string]any{"last_error": reason, "next_at": s.later(wait)}
	if wait == 0 {
		columns["failed_at"] = s.now()
	}
	return s.settleMail(ctx, once, columns)
}

// DropMail deletes a mail that is not to be sent any more.
func (s *Store) DropMail(ctx context.Context, once string) error {
	return unavailable(s.writer(ctx).Where("once = ?", once).Delete(&models.Mail{}).Error)
}

func (s *Store) settleMail(ctx context.Context, once string, columns map[string]any) error {
	return unavailable(s.writer(ctx).Model(&models.Mail{}).Where("once = ?", once).Updates(columns).Error)
}
