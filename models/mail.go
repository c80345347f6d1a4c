package models

import "time"

// MailKind is the kind of a mail.
type MailKind string

// The mails about money, about keys, about the address, and about the daily limit.
const (
	MailWelcomePro    MailKind = "welcome_pro"
	MailPaymentFailed MailKind = "payment_failed" // a renewal's
	MailFirstFailed   MailKind = "first_payment_failed"
	MailProEnded      MailKind = "pro_ended"
	MailKeyExpires    MailKind = "key_expires"
	MailEmailChanged  MailKind = "email_changed" // sent to the old address
	MailQuotaUsed     MailKind = "quota_used"
)

// KeyExpires is the data of a MailKeyExpires.
type KeyExpires struct {
	Name      string    `json:"name"`
	Prefix    string    `json:"prefix"`
	ExpiresAt time.Time `json:"expires_at"`
}

// EmailChanged is the data of a MailEmailChanged.
type EmailChanged struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// QuotaUsed says that an account has used Percent of its daily limit on Day. It is the data of a MailQuotaUsed.
type QuotaUsed struct {
	Day     Date  `json:"day"`     // UTC
	Percent int   `json:"percent"` // 80 or 100
	Limit   int64 `json:"limit"`   // requests
}

// OutboxEvery is the interval between a server's passes over the outbox.
const OutboxEvery = 5 * time.Second

// Mail is a row of the outbox.
type Mail struct {
	ID        int64 `gorm:"primaryKey"`
	AccountID string
	Kind      MailKind
	Data      string // JSON
	Once      string // unique name: no second mail of this name is ever added
	CreatedAt time.Time
	NextAt    time.Time
	Attempts  int
	SentAt    *time.Time
	FailedAt  *time.Time // given up after too many attempts
	LastError string
}
