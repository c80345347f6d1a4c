package models

import "time"

// APIKey is a credential of an account. The key itself is not stored.
type APIKey struct {
	ID         string `gorm:"primaryKey"` // key_…
	AccountID  string
	Name       string
	Prefix     string // the key's first 12 characters
	Hash       []byte // SHA-256 of the whole key
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	GraceUntil *time.Time // set by rotation: the key works until then
	LastUsedAt *time.Time // to the minute
	RevokedAt  *time.Time
}

// TableName is the table's name in the migrations.
func (APIKey) TableName() string { return "api_keys" }

// KeyStatus is the state of a key at some moment.
type KeyStatus string

// The states of a key. Only active and grace keys are served; only active ones count against the plan.
const (
	KeyActive  KeyStatus = "active"
	KeyGrace   KeyStatus = "grace" // rotated, in its grace period
	KeyExpired KeyStatus = "expired"
	KeyRevoked KeyStatus = "revoked"
)

// StatusAt returns k's state at now. The end of a grace period is a revocation. A revocation holds whatever the clocks
// say: the clock of the node that revoked may be ahead of the one that asks.
func (k *APIKey) StatusAt(now time.Time) KeyStatus {
	switch {
	case k.RevokedAt != nil, k.GraceUntil != nil && !now.Before(*k.GraceUntil):
		return KeyRevoked
	case k.ExpiresAt != nil && !now.Before(*k.ExpiresAt):
		return KeyExpired
	case k.GraceUntil != nil:
		return KeyGrace
	default:
		return KeyActive
	}
}

// RevokedSince returns when a key that is revoked at now was revoked, explicitly or by the end of
// its grace period; else nil.
func (k *APIKey) RevokedSince(now time.Time) *time.Time {
	if k.RevokedAt == nil && k.StatusAt(now) == KeyRevoked {
		return k.GraceUntil
	}
	return k.RevokedAt
}

// EndsAt returns when the key stops working by itself: its expiry or the end of its grace period, or nil.
func (k *APIKey) EndsAt() *time.Time {
	switch {
	case k.GraceUntil == nil:
		return k.ExpiresAt
	case k.ExpiresAt == nil || k.GraceUntil.Before(*k.ExpiresAt):
		return k.GraceUntil
	default:
		return k.ExpiresAt
	}
}
