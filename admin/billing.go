package admin

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/billing"
	"lottery/models"
	"lottery/models/store"
)

func (t *tool) billing() *cli.Command {
	return &cli.Command{Name: "billing", Usage: "Stripe: what is sold, who pays", Subcommands: []*cli.Command{
		{
			Name: "setup", Usage: "create everything in Stripe that selling the Pro plan needs",
			Description: "Creates, or finds, the product, its price, the webhook endpoint for public_url and the portal's\n" +
				"configuration; running it again changes nothing. It prints which settings to put where.\n\n" +
				"Example:\n  lotteryadmin billing setup --config /etc/lottery/lottery.yaml",
			Action: t.billed(audited(billingSetup)),
		},
		{
			Name: "doctor", Usage: "check everything that billing needs, and report what is wrong",
			Description: "Example:\n  lotteryadmin billing doctor --config /etc/lottery/lottery.yaml", Action: t.billed(billingDoctor),
		},
		{
			Name: "checkout", Usage: "print the URL where an account can pay for Pro", ArgsUsage: "ACCOUNT",
			Description: "While the checkout is open, you get the same URL again.\n\nExample:\n  lotteryadmin billing checkout ada@example.com",
			Action:      t.billed(audited(billingCheckout)),
		},
		{
			Name: "portal", Usage: "print the URL of an account's billing portal", ArgsUsage: "ACCOUNT",
			Description: "There the customer can change the card, see invoices and cancel.\n\nExample:\n  lotteryadmin billing portal ada@example.com",
			Action:      t.billed(audited(billingPortal)),
		},
		{
			Name: "sync", Usage: "update accounts' plans to what Stripe says", ArgsUsage: "[ACCOUNT]",
			Description: "Use it when a customer says \"I have paid\". --all slowly goes through every account that ever went to\n" +
				"checkout, and finds customers that only Stripe knows, as after a restore. If the last --all was cut short,\n" +
				"this one starts where it stopped, and does the earlier accounts last.\n\nExample:\n  lotteryadmin billing sync ada@example.com",
			Flags:  []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "every account that has a Stripe customer"}},
			Action: t.billed(audited(billingSync)),
		},
		{
			Name: "status", Usage: "show what is known about an account's billing", ArgsUsage: "ACCOUNT",
			Description: "What Stripe said at the last sync, what needs an operator's attention, and how the plan changed. A closed\n" +
				"account no longer has an address, only its ID.\n\n" +
				"Example:\n  lotteryadmin billing status ada@example.com",
			Action: t.stored(billingStatus),
		},
		{
			Name: "clear-flags", Usage: "mark an account's flags as dealt with", ArgsUsage: "ACCOUNT",
			Description: "Example:\n  lotteryadmin billing clear-flags ada@example.com", Action: t.stored(audited(billingClearFlags)),
		},
		{
			Name: "events", Usage: "list Stripe's events, or retry one: events retry ID", ArgsUsage: "[retry] [ID]",
			Description: "Newest first. Failed events were retried for about an hour; `billing events retry ID` makes a running\n" +
				"server try again.\n\nExample:\n  lotteryadmin billing events --failed\n  lotteryadmin billing events retry evt_1abc",
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "failed", Usage: "only those that the server gave up on"},
				&cli.StringFlag{Name: "account", Usage: "only those for `ACCOUNT`"},
				&cli.StringFlag{Name: "limit", Usage: "at most `N` events; default 50"},
			},
			Action: t.stored(audited(billingEvents)),
		},
	}}
}

// billed is like stored, for what needs Stripe.
func (t *tool) billed(run action) cli.ActionFunc {
	return t.stored(func(ctx context.Context, c *call) error {
		if !c.cfg.Stripe.On() {
			return models.Errorf(models.CodeInvalid, "billing is off: set stripe_secret_key (LOTTERY_STRIPE_SECRET_KEY) to a key from Stripe's dashboard, under Developers, API keys")
		}
		return run(ctx, c)
	})
}

// service returns billing as configured.
func (c *call) service() *billing.Service {
	return billing.New(billing.Options{
		Store: c.store, Stripe: c.cfg.Stripe, PublicURL: c.cfg.PublicURL.String(), Now: c.env.Now, Log: slog.New(slog.DiscardHandler), Retries: 2,
	})
}

// byOperator returns the cause of a change made from the command line.
func byOperator(reason string) billing.Cause { return billing.Cause{Actor: "operator", Reason: reason} }

// setup is what `billing setup` prints.
type setup struct {
	Mode          string   `json:"mode"`
	Product       string   `json:"product"`
	Price         string   `json:"price"`
	Webhook       string   `json:"webhook"`
	Portal        string   `json:"portal"`
	Made          []string `json:"made"` // of the four, those that were missing or wrong
	WebhookSecret *string  `json:"webhook_secret"`
	Todo          []string `json:"todo"`
}

func billingSetup(ctx context.Context, c *call) error {
	s := c.service()
	c.object = s.Mode()
	done, err := s.Setup(ctx)
	if err != nil {
		return err
	}
	out := setup{Mode: s.Mode(), Made: []string{}, Todo: append([]string{}, s.SetupAdvice(&done)...)}
	ids := map[string]*string{"product": &out.Product, "price": &out.Price, "webhook": &out.Webhook, "portal": &out.Portal}
	for _, step := range done.Steps {
		*ids[step.Thing] = step.ID
		if step.Did != "found" {
			out.Made = append(out.Made, step.Thing)
		}
	}
	if done.WebhookSecret != "" {
		out.WebhookSecret = &done.WebhookSecret
		c.say("This is the only time the webhook secret is shown: save it now.")
	}
	return c.result(out)
}

// check is one line of the doctor's result.
type check struct {
	Check  string  `json:"check"`
	OK     bool    `json:"ok"`
	Found  string  `json:"found"`
	Remedy *string `json:"remedy"`
}

func billingDoctor(ctx context.Context, c *call) error {
	var list []check
	wrong := 0
	for _, found := range c.service().Doctor(ctx) {
		line := check{Check: found.Name, OK: found.OK, Found: found.Found}
		if !found.OK {
			wrong++
			line.Remedy = &found.Remedy
		}
		list = append(list, line)
	}
	if err := c.result(list); err != nil {
		return err
	}
	if wrong > 0 {
		return models.Errorf(models.CodeUnavailable, "%d of %d checks failed", wrong, len(list))
	}
	return nil
}

type checkout struct {
	URL       string `json:"url"`
	SessionID string `json:"session_id"`
	ExpiresAt string `json:"expires_at"`
}

func billingCheckout(ctx context.Context, c *call) error {
	a, err := c.store.Account(ctx, c.account())
	if err != nil {
		return err
	}
	c.about = a.ID
	s, err := c.service().Checkout(ctx, a.ID)
	if err != nil {
		return err
	}
	return c.result(checkout{URL: s.URL, SessionID: s.ID, ExpiresAt: stamp(s.ExpiresAt)})
}

type portal struct {
	URL string `json:"url"`
}

func billingPortal(ctx context.Context, c *call) error {
	a, err := c.store.Account(ctx, c.account())
	if err != nil {
		return err
	}
	c.about = a.ID
	url, err := c.service().Portal(ctx, a.ID)
	if err != nil {
		return err
	}
	return c.result(portal{url})
}

// endBilling cancels the subscriptions of an account that is about to be deleted.
func (c *call) endBilling(ctx context.Context, a *models.Account) error {
	b, err := c.store.BillingAccount(ctx, a.ID)
	if err != nil {
		return err
	}
	if !c.cfg.Stripe.On() {
		if !b.GoesOn() && !b.Payable(c.env.Now()) {
			return nil
		}
		return models.Errorf(models.CodeConflict,
			"account %s has a subscription or an open checkout at Stripe, which must end first: set stripe_secret_key; nothing was deleted", a.ID)
	}
	ended, err := c.service().End(ctx, a.ID, byOperator("the account is deleted"))
	for _, id := range ended.Cancelled {
		c.say("Canceled subscription %s.", id)
	}
	if ended.JustPaid {
		c.say("The customer had just paid, and the servers did not know yet: refund the payment in Stripe's dashboard. The account is flagged closed_but_subscription.")
	}
	if ended.UnderWay {
		c.say("A bank may still be processing a payment for it, which cannot be stopped: if it goes through, the account is flagged paid_after_end.")
	}
	switch {
	case err != nil && ended.All && len(ended.Cancelled) > 0:
		return &models.Error{Code: models.CodeUnavailable, Message: "nothing was deleted, but what it paid for is canceled: run this again", Err: err}
	case err != nil:
		return &models.Error{Code: models.CodeUnavailable, Message: "nothing was deleted, because it is not certain that charging has stopped: run this again", Err: err}
	default:
		return nil
	}
}

// closeCheckout keeps an account from paying for what it no longer gets. The change that it follows stands, whether or
// not Stripe answers.
func (c *call) closeCheckout(ctx context.Context, accountID, reason string) error {
	if !c.cfg.Stripe.On() {
		b, err := c.store.BillingAccount(ctx, accountID)
		if err != nil {
			return err
		}
		if b.Payable(c.env.Now()) {
			c.say("Its checkout may still be open, and can be paid until %s. To close it, set stripe_secret_key, which is missing here, and run this again.", stamp(*b.SessionExpiresAt))
		}
		return nil
	}
	if err := c.service().CloseCheckout(ctx, accountID, byOperator(reason)); err != nil {
		return &models.Error{Code: models.CodeUnavailable, Message: "done, but an open checkout of the account can still be paid: run this again", Err: err}
	}
	return nil
}

func billingClearFlags(ctx context.Context, c *call) error {
	a, err := c.store.KeptAccount(ctx, c.account())
	if err != nil {
		return err
	}
	c.about = a.ID
	cleared, err := c.store.ClearFlags(ctx, a.ID)
	if err != nil {
		return err
	}
	c.say("Cleared %s.", models.Count(len(cleared), "flag"))
	for i := range cleared { // one may have been raised after the operator looked
		f := &cleared[i]
		c.say("%s", strings.TrimSuffix(fmt.Sprintf("%s %s, raised %s: %s", f.Kind, f.Ref, stamp(f.RaisedAt), f.Detail), ": "))
	}
	return c.billingResult(ctx, &a)
}

// stripeEvent is one line of `billing events`.
type stripeEvent struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	State      string  `json:"state"`
	AccountID  *string `json:"account_id"`
	CustomerID *string `json:"customer_id"`
	Attempts   int     `json:"attempts"`
	Outcome    string  `json:"outcome"`
	ReceivedAt string  `json:"received_at"`
	NextAt     *string `json:"next_at"`
	DoneAt     *string `json:"done_at"`
}

func eventOf(e *models.StripeEvent) stripeEvent {
	out := stripeEvent{
		ID: e.ID, Type: e.Type, State: string(e.State), AccountID: textOf(e.AccountID), CustomerID: textOf(e.CustomerID), Attempts: e.Attempts, Outcome: e.Outcome,
		ReceivedAt: stamp(e.ReceivedAt), DoneAt: stampOf(e.DoneAt),
	}
	if e.State == models.EventPending {
		out.NextAt = stampOf(&e.NextAt)
	}
	return out
}

const (
	listedEvents = 50
	mostEvents   = 10_000
)

func billingEvents(ctx context.Context, c *call) error {
	if c.Args().Present() {
		if c.arg(0) != "retry" || c.Args().Len() != 2 {
			return models.Errorf(models.CodeInvalid, "use `billing events` to list them, or `billing events retry ID`")
		}
		e, err := c.store.RetryEvent(ctx, c.arg(1))
		if err != nil {
			return err
		}
		c.about, c.object = e.AccountID, e.ID
		c.say("A running server will process it now.")
		return c.result(eventOf(&e))
	}
	c.unchanged = true
	limit, err := c.number("limit", listedEvents, mostEvents)
	if err != nil {
		return err
	}
	filter := store.EventFilter{Limit: limit}
	if c.Bool("failed") {
		filter.State = models.EventFailed
	}
	if filter.AccountID, err = c.onlyAccount(ctx); err != nil {
		return err
	}
	found, err := c.store.Events(ctx, filter)
	if err != nil {
		return err
	}
	return c.result(listOf(found, eventOf))
}
