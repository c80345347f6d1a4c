package store

import (
	"context"

	"gorm.io/gorm"

	"lottery/models"
)

// PostMail adds a mail to the outbox that is not part of a change to the account.
func (s *Store) PostMail(ctx context.Context, m models.Mail) error {
	return s.transaction(ctx, func(tx *gorm.DB) error {
		_, err := s.post(tx, &m)
		return err
	})
}
