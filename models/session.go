package models

import "time"

const (
	// LinkLives is how long a link in a mail works.
	LinkLives = 15 * time.Minute
	// SessionIdle is how long an unused session lives.
	SessionIdle = 30 * 24 * time.Hour
)

// Session is somebody signed in in one browser. Its token is not stored.
type Session struct {
	ID         string `gorm:"primaryKey"` // ses_…
	AccountID  string
	Hash       []byte // SHA-256 of the token
	CreatedAt  time.Time
	LastSeenAt time.Time // to the hour
}

// LinkPurpose is what a link in a mail is for.
type LinkPurpose string

// The purposes of a link.
const (
	LinkSignIn      LinkPurpose = "sign_in"
	LinkChangeEmail LinkPurpose = "change_email"
)

// Link is a link in a mail: using it proves that somebody reads the mail of an address. It works once.
// Its token is not stored.
type Link struct {
	ID        int64  `gorm:"primaryKey"`
	Hash      []byte // SHA-256 of the token
	Purpose   LinkPurpose
	Email     string // the address it was sent to, as given
	EmailKey  string // EmailKey of Email
	Mailbox   []byte // SHA-256 of the EmailKey of Email as mail servers read it; mails to it are counted by this
	AccountID string // the account whose address changes; "" for LinkSignIn
	Intent    string // what to do next: "" or "upgrade"
	CreatedAt time.Time
	ExpiresAt time.Time
	SpentAt   *time.Time
}

// LinkAhead is how far ahead the end of a link may be. One that seems to work for longer was made before a clock that
// was ahead was set back: it would work, and keep its address from another, for as long as that was.
const LinkAhead = 2 * LinkLives

// Works reports whether l can be spent at now.
func (l *Link) Works(now time.Time) bool {
	return l.SpentAt == nil && now.Before(l.ExpiresAt) && !now.Add(LinkAhead).Before(l.ExpiresAt)
}
