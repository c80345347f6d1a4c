package middleware

import (
	"time"
	"unique"

	"lottery/api/problem"
	"lottery/models"
	"lottery/models/store"
)

// Principal is who makes a request. It is immutable.
type Principal struct {
	AccountID  string
	KeyID      string
	KeyPrefix  string
	Plan       models.Plan
	DailyLimit int // counted requests per UTC day
	status     models.AccountStatus
	ends       *models.APIKey // the times that end the key; nil = none
}

// newPrincipal keeps only what requests need: there is a principal per key in use, and every garbage
// collection scans what they hold.
func newPrincipal(k *store.Key, plans models.Plans) *Principal {
	plan, _ := k.Account.Plan()
	p := &Principal{
		Plan: unique.Make(plan).Value(), DailyLimit: k.Account.DailyLimit(plans),
		status: unique.Make(k.Account.Status).Value(),
	}
	text := k.AccountID + k.ID + k.Prefix // one string backs all three
	p.AccountID, text = text[:len(k.AccountID)], text[len(k.AccountID):]
	p.KeyID, p.KeyPrefix = text[:len(k.ID)], text[len(k.ID):]
	if k.ExpiresAt != nil || k.GraceUntil != nil || k.RevokedAt != nil {
		p.ends = &models.APIKey{ExpiresAt: k.ExpiresAt, GraceUntil: k.GraceUntil, RevokedAt: k.RevokedAt}
	}
	return p
}

// check refuses a key that is dead at now, or whose account is not served.
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
