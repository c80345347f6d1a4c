package store

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"lottery/models"
	"lottery/models/secret"
)

// AccountCorrection is what an operator corrects in an account; nil fields stay as they are.
type AccountCorrection struct {
	Email, Name *string
}

// CorrectAccount changes an account's address or name. With another address, its sessions and its links to new
// addresses end, since whoever could read mail to the address before may be somebody else, and Stripe is to be told, if
// it knows the account (EmailsOwed). CodeConflict: another account has the address (ignoring the case of ASCII letters).
func (s *Store) CorrectAccount(ctx context.Context, ref string, in AccountCorrection) (models.Account, error) {
	columns := map[string]any{}
	var email, key string
	if in.Email != nil {
		var err error
		if email, key, err = models.ParseEmail(*in.Email); err != nil {
			return models.Account{}, err
		}
		columns["email"], columns["email_key"] = email, key
	}
	if in.Name != nil {
		if err := models.CheckText("an account's name", *in.Name, 0, 200); err != nil {
			return models.Account{}, err
		}
		columns["name"] = *in.Name
	}
	a, err := s.updateAccount(ctx, ref, func(tx *gorm.DB, a *models.Account, e *models.AuditEntry) (map[string]any, error) {
		respelled := in.Email != nil && *a.Email != email
		switch renamed := in.Name != nil && *in.Name != a.Name; { // the log holds no address or name
		case respelled && renamed:
			e.Became = "another address and name"
		case respelled:
			e.Became = "another address"
		case renamed:
			e.Became = "another name"
		}
		if !respelled {
			return columns, nil
		}
		if err := s.oweEmail(tx, a.ID, secret.NewID("set_")); err != nil {
			return nil, err
		}
		if *a.EmailKey == key { // the same address
			return columns, nil
		}
		return columns, s.endSessions(tx, a.ID)
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return a, models.Errorf(models.CodeConflict, "there is another account for %s", email)
	}
	return a, err
}
