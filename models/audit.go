package models

import "time"

// AuditEntry records who changed what, and why.
type AuditEntry struct {
	ID        int64 `gorm:"primaryKey"`
	At        time.Time
	Actor     string // stripe, reconcile, operator, customer
	Action    string // plan.billed, email.changed; of an operator, the command
	AccountID string // "" = no account is concerned
	Object    string // id of what was changed; "" = the account
	Was       string
	Became    string
	Reason    string
	EventID   string // evt_…, if one was the cause
	Who       string // the operator's name; "" = no operator
	Origin    string // where the operator worked
	Result    string // of an operator's command: done, or the reason why it failed; "" = not a command
}
