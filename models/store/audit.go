package store

import (
	"cmp"
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// Operator is the person who runs a command that changes something.
type Operator struct {
	Who     string // the person's name
	Origin  string // the machine, and the address they connected from
	Command string // accounts set-plan

	noted bool
}

type operatorKey struct{}

// WithOperator returns a context under which changes write entries to the audit log, in their own transactions.
func WithOperator(ctx context.Context, o *Operator) context.Context {
	return context.WithValue(ctx, operatorKey{}, o)
}

// Noted reports whether a change has written an entry. If its transaction was rolled back, so was the entry.
func (o *Operator) Noted() bool { return o.noted }

func operatorOf(ctx context.Context) *Operator {
	o, _ := ctx.Value(operatorKey{}).(*Operator)
	return o
}

// resultDone is the result of a successful command.
const resultDone = "done"

// did records within tx what an operator changed, if one is at work. e identifies what was changed by its id: it must
// not contain a customer's address or name, or any secret.
func (s *Store) did(tx *gorm.DB, e models.AuditEntry) error {
	o := operatorOf(tx.Statement.Context)
	if o == nil {
		return nil
	}
	e.Actor, e.Action, e.Result = "operator", o.Command, resultDone
	if err := s.audit(tx, &e); err != nil {
		return err
	}
	o.noted = true
	return nil
}

// audit appends an entry, with the operator under whose command it is written, if any.
func (s *Store) audit(tx *gorm.DB, e *models.AuditEntry) error {
	e.At = s.now()
	if o := operatorOf(tx.Statement.Context); o != nil {
		e.Who, e.Origin = o.Who, o.Origin
	}
	return tx.Create(e).Error
}

// Note records the result of an operator's command that is not a single transaction, or why it failed; "" means done.
// object may be what the operator typed, whether or not it is UTF-8.
func (s *Store) Note(ctx context.Context, o *Operator, accountID, object, result string) error {
	e := models.AuditEntry{
		Actor: "operator", Action: o.Command, AccountID: accountID, Object: strings.ToValidUTF8(object, "\uFFFD"), Result: cmp.Or(result, resultDone),
	}
	return unavailable(s.audit(s.writer(WithOperator(ctx, o)), &e))
}

// AuditFilter narrows Audit; zero fields have no effect.
type AuditFilter struct {
	AccountID string
	Since     time.Time
	Limit     int
}

// Audit returns the audit log, newest first: what operators did, and how plans and addresses changed otherwise.
func (s *Store) Audit(ctx context.Context, f AuditFilter) ([]models.AuditEntry, error) {
	q := s.reader(ctx).Order("id DESC")
	if f.AccountID != "" {
		q = q.Where("account_id = ?", f.AccountID)
	}
	if !f.Since.IsZero() {
		q = q.Where("at >= ?", f.Since.UTC())
	}
	if f.Limit > 0 {
		q = q.Limit(f.Limit)
	}
	list := []models.AuditEntry{}
	err := q.Find(&list).Error
	return list, unavailable(err)
}

// AuditOf returns how an account's plan changed, newest first: by Stripe, and by operators' grants.
func (s *Store) AuditOf(ctx context.Context, accountID string, limit int) ([]models.AuditEntry, error) {
	var list []models.AuditEntry
	err := s.reader(ctx).Where("account_id = ? AND action IN ? AND was <> became", accountID, []string{"plan.billed", "accounts set-plan"}).
		Order("id DESC").Limit(limit).Find(&list).Error
	return list, unavailable(err)
}
