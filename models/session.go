package models

import "time"

const (
	// LinkLives is how long a link in a mail works.
	LinkLives = 15 * time.Minute
	// SessionIdle is how long a session lives that nobody uses.
	SessionIdle = 30 * 24 * time.Hour
)

// Session is somebody signed in, in one browser. Its token is never stored.
type Session struct {
	ID         string `gorm:"primaryKey"` // ses_…
	AccountID  string
	Hash       []byte // SHA-256 of the token
	CreatedAt  time.Time
	LastSeenAt time.Time // to the hour
}

// LinkPurpose is what a link in a mail does.
type LinkPurpose string

// The purposes of a link.
const (
	LinkSignIn      LinkPurpose = "sign_in"
	LinkChangeEmail LinkPurpose = "change_email"
)

// Link is a link in a mail: it proves that somebody reads the mail of an address. It works once. Its token is never
// stored.
type Link struct {
	ID        int64  `gorm:"primaryKey"`
	Hash      []byte // SHA-256 of the token
	Purpose   LinkPurpose
	Email     string // where it was sent, as given
	EmailKey  string // lower case
	Mailbox   []byte // SHA-256 of Email as mail servers read it, in lower case: what is sent there is counted by it
	AccountID string // whose address changes; "" for LinkSignIn
	Intent    string // what to do next: "" or "upgrade"
	CreatedAt time.Time
	ExpiresAt time.Time
	SpentAt   *time.Time
}

// Works tells whether l can be spent at now.
func (l *Link) Works(now time.Time) bool { return l.SpentAt == nil && now.Before(l.ExpiresAt) }
