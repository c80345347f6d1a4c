package admin

import (
	"context"
	"strconv"

	"github.com/urfave/cli/v2"

	"lottery/models"
	"lottery/models/store"
)

func (t *tool) mails() *cli.Command {
	return &cli.Command{Name: "mails", Usage: "emails to customers, and those that could not be sent", Subcommands: []*cli.Command{
		{
			Name: "list", Usage: "list emails, newest first, with what went wrong",
			Description: "Emails about payments, expiring keys, changed addresses and daily limits; sign-in links are not among them. One\n" +
				"that cannot be sent is retried for eight hours and then given up: about a changed address or a daily limit it is\n" +
				"forgotten, any other stays in the list (failed).\n\n" +
				"Example:\n  lotteryadmin mails list --failed",
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "failed", Usage: "only those that the servers gave up on"},
				&cli.StringFlag{Name: "account", Usage: "only those to `ACCOUNT`"},
				&cli.StringFlag{Name: "limit", Usage: "at most `N` emails; default 50"},
			},
			Action: t.stored(mailsList),
		},
		{
			Name: "retry", Usage: "send an email that was given up, or all of them", ArgsUsage: "ID|all",
			Description: "For when the mail server works again. A running server sends them; one that is no longer true by now, such as\n" +
				"about a payment that has arrived since, is dropped.\n\n" +
				"Example:\n  lotteryadmin mails retry all",
			Action: t.stored(audited(mailsRetry)),
		},
	}}
}

// queuedMail is an email of the outbox. It does not say to which address it goes.
type queuedMail struct {
	ID        int64   `json:"id"`
	AccountID string  `json:"account_id"`
	Kind      string  `json:"kind"`
	State     string  `json:"state"` // waiting, sent, failed
	Attempts  int     `json:"attempts"`
	LastError *string `json:"last_error"`
	CreatedAt string  `json:"created_at"`
	NextAt    *string `json:"next_at"`
	SentAt    *string `json:"sent_at"`
	FailedAt  *string `json:"failed_at"`
}

func mailOf(m *models.Mail) queuedMail {
	out := queuedMail{
		ID: m.ID, AccountID: m.AccountID, Kind: string(m.Kind), State: "waiting", Attempts: m.Attempts, LastError: textOf(m.LastError),
		CreatedAt: stamp(m.CreatedAt), SentAt: stampOf(m.SentAt), FailedAt: stampOf(m.FailedAt),
	}
	switch {
	case m.SentAt != nil:
		out.State = "sent"
	case m.FailedAt != nil:
		out.State = "failed"
	default:
		out.NextAt = stampOf(&m.NextAt)
	}
	return out
}

const (
	listedMails = 50
	mostMails   = 10_000
)

func mailsList(ctx context.Context, c *call) error {
	limit, err := c.number("limit", listedMails, mostMails)
	if err != nil {
		return err
	}
	filter := store.MailFilter{Dead: c.Bool("failed"), Limit: limit}
	if filter.AccountID, err = c.onlyAccount(ctx); err != nil {
		return err
	}
	found, err := c.store.MailsNewest(ctx, filter)
	if err != nil {
		return err
	}
	return c.result(listOf(found, mailOf))
}

func mailsRetry(ctx context.Context, c *call) error {
	var id int64
	if name := c.arg(0); name != "all" {
		n, err := strconv.ParseInt(name, 10, 64)
		if err != nil || n < 1 {
			return models.Errorf(models.CodeInvalid, "%q is neither the ID of an email nor all; `lotteryadmin mails list --failed` has the IDs", name)
		}
		id = n
	}
	again, err := c.store.RetryMails(ctx, id)
	if err != nil {
		return err
	}
	if id != 0 && len(again) == 0 {
		return models.Errorf(models.CodeNotFound, "no email %d was given up; `lotteryadmin mails list --failed` lists those that were", id)
	}
	c.object = c.arg(0)
	c.unchanged = len(again) == 0
	c.say("%s to be sent by a running server.", models.Count(len(again), "email"))
	return c.result(listOf(again, mailOf))
}
