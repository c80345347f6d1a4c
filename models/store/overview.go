package store

import (
	"context"
	"path"

	"lottery/models"
)

// Overview is what an operator asks of a database first. What needs a schema is nil while there is none.
type Overview struct {
	SchemaStatus
	DataVersion *models.DataVersion
	Draws       *int64 // void slots aside
	Accounts    *int64 // deleted ones aside
	Demo        bool
}

// Overview looks at the database and changes nothing, not even in an empty one.
func (s *Store) Overview(ctx context.Context) (Overview, error) {
	var o Overview
	there, err := hasTable(s.reader(ctx), "schema_migrations")
	if err != nil {
		return o, unavailable(err)
	}
	if !there {
		if err := s.Ping(ctx); err != nil { // was that a "no"?
			return o, err
		}
		o.SchemaStatus, err = s.emptyStatus()
		return o, err
	}
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

// emptyStatus is the status of a database without any table. Status itself would make the first one.
func (s *Store) emptyStatus() (SchemaStatus, error) {
	st := SchemaStatus{Dialect: s.dialect}
	p, err := s.provider(false)
	if err != nil {
		return st, err
	}
	for _, m := range p.ListSources() {
		st.Newest = max(st.Newest, m.Version)
		st.Pending = append(st.Pending, path.Base(m.Path))
	}
	return st, nil
}
