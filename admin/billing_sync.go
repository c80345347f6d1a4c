package admin

import (
	"cmp"
	"context"

	"lottery/billing"
	"lottery/models"
)

// reconciled is what `billing sync --all` prints.
type reconciled struct {
	Accounts       int      `json:"accounts"`
	Failed         int      `json:"failed"`
	FailedAccounts []string `json:"failed_accounts"`
	Repaired       []drift  `json:"repaired"`
	Strays         []stray  `json:"strays"`
}

// stray is a customer at Stripe that pays for an account which is not here.
type stray struct {
	CustomerID     string `json:"customer_id"`
	Email          string `json:"email"`
	AccountID      string `json:"account_id"`
	SubscriptionID string `json:"subscription_id"`
	Status         string `json:"status"`
}

type drift struct {
	AccountID string `json:"account_id"`
	Was       string `json:"was"`
	Became    string `json:"became"`
}

func billingSync(ctx context.Context, c *call) error {
	switch {
	case c.Bool("all") && c.Args().Present():
		return models.Errorf(models.CodeInvalid, "give an account or --all, not both")
	case c.Bool("all"):
		return c.reconcile(ctx)
	case !c.Args().Present():
		return models.Errorf(models.CodeInvalid, "billing sync needs an ACCOUNT, or --all")
	}
	a, err := c.store.KeptAccount(ctx, c.account())
	if err != nil {
		return err
	}
	c.about = a.ID
	now, err := c.service().Sync(ctx, a.ID, byOperator("billing sync"))
	if err != nil {
		return err
	}
	if !now.Changed {
		c.say("Nothing changed.")
	}
	return c.billingResult(ctx, &now.Account)
}

func (c *call) reconcile(ctx context.Context) error {
	c.object = "all accounts"
	done, err := c.service().SyncAll(ctx, func(id string, now billing.Standing, err error) {
		if err != nil {
			c.say("%s: %s", id, explain(ctx, err))
		} else if now.Changed {
			plan, _ := now.Account.Plan()
			c.say("%s: was %s, is %s", id, now.Was, plan)
		}
	})
	if err != nil {
		return err
	}
	out := reconciled{Accounts: done.Accounts, Failed: len(done.Failed), FailedAccounts: append([]string{}, done.Failed...), Repaired: []drift{}, Strays: []stray{}}
	for _, d := range done.Drifts {
		out.Repaired = append(out.Repaired, drift(d))
	}
	if done.After != "" {
		c.say("It started after %s, where the previous run was cut short, and then did the earlier accounts as well.", done.After)
	}
	for _, s := range done.Strays {
		out.Strays = append(out.Strays, stray(s))
		c.say("Stripe customer %s (%s) has subscription %s (%s) and names account %s, which is not here.",
			s.CustomerID, cmp.Or(s.Email, "no address"), s.SubscriptionID, s.Status, s.AccountID)
	}
	if len(done.Strays) > 0 {
		c.say("Such an account may have been created after the backup that was restored, or be another installation's. If its owner has signed up again and not paid again, " +
			"give the customer the new account's ID as metadata lottery_account in Stripe's dashboard, and run this again; otherwise, cancel the subscription there and refund what was paid for nothing.")
	}
	if out.Failed > 0 {
		err = models.Errorf(models.CodeUnavailable, "%d of %d accounts could not be checked; run it again", out.Failed, out.Accounts)
	}
	return c.finish(out, err)
}
