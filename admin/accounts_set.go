package admin

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/models"
	"lottery/models/store"
)

func (t *tool) accountsSet() *cli.Command {
	return &cli.Command{
		Name: "set", Usage: "correct an account's address or name", ArgsUsage: "ACCOUNT",
		Description: "What is left out stays as it is. With another address, whoever is signed in is signed out, and only mail to\n" +
			"the new address lets anybody in again: make sure that it is the customer's. Nobody is sent a mail about it.\n" +
			"Keys keep working, and Stripe is told within the hour.\n\n" +
			"Example:\n  lotteryadmin accounts set ada@exmaple.com --email ada@example.com",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "email", Usage: "the account's `EMAIL` address; no other account may have it"},
			&cli.StringFlag{Name: "name", Usage: "the customer's `NAME`; \"\" removes it"},
		},
		Action: t.stored(audited(accountsSet)),
	}
}

func accountsSet(ctx context.Context, c *call) error {
	var in store.AccountCorrection
	if c.IsSet("email") {
		in.Email = new(asStored(c.String("email")))
	}
	if c.IsSet("name") {
		in.Name = new(strings.TrimSpace(c.String("name")))
	}
	if in == (store.AccountCorrection{}) {
		return models.Errorf(models.CodeInvalid, "accounts set needs what to correct: --email or --name")
	}
	return c.accountResult(c.store.CorrectAccount(ctx, c.account(), in))
}
