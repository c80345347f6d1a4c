package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"lottery/models"
	"lottery/models/secret"
)

// accountChange is a row of account_changes: the account AccountID changed, as change Number.
type accountChange struct {
	Number    int64 `gorm:"primaryKey"`
	AccountID string
	ChangedAt time.Time
}

// changed records within tx that an account or its keys changed, so that every node drops what it knows of them. The
// one row of account_version stays locked until commit, so changes are numbered in commit order.
func (s *Store) changed(tx *gorm.DB, accountID string) error {
	if err := tx.Table("account_version").Where("id = 1").Update("number", gorm.Expr("number + 1")).Error; err != nil {
		return fmt.Errorf("note the account's change: %w", err)
	}
	var number int64
	if err := tx.Table("account_version").Select("number").Where("id = 1").Take(&number).Error; err != nil {
		return fmt.Errorf("note the account's change: %w", err)
	}
	change := accountChange{Number: number, AccountID: accountID, ChangedAt: s.now()}
	if err := tx.Create(&change).Error; err != nil {
		return fmt.Errorf("note the account's change: %w", err)
	}
	if noted, ok := tx.Statement.Context.Value(notedChange{}).(*bool); ok {
		*noted = true
	}
	return nil
}

// notedChange is the context key under which a transaction records whether it changed an account.
type notedChange struct{}

// AccountsChanged receives a value when accounts or keys have changed through s since the last value was taken. It does
// not cover changes by other processes; NewestAccountChange does.
func (s *Store) AccountsChanged() <-chan struct{} { return s.accountsChanged }

// AccountChange is a change of an account. AccountID and At distinguish it from another change with the same number in
// a database that went back to an earlier state, such as a standby that took over without the last changes.
type AccountChange struct {
	Number    int64 // 0 = there was no change yet
	AccountID string
	At        int64 // Unix microseconds
}

// NewestAccountChange returns the newest change of an account.
func (s *Store) NewestAccountChange(ctx context.Context) (AccountChange, error) {
	if err := s.replaced(); err != nil {
		return AccountChange{}, err
	}
	var newest []accountChange
	err := s.urgent(ctx).Table("account_version").Select("account_version.number", "c.account_id", "c.changed_at").
		Joins("LEFT JOIN account_changes c ON c.number = account_version.number").Where("account_version.id = 1").Scan(&newest).Error
	if err == nil && len(newest) != 1 {
		err = gorm.ErrRecordNotFound
	}
	if err != nil {
		return AccountChange{}, unavailable(err)
	}
	return newest[0].told(), nil
}

func (c *accountChange) told() AccountChange {
	return AccountChange{c.Number, c.AccountID, c.ChangedAt.UnixMicro()}
}

// AccountChanges returns the ids of the accounts that changed after since, and the newest change. known is false if the
// database does not have since, so that the changed accounts cannot be determined.
func (s *Store) AccountChanges(ctx context.Context, since AccountChange) (ids []string, newest AccountChange, known bool, err error) {
	if err := s.replaced(); err != nil {
		return nil, AccountChange{}, false, err
	}
	// One statement, since a node may be far from its database, and a revoked key works until this is known.
	var rows []struct {
		Newest int64
		Change accountChange `gorm:"embedded"`
	}
	err = s.urgent(ctx).Raw("SELECT v.number AS newest, c.number, c.account_id, c.changed_at FROM account_version v "+
		"LEFT JOIN account_changes c ON c.number BETWEEN ? AND v.number WHERE v.id = 1 ORDER BY c.number", since.Number).Scan(&rows).Error
	if err == nil && len(rows) == 0 {
		err = gorm.ErrRecordNotFound
	}
	if err != nil {
		return nil, AccountChange{}, false, unavailable(err)
	}
	last := rows[len(rows)-1]
	if newest = last.Change.told(); newest.Number != last.Newest { // that change is not there
		newest = (&accountChange{Number: last.Newest}).told()
	}
	if newest == since {
		return nil, newest, true, nil
	}
	if newest.Number < since.Number || since.AccountID != "" && rows[0].Change.told() != since {
		return nil, newest, false, nil
	}
	changed := map[string]bool{}
	for _, row := range rows {
		if row.Change.Number > since.Number {
			changed[row.Change.AccountID] = true
		}
	}
	return slices.Collect(maps.Keys(changed)), newest, true, nil
}

// NewAccount is the input of CreateAccount.
type NewAccount struct {
	Email string
	Name  string
	Grant *models.Plan // an operator's grant, or nil
}

// CreateAccount adds an account; CodeConflict if the address is taken (ignoring the case of ASCII letters).
func (s *Store) CreateAccount(ctx context.Context, in NewAccount) (models.Account, error) {
	var a models.Account
	err := s.transaction(ctx, func(tx *gorm.DB) error {
		var err error
		if a, err = s.createAccount(tx, NewAccountID(), in); err != nil {
			return err
		}
		return s.did(tx, models.AuditEntry{AccountID: a.ID, Became: granted(in.Grant)})
	})
	return a, translate(err)
}

// granted describes an operator's grant in one word.
func granted(plan *models.Plan) string {
	if plan == nil {
		return "billing"
	}
	return string(*plan)
}

// NewAccountID returns an id for an account that is about to be made.
func NewAccountID() string { return secret.NewID("acc_") }

func (s *Store) createAccount(tx *gorm.DB, id string, in NewAccount) (models.Account, error) {
	email, key, err := models.ParseEmail(in.Email)
	if err != nil {
		return models.Account{}, err
	}
	if err := models.CheckText("an account's name", in.Name, 0, 200); err != nil {
		return models.Account{}, err
	}
	a := models.Account{
		ID: id, Email: &email, EmailKey: &key, Name: in.Name,
		Status: models.AccountActive, GrantedPlan: in.Grant, CreatedAt: s.now(),
	}
	err = tx.Create(&a).Error
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return a, models.Errorf(models.CodeConflict, "there is already an account for %s", email)
	}
	return a, err
}

// Account returns an account by id or email address; CodeNotFound if there is none, or it was deleted.
func (s *Store) Account(ctx context.Context, ref string) (models.Account, error) {
	a, err := findAccount(s.reader(ctx), ref)
	return a, translate(err)
}

// KeptAccount is Account, but by id it also returns a deleted account, whose requests, payments and keys are kept.
func (s *Store) KeptAccount(ctx context.Context, ref string) (models.Account, error) {
	a, err := findKept(s.reader(ctx), ref)
	return a, translate(err)
}

func findAccount(tx *gorm.DB, ref string) (models.Account, error) {
	a, err := findKept(tx, ref)
	if err == nil && a.DeletedAt != nil {
		return models.Account{}, models.Errorf(models.CodeNotFound, "account %q is closed, since %s", ref, a.DeletedAt.UTC().Format(time.RFC3339))
	}
	return a, err
}

func findKept(tx *gorm.DB, ref string) (models.Account, error) {
	if strings.Contains(ref, "@") {
		return accountBy(tx, "email_key", models.EmailKey(ref), ref)
	}
	return accountBy(tx, "id", ref, ref)
}

// accountBy returns the account with a value in a column; ref is what it was asked for by.
func accountBy(tx *gorm.DB, column, value, ref string) (models.Account, error) {
	var a models.Account
	err := gorm.ErrRecordNotFound
	if storable(value) {
		err = tx.Take(&a, column+" = ?", value).Error
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return a, models.Errorf(models.CodeNotFound, "there is no account %q", ref)
	}
	return a, err
}

// AccountFilter narrows Accounts; zero fields have no effect.
type AccountFilter struct {
	Plan   models.Plan
	Status models.AccountStatus
	Search string // part of the id, address or name, case-insensitive
	// Flagged selects only accounts that an operator should look at.
	Flagged bool
}

// Accounts lists accounts, oldest first. Closed ones are included only if f asks for them or for flagged accounts,
// since they may still be owed money.
func (s *Store) Accounts(ctx context.Context, f AccountFilter) ([]models.Account, error) {
	q := s.reader(ctx)
	if !f.Flagged && f.Status != models.AccountClosed {
		q = q.Where("deleted_at IS NULL")
	}
	if f.Plan != "" {
		q = q.Where("COALESCE(granted_plan, billed_plan, ?) = ?", models.PlanFree, f.Plan)
	}
	if f.Status != "" {
		q = q.Where("status = ?", f.Status)
	}
	if f.Flagged {
		q = q.Where("id IN (SELECT account_id FROM account_flags WHERE cleared_at IS NULL)")
	}
	accounts := []models.Account{}
	if err := q.Order("created_at, id").Find(&accounts).Error; err != nil {
		return nil, unavailable(err)
	}
	if f.Search != "" {
		accounts = slices.DeleteFunc(accounts, func(a models.Account) bool { return !mentions(&a, strings.ToLower(f.Search)) })
	}
	return accounts, nil
}

// mentions reports whether a's id, address or name contains lower, which is in lower case. This is not left to the
// database, since SQLite folds only ASCII letters.
func mentions(a *models.Account, lower string) bool {
	return strings.Contains(strings.ToLower(a.ID), lower) || strings.Contains(strings.ToLower(a.Name), lower) ||
		(a.EmailKey != nil && strings.Contains(strings.ToLower(*a.EmailKey), lower))
}

// GrantPlan gives an account a plan by an operator's grant; nil takes the grant back.
func (s *Store) GrantPlan(ctx context.Context, ref string, plan *models.Plan) (models.Account, error) {
	return s.updateAccount(ctx, ref, func(_ *gorm.DB, a *models.Account, e *models.AuditEntry) (map[string]any, error) {
		e.Was, e.Became = granted(a.GrantedPlan), granted(plan)
		return map[string]any{"granted_plan": plan}, nil
	})
}

// OverrideLimit gives an account its own daily limit; nil restores the plan's.
func (s *Store) OverrideLimit(ctx context.Context, ref string, limit *int) (models.Account, error) {
	if limit != nil && *limit < 0 {
		return models.Account{}, models.Errorf(models.CodeInvalid, "a daily limit cannot be negative")
	}
	return s.updateAccount(ctx, ref, func(_ *gorm.DB, a *models.Account, e *models.AuditEntry) (map[string]any, error) {
		e.Was, e.Became = limitName(a.LimitOverride), limitName(limit)
		return map[string]any{"limit_override": limit}, nil
	})
}

func limitName(limit *int) string {
	if limit == nil {
		return "default"
	}
	return strconv.Itoa(*limit)
}

// SetAccountStatus suspends or resumes an account. A suspension voids links to new addresses.
func (s *Store) SetAccountStatus(ctx context.Context, ref string, status models.AccountStatus) (models.Account, error) {
	return s.updateAccount(ctx, ref, func(tx *gorm.DB, a *models.Account, e *models.AuditEntry) (map[string]any, error) {
		e.Was, e.Became = string(a.Status), string(status)
		if status == models.AccountSuspended {
			if err := s.voidChanges(tx, a.ID); err != nil {
				return nil, err
			}
		}
		return map[string]any{"status": status}, nil
	})
}

// DeleteAccount removes the personal data of an account from all tables and kills its keys. The row stays, so that the
// keys answer "revoked" and the account's past usage still counts; the address becomes free. Whoever signs up with it
// on the same day continues from the requests that the account has used.
func (s *Store) DeleteAccount(ctx context.Context, ref string) (models.Account, error) {
	now := s.now()
	return s.updateAccount(ctx, ref, func(tx *gorm.DB, a *models.Account, e *models.AuditEntry) (map[string]any, error) {
		e.Was, e.Became = string(a.Status), string(models.AccountClosed)
		if err := s.depart(tx, a); err != nil {
			return nil, err
		}
		if err := s.forget(tx, a); err != nil {
			return nil, err
		}
		keys := tx.Model(&models.APIKey{}).Where("account_id = ?", a.ID).
			Updates(map[string]any{"name": "", "revoked_at": gorm.Expr("COALESCE(revoked_at, ?)", now)})
		return map[string]any{
			"email": nil, "email_key": nil, "name": "", "status": models.AccountClosed, "deleted_at": now,
		}, keys.Error
	})
}

// updateAccount changes the columns of an account that change returns, in the transaction that it gives to change, and
// notifies the nodes. If an operator is at work, it adds change's entry to the audit log. Nothing changes an account
// that is closed.
func (s *Store) updateAccount(
	ctx context.Context, ref string, change func(tx *gorm.DB, a *models.Account, e *models.AuditEntry) (columns map[string]any, err error),
) (models.Account, error) {
	var a models.Account
	err := s.transaction(ctx, func(tx *gorm.DB) error {
		var err error
		if a, err = findAccount(s.locking(tx), ref); err != nil {
			return err
		}
		entry := models.AuditEntry{AccountID: a.ID}
		columns, err := change(tx, &a, &entry)
		if err != nil {
			return err
		}
		// After all other locks: whoever takes an address that is being given up waits for it, perhaps with its links locked.
		if err := tx.Model(&models.Account{}).Where("id = ?", a.ID).Updates(columns).Error; err != nil {
			return err
		}
		if err := s.did(tx, entry); err != nil {
			return err
		}
		if err := tx.Take(&a, "id = ?", a.ID).Error; err != nil {
			return err
		}
		return s.changed(tx, a.ID)
	})
	return a, translate(err)
}
