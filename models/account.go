// Package models is the vocabulary of the product: what its tables hold, and the rules that need nothing else.
package models

import (
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// AccountStatus says whether an account's keys are served.
type AccountStatus string

// The states of an account.
const (
	AccountActive    AccountStatus = "active"
	AccountSuspended AccountStatus = "suspended"
	AccountClosed    AccountStatus = "closed"
)

// PlanSource says why an account has its plan.
type PlanSource string

// Where a plan comes from, strongest last: the default, a Stripe subscription, an operator's grant.
const (
	SourceDefault  PlanSource = "default"
	SourceBilling  PlanSource = "billing"
	SourceOperator PlanSource = "operator"
)

// Account is a customer.
type Account struct {
	ID            string  `gorm:"primaryKey"` // acc_…
	Email         *string // as given; nil once deleted
	EmailKey      *string // for comparison (see EmailKey), unique; nil once deleted
	Name          string
	Status        AccountStatus
	GrantedPlan   *Plan // an operator's grant, or nil
	BilledPlan    *Plan // the plan according to billing, or nil
	LimitOverride *int  // requests per UTC day; nil = the plan's limit
	CreatedAt     time.Time
	DeletedAt     *time.Time // when it was anonymised; the row stays so that its keys answer "revoked"
}

// Plan returns the plan in force and where it comes from.
func (a *Account) Plan() (Plan, PlanSource) {
	switch {
	case a.GrantedPlan != nil:
		return *a.GrantedPlan, SourceOperator
	case a.BilledPlan != nil:
		return *a.BilledPlan, SourceBilling
	default:
		return PlanFree, SourceDefault
	}
}

// DailyLimit is the number of counted requests that a may make per UTC day.
func (a *Account) DailyLimit(plans Plans) int {
	plan, _ := a.Plan()
	return a.LimitOn(plans, plan)
}

// LimitOn is what DailyLimit would be if a were on plan.
func (a *Account) LimitOn(plans Plans, plan Plan) int {
	if a.LimitOverride != nil {
		return *a.LimitOverride
	}
	return plans[plan].RequestsPerDay
}

// EmailKey returns the form by which addresses are compared: ASCII letters in lower case. Other letters stay, since
// some become ASCII in lower case (İ, the Kelvin sign), which would let another mailbox sign in to the account.
func EmailKey(address string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, strings.TrimSpace(address))
}

// longestUser is how many bytes may stand before the @ (RFC 5321, section 4.5.3.1.1).
const longestUser = 64

// ParseEmail checks a bare address and returns it with its comparison key. The domain must be a name with a dot. Names
// without one, and addresses of machines (ada@localhost, ada@[127.0.0.1], ada@127.0.0.1), would let a stranger decide
// where in its own network the operator's mail server connects.
func ParseEmail(s string) (email, key string, err error) {
	s = strings.TrimSpace(s)
	parsed, err := mail.ParseAddress(s)
	unseen := func(r rune) bool { return !unicode.IsPrint(r) || blank(r) } // also what reverses the text direction
	if err != nil || parsed.Address != s || len(s) > 254 || strings.LastIndexByte(s, '@') > longestUser ||
		!utf8.ValidString(s) || strings.ContainsFunc(s, unseen) || !isName(s[strings.LastIndexByte(s, '@')+1:]) {
		return "", "", Errorf(CodeInvalid, "%q is not an email address in the form name@example.com", s)
	}
	return s, EmailKey(s), nil
}

// isName tells domains from addresses of machines. No top-level domain begins with a digit (RFC 1123, section 2.1).
func isName(domain string) bool {
	dot := strings.LastIndexByte(domain, '.')
	return dot >= 0 && domain[0] != '[' && strings.TrimLeft(domain[dot+1:], "0123456789") == domain[dot+1:]
}
