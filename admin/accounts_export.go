package admin

import (
	"context"
	"encoding/json"
	"fmt"

	"lottery/models"
	"lottery/models/store"
)

// record is everything stored about an account: what `accounts export` prints. It has no key, session or link in usable
// form; those are not stored here either.
type record struct {
	ExportedAt string            `json:"exported_at"`
	Account    recordAccount     `json:"account"`
	Keys       []key             `json:"keys"`
	Usage      []recordUsage     `json:"usage"`
	Warnings   []recordWarning   `json:"usage_warnings"`
	Billing    *recordBilling    `json:"billing"`
	Changes    []recordChange    `json:"changes"`
	Flags      []recordFlag      `json:"flags"`
	Events     []stripeEvent     `json:"stripe_events"`
	Mails      []recordMail      `json:"mails"`
	Sessions   []recordSession   `json:"sessions"`
	Links      []recordLink      `json:"sign_in_links"`
	Elsewhere  map[string]string `json:"held_elsewhere"`
}

type recordAccount struct {
	account
	GrantedPlan   *models.Plan `json:"granted_plan"`
	BilledPlan    *models.Plan `json:"billed_plan"`
	LimitOverride *int         `json:"limit_override"`
}

type recordUsage struct {
	Date     string `json:"date"`
	Endpoint string `json:"endpoint"`
	Status   string `json:"status"` // 2xx
	Requests int64  `json:"requests"`
}

type recordWarning struct {
	Date    string `json:"date"`
	Percent int    `json:"percent"`
	Limit   *int64 `json:"daily_limit"` // null = recorded by a release that did not say
	At      string `json:"at"`
}

type recordBilling struct {
	CustomerID        *string `json:"customer_id"`
	SubscriptionID    *string `json:"subscription_id"`
	Status            *string `json:"status"`
	PriceID           *string `json:"price_id"`
	Quantity          *int64  `json:"quantity"`
	PeriodEnd         *string `json:"period_end"`
	CancelAtPeriodEnd bool    `json:"cancel_at_period_end"`
	PastDueSince      *string `json:"past_due_since"`
	GraceEndsAt       *string `json:"grace_ends_at"`
	CheckoutID        *string `json:"checkout_id"`
	CheckoutURL       *string `json:"checkout_url"`
	CheckoutExpiresAt *string `json:"checkout_expires_at"`
	SyncedAt          *string `json:"synced_at"`
}

// recordChange tells what was done, but not which operator did it: that is the operator's personal data.
type recordChange struct {
	At      string  `json:"at"`
	By      string  `json:"by"`
	Action  string  `json:"action"`
	Object  *string `json:"object"`
	Was     *string `json:"was"`
	Became  *string `json:"became"`
	Reason  *string `json:"reason"`
	EventID *string `json:"event_id"`
}

type recordFlag struct {
	flag
	ClearedAt *string `json:"cleared_at"`
}

type recordMail struct {
	Kind      string          `json:"kind"`
	Data      json.RawMessage `json:"data"`
	CreatedAt string          `json:"created_at"`
	Attempts  int             `json:"attempts"`
	SentAt    *string         `json:"sent_at"`
	FailedAt  *string         `json:"failed_at"`
	LastError *string         `json:"last_error"`
}

type recordSession struct {
	ID         string `json:"id"`
	CreatedAt  string `json:"created_at"`
	LastSeenAt string `json:"last_seen_at"`
}

type recordLink struct {
	Purpose   string  `json:"purpose"`
	Email     string  `json:"email"`
	CreatedAt string  `json:"created_at"`
	ExpiresAt string  `json:"expires_at"`
	SpentAt   *string `json:"spent_at"`
}

func accountsExport(ctx context.Context, c *call) error {
	if c.IsSet("output") && c.form != formJSON {
		return models.Errorf(models.CodeInvalid, "--output %s: the export is always JSON; leave --output out", c.form)
	}
	r, err := c.store.Record(ctx, c.account())
	if err != nil {
		return err
	}
	c.about = r.Account.ID
	if err := writeJSON(c.env.Stdout, c.recordOf(&r)); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

func (c *call) recordOf(r *store.Record) record {
	a := &r.Account
	out := record{
		ExportedAt: stamp(c.env.Now()),
		Account:    recordAccount{c.accountOf(a), a.GrantedPlan, a.BilledPlan, a.LimitOverride},
		Keys:       listOf(r.Keys, c.keyOf),
		Usage:      listOf(r.Usage, usageRecord), Warnings: listOf(r.Warnings, warningRecord), Changes: listOf(r.Changes, changeRecord),
		Flags: listOf(r.Flags, flagRecord), Events: listOf(r.Events, eventOf), Mails: listOf(r.Mails, mailRecord),
		Sessions: listOf(r.Sessions, sessionRecord), Links: listOf(r.Links, linkRecord),
		Elsewhere: map[string]string{
			"counters": "how many requests were granted today; in Redis if it does the counting",
			"logs":     "the servers' logs, with the ID of the account and the first 12 characters of its keys, as long as the operator keeps them",
			"backups":  "as long as the operator keeps them",
		},
	}
	if b := &r.Billing; b.CustomerID != nil || b.Attempt > 0 || b.SyncedAt != nil {
		out.Billing = &recordBilling{
			CustomerID: b.CustomerID, SubscriptionID: b.SubscriptionID, Status: b.Status, PriceID: b.PriceID, PeriodEnd: stampOf(b.PeriodEnd),
			Quantity: b.Quantity, CancelAtPeriodEnd: b.CancelAtPeriodEnd, PastDueSince: stampOf(b.PastDueSince), GraceEndsAt: stampOf(b.GraceEndsAt),
			CheckoutID: b.SessionID, CheckoutURL: b.SessionURL, CheckoutExpiresAt: stampOf(b.SessionExpiresAt), SyncedAt: stampOf(b.SyncedAt),
		}
		out.Elsewhere["stripe"] = "the customer, with address, cards and invoices; export them from Stripe's dashboard"
	}
	return out
}

func usageRecord(u *models.UsageDay) recordUsage {
	return recordUsage{u.Day.String(), u.Endpoint, fmt.Sprintf("%dxx", u.Class), u.Requests}
}

func warningRecord(w *store.UsageWarning) recordWarning {
	out := recordWarning{Date: w.Day.String(), Percent: w.Percent, At: stamp(w.WarnedAt)}
	if w.DailyLimit > 0 {
		out.Limit = &w.DailyLimit
	}
	return out
}

func changeRecord(e *models.AuditEntry) recordChange {
	return recordChange{
		At: stamp(e.At), By: e.Actor, Action: e.Action, Object: textOf(e.Object), Was: textOf(e.Was), Became: textOf(e.Became),
		Reason: textOf(e.Reason), EventID: textOf(e.EventID),
	}
}

func flagRecord(f *models.AccountFlag) recordFlag {
	return recordFlag{flagOf(f), stampOf(f.ClearedAt)}
}

func mailRecord(m *models.Mail) recordMail {
	out := recordMail{
		Kind: string(m.Kind), Data: json.RawMessage(m.Data), CreatedAt: stamp(m.CreatedAt), Attempts: m.Attempts, SentAt: stampOf(m.SentAt),
		FailedAt: stampOf(m.FailedAt), LastError: textOf(m.LastError),
	}
	if !json.Valid(out.Data) {
		out.Data = json.RawMessage("null")
	}
	return out
}

func sessionRecord(s *models.Session) recordSession {
	return recordSession{s.ID, stamp(s.CreatedAt), stamp(s.LastSeenAt)}
}

func linkRecord(l *models.Link) recordLink {
	return recordLink{string(l.Purpose), l.Email, stamp(l.CreatedAt), stamp(l.ExpiresAt), stampOf(l.SpentAt)}
}
