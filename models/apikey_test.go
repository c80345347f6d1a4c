package models_test

import (
	"testing"
	"time"

	"lottery/models"
)

// A key works until the moment of its end, but not at that moment.
func TestKeyStates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	past, later, latest := now.Add(-time.Second), now.Add(time.Second), now.Add(time.Hour)
	for name, c := range map[string]struct {
		key     models.APIKey
		want    models.KeyStatus
		revoked *time.Time // RevokedSince
		ends    *time.Time
	}{
		"without an end":          {want: models.KeyActive},
		"expires later":           {key: models.APIKey{ExpiresAt: &later}, want: models.KeyActive, ends: &later},
		"expires now":             {key: models.APIKey{ExpiresAt: &now}, want: models.KeyExpired, ends: &now},
		"in grace":                {key: models.APIKey{GraceUntil: &later}, want: models.KeyGrace, ends: &later},
		"grace ends now":          {key: models.APIKey{GraceUntil: &now}, want: models.KeyRevoked, revoked: &now, ends: &now},
		"grace before expiry":     {key: models.APIKey{GraceUntil: &later, ExpiresAt: &latest}, want: models.KeyGrace, ends: &later},
		"expires before grace":    {key: models.APIKey{GraceUntil: &latest, ExpiresAt: &later}, want: models.KeyGrace, ends: &later},
		"expired in grace":        {key: models.APIKey{GraceUntil: &later, ExpiresAt: &past}, want: models.KeyExpired, ends: &past},
		"expired, grace over":     {key: models.APIKey{GraceUntil: &now, ExpiresAt: &past}, want: models.KeyRevoked, revoked: &now, ends: &past},
		"revoked":                 {key: models.APIKey{RevokedAt: &past}, want: models.KeyRevoked, revoked: &past},
		"revoked by a fast clock": {key: models.APIKey{RevokedAt: &later, ExpiresAt: &past}, want: models.KeyRevoked, revoked: &later, ends: &past},
		"revoked in grace":        {key: models.APIKey{RevokedAt: &past, GraceUntil: &later}, want: models.KeyRevoked, revoked: &past, ends: &later},
	} {
		if got := c.key.StatusAt(now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := c.key.RevokedSince(now); got != c.revoked {
			t.Errorf("%s: revoked since %v, want %v", name, got, c.revoked)
		}
		if got := c.key.EndsAt(); got != c.ends {
			t.Errorf("%s: ends at %v, want %v", name, got, c.ends)
		}
	}
}
