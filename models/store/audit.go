package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"lottery/models"
)

// Operator is the person on whose word a command changes something.
type Operator struct {
	Who     string // their name
	Origin  string // the machine, and the address that they came from
	Command string // accounts set-plan

	noted bool
}

type operatorKey struct{}

// WithOperator makes the changes under ctx leave entries in the audit log, in their own transactions.
func WithOperator(ctx context.Context, o *Operator) context.Context {
	return context.WithValue(ctx, operatorKey{}, o)
}

// Noted tells whether a change has left an entry. If its transaction was undone, so was the entry.
func (o *Operator) Noted() bool { return o.noted }

func operatorOf(ctx context.Context) *Operator {
	o, _ := ctx.Value(operatorKey{}).(*Operator)
	return o
}

// resultDone is the result of what an operator did.
const resultDone = "done"

// did notes within tx what an operator changed; nothing where none is at work. e names what was changed, by its id:
// neither an address nor a name of a customer, nor anything secret, may stand in it.
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

// audit appends an entry; it knows the operator under whose command it is written, if one is.
func (s *Store) audit(tx *gorm.DB, e *models.AuditEntry) error {
	e.At = s.now()
	if o := operatorOf(tx.Statement.Context); o != nil {
		e.Who, e.Origin = o.Who, o.Origin
	}
	return tx.Create(e).Error
}

// Note appends what an operator's command did that is not one transaction, or why it did not; result "" means done.
func (s *Store) Note(ctx context.Context, o *Operator, accountID, object, result string) error {
	if result == "" {
		result = resultDone
	}
	e := models.AuditEntry{Actor: "operator", Action: o.Command, AccountID: accountID, Object: object, Result: result}
	return wrapUnavailable(s.audit(s.writer(WithOperator(ctx, o)), &e))
}

// AuditFilter narrows Audit; zero fields do not.
type AuditFilter struct {
	AccountID string
	Since     time.Time
	Limit     int
}

// Audit is the audit log, newest first: what operators did, and how plans and addresses changed by themselves.
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
	return list, wrapUnavailable(q.Find(&list).Error)
}

// AuditOf is the newest entries about an account's plan and address, newest first; what operators did is in Audit.
func (s *Store) AuditOf(ctx context.Context, accountID string, limit int) ([]models.AuditEntry, error) {
	var list []models.AuditEntry
	err := s.reader(ctx).Where("account_id = ? AND result = ''", accountID).Order("id DESC").Limit(limit).Find(&list).Error
	return list, wrapUnavailable(err)
}
