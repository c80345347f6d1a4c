package admin

import (
	"context"

	"github.com/urfave/cli/v2"

	"lottery/models"
	"lottery/models/store"
)

func (t *tool) audit() *cli.Command {
	return &cli.Command{Name: "audit", Usage: "who changed what", Subcommands: []*cli.Command{
		{
			Name: "list", Usage: "list what operators did and how plans changed, newest first",
			Description: "Every command that changes something leaves an entry, even if it fails. Plan changes by Stripe and address\n" +
				"changes by customers are in the same list. It never contains customers' keys, addresses or names.\n\n" +
				"Example:\n  lotteryadmin audit list --account ada@example.com --since 2026-01-01",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "account", Usage: "only those about `ACCOUNT`; for a deleted one, its ID"},
				&cli.StringFlag{Name: "since", Usage: "starting on this `DATE`, in UTC"},
				&cli.StringFlag{Name: "limit", Usage: "at most `N` entries; default 50"},
			},
			Action: t.stored(auditList),
		},
	}}
}

// auditEntry is one entry of the audit log.
type auditEntry struct {
	At        string  `json:"at"`
	Who       string  `json:"who"` // an operator, or stripe, reconcile, customer
	Action    string  `json:"action"`
	AccountID *string `json:"account_id"`
	Object    *string `json:"object"`
	Was       *string `json:"was"`
	Became    *string `json:"became"`
	Result    string  `json:"result"`
	Reason    *string `json:"reason"`
	From      *string `json:"from"`
}

func auditEntryOf(e *models.AuditEntry) auditEntry {
	out := auditEntry{
		At: stamp(e.At), Who: e.Who, Action: e.Action, AccountID: textOf(e.AccountID), Object: textOf(e.Object), Was: textOf(e.Was),
		Became: textOf(e.Became), Result: e.Result, Reason: textOf(e.Reason), From: textOf(e.Origin),
	}
	if out.Who == "" {
		out.Who = e.Actor
	}
	if out.Object == nil {
		out.Object = textOf(e.EventID)
	}
	if out.Result == "" {
		out.Result = "done"
	}
	return out
}

const (
	listedEntries = 50
	mostEntries   = 100_000
)

func auditList(ctx context.Context, c *call) error {
	limit, err := c.number("limit", listedEntries, mostEntries)
	if err != nil {
		return err
	}
	since, err := c.date("since")
	if err != nil {
		return err
	}
	filter := store.AuditFilter{Limit: limit}
	if since != nil {
		filter.Since = since.Time()
	}
	if filter.AccountID, err = c.onlyAccount(ctx); err != nil {
		return err
	}
	found, err := c.store.Audit(ctx, filter)
	if err != nil {
		return err
	}
	return c.result(listOf(found, auditEntryOf))
}
