package store

import (
	"context"

	"lottery/models"
)

// Overview is what an operator first wants to know about a database. What needs a schema is nil while there is none.
type Overview struct {
	SchemaStatus
	DataVersion *models.DataVersion
	Draws       *int64 // without void slots
	Accounts    *int64 // without deleted ones
	Demo        bool
}

// Overview inspects the database without changing anything, even in an empty one.
func (s *Store) Overview(ctx context.Context) (Overview, error) {
	var o Overview
	var err error
	if o.SchemaStatus, err = s.Status(ctx); err != nil || o.Current == 0 {
		return o, err
	}
	version, err := s.DataVersion(ctx)
	if err != nil {
		return o, err
	}
	var draws, accounts int64
	if err := s.reader(ctx).Model(&models.Draw{}).Where("NOT void").Count(&draws).Error; err != nil {
		return o, translate(err)
	}
	if err := s.reader(ctx).Model(&models.Account{}).Where("deleted_at IS NULL").Count(&accounts).Error; err != nil {
		return o, translate(err)
	}
	o.DataVersion, o.Draws, o.Accounts = &version, &draws, &accounts
	o.Demo, err = s.IsDemo(ctx)
	return o, err
}
