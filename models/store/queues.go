package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// QueueState is the state of the inbox of webhook events or the outbox of mails.
type QueueState struct {
	Waiting int64
	Oldest  time.Time // since when the oldest one waits; zero = none waits
	Dead    int64     // given up: they need an operator
}

// InboxState returns the state of the inbox. An event that an operator retried waits since then.
func (s *Store) InboxState(ctx context.Context) (QueueState, error) {
	waiting := func() *gorm.DB {
		return s.reader(ctx).Model(&models.StripeEvent{}).Where("state = ?", models.EventPending)
	}
	var q QueueState
	if err := waiting().Count(&q.Waiting).Error; err != nil {
		return q, unavailable(err)
	}
	if q.Waiting > 0 {
		var e models.StripeEvent
		if err := waiting().Order("COALESCE(retried_at, received_at)").Limit(1).Find(&e).Error; err != nil {
			return q, unavailable(err)
		}
		if q.Oldest = e.ReceivedAt; e.RetriedAt != nil {
			q.Oldest = *e.RetriedAt
		}
	}
	err := s.reader(ctx).Model(&models.StripeEvent{}).Where("state = ?", models.EventFailed).Count(&q.Dead).Error
	return q, unavailable(err)
}

// OutboxState returns the state of the outbox.
func (s *Store) OutboxState(ctx context.Context) (QueueState, error) {
	waiting := func() *gorm.DB {
		return s.reader(ctx).Model(&models.Mail{}).Where("sent_at IS NULL AND failed_at IS NULL")
	}
	var q QueueState
	if err := waiting().Count(&q.Waiting).Error; err != nil {
		return q, unavailable(err)
	}
	if q.Waiting > 0 {
		var m models.Mail
		if err := waiting().Order("created_at").Limit(1).Find(&m).Error; err != nil {
			return q, unavailable(err)
		}
		q.Oldest = m.CreatedAt
	}
	err := s.reader(ctx).Model(&models.Mail{}).Where("failed_at IS NOT NULL").Count(&q.Dead).Error
	return q, unavailable(err)
}
