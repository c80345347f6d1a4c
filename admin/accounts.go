package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/billing"
	"lottery/models"
	"lottery/models/store"
	"lottery/web/mail"
)

func (t *tool) accounts() *cli.Command {
	return &cli.Command{Name: "accounts", Usage: "customers, their plans and limits", Subcommands: []*cli.Command{
		{
			Name: "create", Usage: "create an account",
			Description: "Without --plan, the account is on the plan that billing says, at first free. --plan is a grant: it\n" +
				"stands, whatever billing says, until `accounts set-plan ACCOUNT billing` takes it back.\n\n" +
				"Example:\n  lotteryadmin accounts create --email ada@example.com --plan pro --name \"Ada Lovelace\"",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "email", Required: true, Usage: "the account's `EMAIL` address; no other account may have it"},
				&cli.StringFlag{Name: "plan", Usage: "grant the plan `free|pro`"},
				&cli.StringFlag{Name: "name", Usage: "the customer's `NAME`"},
			},
			Action: t.stored(audited(accountsCreate)),
		},
		{
			Name: "list", Usage: "list accounts, oldest first",
			Description: "Example:\n  lotteryadmin accounts list --plan pro --search example.com\n  lotteryadmin accounts list -o csv > accounts.csv",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "plan", Usage: "only those on the plan `free|pro`"},
				&cli.StringFlag{Name: "status", Usage: "only those that are `active|suspended|closed`"},
				&cli.StringFlag{Name: "search", Usage: "only those with `TEXT` in their ID, address or name"},
				&cli.BoolFlag{Name: "flagged", Usage: "only those that need an operator's attention, including closed ones; see billing status ACCOUNT"},
			},
			Action: t.stored(accountsList),
		},
		{
			Name: "show", Usage: "show an account, its keys and its usage today", ArgsUsage: "ACCOUNT",
			Description: "ACCOUNT is an ID or an email address. A closed account no longer has an address, only its ID.\n\n" +
				"Example:\n  lotteryadmin accounts show ada@example.com",
			Action: t.stored(accountsShow),
		},
		t.accountsSet(),
		{
			Name: "set-plan", Usage: "grant a plan, or take the grant back", ArgsUsage: "ACCOUNT free|pro|billing",
			Description: "free and pro are grants: they stand, whatever billing says. billing takes the grant back.\n" +
				"It takes effect within 2 seconds, for today as well. A grant closes an open checkout, but does not end a\n" +
				"subscription.\n\n" +
				"Example:\n  lotteryadmin accounts set-plan ada@example.com pro",
			Action: t.stored(audited(accountsSetPlan)),
		},
		{
			Name: "set-limit", Usage: "give an account its own daily limit", ArgsUsage: "ACCOUNT N|default",
			Description: "N is the number of counted requests per UTC day; default restores the plan's limit.\n\n" +
				"Example:\n  lotteryadmin accounts set-limit ada@example.com 25000",
			Action: t.stored(audited(accountsSetLimit)),
		},
		{
			Name: "suspend", Usage: "stop serving an account's keys", ArgsUsage: "ACCOUNT", Flags: yesFlag(),
			Description: "Within 2 seconds, its requests get a 403, until `accounts resume`. An open checkout is closed; a\n" +
				"subscription keeps charging: the account is flagged, and you decide what to do.\n\n" +
				"Example:\n  lotteryadmin accounts suspend ada@example.com --yes",
			Action: t.stored(audited(accountsSuspend)),
		},
		{
			Name: "resume", Usage: "serve a suspended account again", ArgsUsage: "ACCOUNT",
			Description: "Example:\n  lotteryadmin accounts resume ada@example.com",
			Action:      t.stored(audited(accountsResume)),
		},
		{
			Name: "export", Usage: "print everything stored about an account, as JSON", ArgsUsage: "ACCOUNT",
			Description: "For a customer who asks what you know about them (GDPR, articles 15 and 20). It is JSON even without\n" +
				"--output. Keys, sessions and links are listed without the secrets that make them work.\n\n" +
				"Example:\n  lotteryadmin accounts export ada@example.com > ada.json",
			Action: t.stored(audited(accountsExport)),
		},
		{
			Name: "delete", Usage: "permanently delete an account", ArgsUsage: "ACCOUNT", Flags: yesFlag(),
			Description: "Its subscription is canceled at Stripe, its personal data is deleted, its keys stop working, and its address\n" +
				"can be used for a new account. This cannot be undone: to keep a copy, run `accounts export` first.\n\nExample:\n  lotteryadmin accounts delete ada@example.com --yes",
			Action: t.stored(audited(accountsDelete)),
		},
	}}
}

// yesFlag returns the flag of commands that ask for confirmation.
func yesFlag() []cli.Flag {
	return []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not ask"}}
}

// account is an account as commands print it.
type account struct {
	ID         string            `json:"id"`
	Email      *string           `json:"email"`
	Name       *string           `json:"name"`
	Plan       models.Plan       `json:"plan"`
	PlanSource models.PlanSource `json:"plan_source"`
	Status     string            `json:"status"`
	DailyLimit int               `json:"daily_limit"`
	CreatedAt  string            `json:"created_at"`
}

func (c *call) accountOf(a *models.Account) account {
	plan, source := a.Plan()
	return account{
		ID: a.ID, Email: a.Email, Name: textOf(a.Name), Plan: plan, PlanSource: source, Status: string(a.Status),
		DailyLimit: a.DailyLimit(c.cfg.Plans), CreatedAt: stamp(a.CreatedAt),
	}
}

// accountDetails is what `accounts show` prints.
type accountDetails struct {
	account
	Keys       []key         `json:"keys"`
	UsageToday *spending     `json:"usage_today"` // null if the counters do not answer
	Billing    *billingState `json:"billing"`     // null if the account never went to checkout and nothing is flagged
}

// accountResult prints the account that a store method returned, unless it failed.
func (c *call) accountResult(a models.Account, err error) error {
	if err != nil {
		return err
	}
	return c.result(c.accountOf(&a))
}

// account returns the argument that names an account: an ID, or an email address as it is stored.
func (c *call) account() string { return asStored(c.arg(0)) }

// asStored returns an email address as customers' are stored: however its domain is written, it is the same account.
// IDs stay as they are.
func asStored(ref string) string { return mail.Readable(strings.TrimSpace(ref)) }

func accountsCreate(ctx context.Context, c *call) error {
	plan, err := c.plan()
	if err != nil {
		return err
	}
	return c.accountResult(c.store.CreateAccount(ctx, store.NewAccount{Email: asStored(c.String("email")), Name: strings.TrimSpace(c.String("name")), Grant: plan}))
}

func accountsList(ctx context.Context, c *call) error {
	filter := store.AccountFilter{Search: c.String("search"), Flagged: c.Bool("flagged")}
	plan, err := c.plan()
	if err != nil {
		return err
	}
	if plan != nil {
		filter.Plan = *plan
	}
	if c.IsSet("status") {
		status, err := oneOf("--status", c.String("status"),
			string(models.AccountActive), string(models.AccountSuspended), string(models.AccountClosed))
		if err != nil {
			return err
		}
		filter.Status = models.AccountStatus(status)
	}
	found, err := c.store.Accounts(ctx, filter)
	if err != nil {
		return err
	}
	return c.result(listOf(found, c.accountOf))
}

func accountsShow(ctx context.Context, c *call) error {
	a, err := c.store.KeptAccount(ctx, c.account())
	if err != nil {
		return err
	}
	keys, err := c.store.Keys(ctx, a.ID)
	if err != nil {
		return err
	}
	details := accountDetails{account: c.accountOf(&a), Keys: listOf(keys, c.keyOf)}
	today, _, err := c.spendingOf(ctx, &a)
	if err == nil {
		details.UsageToday = &today
	} else {
		c.say("Cannot read what the account used today: %s.", explain(ctx, err))
	}
	if details.Billing, err = c.billingOf(ctx, a.ID); err != nil {
		return err
	}
	return c.result(details)
}

func accountsSetPlan(ctx context.Context, c *call) error {
	word, err := oneOf("the plan", c.arg(1), string(models.PlanFree), string(models.PlanPro), "billing")
	if err != nil {
		return err
	}
	var grant *models.Plan
	if word != "billing" {
		grant = new(models.Plan(word))
	}
	a, err := c.store.GrantPlan(ctx, c.account(), grant)
	if err != nil {
		return err
	}
	c.about = a.ID
	var open error
	if grant != nil { // from now on, paying would change nothing
		open = c.closeCheckout(ctx, a.ID, "accounts set-plan")
		b, err := c.store.BillingAccount(ctx, a.ID)
		if err != nil {
			return err
		}
		if b.GoesOn() && !b.CancelAtPeriodEnd {
			c.say("Its subscription keeps charging despite the grant: if it should not, cancel it in Stripe's dashboard.")
		}
	}
	if a.LimitOverride != nil {
		c.say("It keeps its own daily limit, %d: `lotteryadmin accounts set-limit %s default` gives it that of its plan.", *a.LimitOverride, a.ID)
	}
	c.saySuspended(&a)
	return c.finish(c.accountOf(&a), open)
}

func accountsSetLimit(ctx context.Context, c *call) error {
	var limit *int
	if text := c.arg(1); text != "default" {
		n, err := wholeNumber("the limit (or default)", text, 0, models.MostRequestsPerDay)
		if err != nil {
			return err
		}
		limit = &n
	}
	a, err := c.store.OverrideLimit(ctx, c.account(), limit)
	if err == nil {
		c.saySuspended(&a)
	}
	return c.accountResult(a, err)
}

// saySuspended reports that what an account was just given is of no use to it yet.
func (c *call) saySuspended(a *models.Account) {
	if a.Status == models.AccountSuspended {
		c.say("Account %s is suspended: its requests get a 403 until `lotteryadmin accounts resume`.", a.ID)
	}
}

func accountsSuspend(ctx context.Context, c *call) error {
	id, err := c.confirmAccount(ctx, "Suspend %s? Its keys are refused until you resume it.")
	if err != nil {
		return err
	}
	a, err := c.store.SetAccountStatus(ctx, id, models.AccountSuspended)
	if err != nil {
		return err
	}
	c.about = a.ID
	open := c.closeCheckout(ctx, a.ID, "accounts suspend")
	flagged, err := billing.FlagSuspended(ctx, c.store, a.ID)
	if err != nil {
		return err
	}
	if flagged {
		c.say("Its subscription is still running: cancel it in Stripe's dashboard, or resume the account. The account is flagged.")
	}
	if a, err = c.store.Account(ctx, a.ID); err != nil { // the sync may have changed its plan
		return err
	}
	return c.finish(c.accountOf(&a), open)
}

func accountsResume(ctx context.Context, c *call) error {
	return c.accountResult(c.store.SetAccountStatus(ctx, c.account(), models.AccountActive))
}

func accountsDelete(ctx context.Context, c *call) error {
	id, err := c.confirmAccount(ctx, "Delete %s? This permanently deletes its personal data and its keys.")
	if err != nil {
		return err
	}
	a, err := c.store.Account(ctx, id)
	if err != nil {
		return err
	}
	c.about = a.ID
	if err := c.endBilling(ctx, &a); err != nil {
		return err
	}
	return c.accountResult(c.store.DeleteAccount(ctx, a.ID))
}

// confirmAccount asks a question about the account that the argument names, and returns its id to use from then on: by
// the time of the answer, the address may belong to another account.
func (c *call) confirmAccount(ctx context.Context, question string) (id string, err error) {
	id = c.account()
	err = c.confirm(func() (string, error) {
		a, err := c.store.Account(ctx, id)
		if err != nil {
			return "", err
		}
		id = a.ID
		return fmt.Sprintf(question, fmt.Sprintf("account %s (%s)", a.ID, *a.Email)), nil
	})
	return id, err
}
