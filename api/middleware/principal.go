package middleware

import (
	"time"
	"unique"

	"lottery/api/problem"
	"lottery/models"
	"lottery/models/store"
)

// Principal is whose request it is. It is immutable.
type Principal struct {
	AccountID  string
	KeyID      string
	KeyPrefix  string
	Plan       models.Plan
	DailyLimit int // counted requests a UTC day
	status     models.AccountStatus
	ends       *models.APIKey // its times, for its state at a moment; nil = it does not end
}

// newPrincipal keeps what requests need: there are as many principals as keys in use, and what they hold is looked at by
// every garbage collection.
func newPrincipal(k *store.Key, plans models.Plans) *Principal {
	plan, _ := k.Account.Plan()
	p := &Principal{
		Plan: unique.Make(plan).Value(), DailyLimit: k.Account.DailyLimit(plans),
		status: unique.Make(k.Account.Status).Value(),
	}
	text := k.AccountID + k.ID + k.Prefix // one string of three
	p.AccountID, text = text[:len(k.AccountID)], text[len(k.AccountID):]
	p.KeyID, p.KeyPrefix = text[:len(k.ID)], text[len(k.ID):]
	if k.ExpiresAt != nil || k.GraceUntil != nil || k.RevokedAt != nil {
		p.ends = &models.APIKey{ExpiresAt: k.ExpiresAt, GraceUntil: k.GraceUntil, RevokedAt: k.RevokedAt}
	}
	return p
}

// check refuses a key that is dead at now, and one whose account is not served.
func (p *Principal) check(now time.Time) error {
	if p.status == models.AccountClosed {
		return problem.New(problem.RevokedAPIKey, "the key %s… belongs to an account that was closed", p.KeyPrefix)
	}
	if p.ends != nil {
		switch p.ends.StatusAt(now) {
		case models.KeyRevoked:
			return problem.New(problem.RevokedAPIKey, "the key %s… was revoked or replaced; use the one that replaced it, or create a new one", p.KeyPrefix)
		case models.KeyExpired:
			return problem.New(problem.ExpiredAPIKey, "the key %s… expired at %s; create a new one", p.KeyPrefix, p.ends.ExpiresAt.UTC().Format(time.RFC3339))
		}
	}
	if p.status == models.AccountSuspended {
		return problem.New(problem.AccountSuspended, "this account is suspended; contact support")
	}
	return nil
}
