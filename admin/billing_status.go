package admin

import (
	"context"

	"lottery/models"
)

// billingState is what is known about an account's billing.
type billingState struct {
	CustomerID        *string `json:"customer_id"`
	SubscriptionID    *string `json:"subscription_id"`
	Status            *string `json:"status"`
	PriceID           *string `json:"price_id"`
	Quantity          *int64  `json:"quantity"`
	PeriodEnd         *string `json:"current_period_end"`
	CancelAtPeriodEnd bool    `json:"cancel_at_period_end"`
	GraceEndsAt       *string `json:"grace_ends_at"`
	SyncedAt          *string `json:"synced_at"`
	Flags             []flag  `json:"flags"`
}

// flag is a reason for an operator to look at an account.
type flag struct {
	Kind     string `json:"kind"`
	Ref      string `json:"ref"`
	Detail   string `json:"detail"`
	RaisedAt string `json:"raised_at"`
}

func flagOf(f *models.AccountFlag) flag {
	return flag{Kind: string(f.Kind), Ref: f.Ref, Detail: f.Detail, RaisedAt: stamp(f.RaisedAt)}
}

// billingDetails is what `billing status` prints.
type billingDetails struct {
	AccountID  string            `json:"account_id"`
	Email      *string           `json:"email"`
	Plan       models.Plan       `json:"plan"`
	PlanSource models.PlanSource `json:"plan_source"`
	billingState
	History []planChange `json:"history"`
}

// planChange is a plan change from the audit log.
type planChange struct {
	At      string  `json:"at"`
	Actor   string  `json:"actor"`
	Was     string  `json:"was"`
	Became  string  `json:"became"`
	Reason  string  `json:"reason"`
	EventID *string `json:"event_id"`
}

func planChangeOf(e *models.AuditEntry) planChange {
	return planChange{At: stamp(e.At), Actor: e.Actor, Was: e.Was, Became: e.Became, Reason: e.Reason, EventID: textOf(e.EventID)}
}

// billingOf returns what is known about an account's billing; nil if it never went to checkout and nothing is flagged.
func (c *call) billingOf(ctx context.Context, accountID string) (*billingState, error) {
	b, err := c.store.BillingAccount(ctx, accountID)
	if err != nil {
		return nil, err
	}
	raised, err := c.store.Flags(ctx, accountID)
	if err != nil {
		return nil, err
	}
	if b.CustomerID == nil && b.SyncedAt == nil && len(raised) == 0 {
		return nil, nil //nolint:nilnil // most accounts have no billing
	}
	out := &billingState{
		CustomerID: b.CustomerID, SubscriptionID: b.SubscriptionID, Status: b.Status, PriceID: b.PriceID, Quantity: b.Quantity,
		PeriodEnd: stampOf(b.PeriodEnd), CancelAtPeriodEnd: b.CancelAtPeriodEnd, GraceEndsAt: stampOf(b.GraceEndsAt),
		SyncedAt: stampOf(b.SyncedAt), Flags: listOf(raised, flagOf),
	}
	return out, nil
}

const shownChanges = 20

func billingStatus(ctx context.Context, c *call) error {
	a, err := c.store.KeptAccount(ctx, c.account())
	if err != nil {
		return err
	}
	return c.billingResult(ctx, &a)
}

// billingResult prints what is known about a's billing.
func (c *call) billingResult(ctx context.Context, a *models.Account) error {
	plan, source := a.Plan()
	out := billingDetails{AccountID: a.ID, Email: a.Email, Plan: plan, PlanSource: source}
	state, err := c.billingOf(ctx, a.ID)
	if err != nil {
		return err
	}
	if out.Flags = []flag{}; state != nil {
		out.billingState = *state
	}
	entries, err := c.store.AuditOf(ctx, a.ID, shownChanges)
	if err != nil {
		return err
	}
	out.History = listOf(entries, planChangeOf)
	return c.result(out)
}
