package store

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"lottery/models"
)

// AddEvent adds a webhook event to the inbox; isNew is false if it is there already.
func (s *Store) AddEvent(ctx context.Context, e models.StripeEvent) (isNew bool, err error) {
	e.ReceivedAt = s.now()
	e.NextAt = e.ReceivedAt
	if e.State != models.EventPending {
		e.DoneAt = &e.ReceivedAt
	}
	added := s.writer(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&e)
	if added.Error != nil {
		return false, unavailable(added.Error)
	}
	return added.RowsAffected == 1, nil
}

// eventAhead is longer than any event waits for its next attempt: one that waits longer was scheduled by a wrong clock.
const eventAhead = time.Hour

// ClaimEvents gives the caller up to limit due events, oldest first, except those of the customers in but; nobody else
// gets them for d. If the caller dies they can be claimed again after that. An event that was never tried is due,
// whatever the clock of the node that received it said.
func (s *Store) ClaimEvents(ctx context.Context, limit int, d time.Duration, but []string) ([]models.StripeEvent, error) {
	var due []models.StripeEvent
	q := s.reader(ctx).Where("state = ? AND (next_at <= ? OR attempts = 0 OR next_at > ?)", models.EventPending, s.later(0), s.later(eventAhead))
	if len(but) > 0 {
		q = q.Where("customer_id NOT IN ?", but)
	}
	if err := q.Order("next_at, id").Limit(limit).Find(&due).Error; err != nil {
		return nil, unavailable(err)
	}
	claimed := due[:0]
	for _, e := range due {
		took := s.writer(ctx).Model(&models.StripeEvent{}).
			Where("id = ? AND state = ? AND next_at = ?", e.ID, models.EventPending, e.NextAt).
			Updates(map[string]any{"next_at": s.later(d), "attempts": e.Attempts + 1})
		if took.Error != nil {
			return claimed, unavailable(took.Error)
		}
		if took.RowsAffected == 1 {
			e.Attempts++
			claimed = append(claimed, e)
		}
	}
	return claimed, nil
}

// KeepClaims extends claims that are not settled yet to d from now.
func (s *Store) KeepClaims(ctx context.Context, ids []string, d time.Duration) error {
	err := s.writer(ctx).Model(&models.StripeEvent{}).Where("id IN ? AND state = ?", ids, models.EventPending).
		Updates(map[string]any{"next_at": s.later(d)}).Error
	return unavailable(err)
}

// SettleEvent ends a claim, with a final state or with pending, to be tried again after wait. It does nothing if the
// claim ran out and somebody else has taken the event since.
func (s *Store) SettleEvent(ctx context.Context, e models.StripeEvent, state models.EventState, outcome string, wait time.Duration) error {
	columns := map[string]any{"state": state, "outcome": outcome}
	if state == models.EventPending {
		columns["next_at"] = s.later(wait)
	} else {
		columns["done_at"] = s.now()
	}
	err := s.writer(ctx).Model(&models.StripeEvent{}).
		Where("id = ? AND state = ? AND attempts = ?", e.ID, models.EventPending, e.Attempts).Updates(columns).Error
	return unavailable(err)
}

// NameEventAccount records whose event it is.
func (s *Store) NameEventAccount(ctx context.Context, id, accountID, customerID string) error {
	err := s.writer(ctx).Model(&models.StripeEvent{}).Where("id = ?", id).
		Updates(map[string]any{"account_id": accountID, "customer_id": customerID}).Error
	return unavailable(err)
}

// EventFilter narrows Events; zero fields have no effect.
type EventFilter struct {
	State     models.EventState
	AccountID string
	Limit     int
}

// Events lists the inbox, newest first.
func (s *Store) Events(ctx context.Context, f EventFilter) ([]models.StripeEvent, error) {
	q := s.reader(ctx).Order("received_at DESC, id DESC")
	if f.State != "" {
		q = q.Where("state = ?", f.State)
	}
	if f.AccountID != "" {
		q = q.Where("account_id = ?", f.AccountID)
	}
	if f.Limit > 0 {
		q = q.Limit(f.Limit)
	}
	list := []models.StripeEvent{}
	err := q.Find(&list).Error
	return list, unavailable(err)
}

// RetryEvent makes an event due now, whatever its state.
func (s *Store) RetryEvent(ctx context.Context, id string) (models.StripeEvent, error) {
	var e models.StripeEvent
	none := models.Errorf(models.CodeNotFound, "there is no event %q; `billing events` lists those that arrived", id)
	if !storable(id) {
		return e, none
	}
	done := s.writer(ctx).Model(&models.StripeEvent{}).Where("id = ?", id).
		Updates(map[string]any{"state": models.EventPending, "attempts": 0, "next_at": s.later(0), "retried_at": s.now(), "done_at": nil})
	if done.Error != nil {
		return e, unavailable(done.Error)
	}
	if done.RowsAffected == 0 {
		return e, none
	}
	err := s.reader(ctx).Take(&e, "id = ?", id).Error
	return e, unavailable(err)
}
