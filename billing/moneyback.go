package billing

import (
	"context"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// moneyBack is a refund, a dispute, or a payment after the end. It changes no plan; an operator should look at it.
type moneyBack struct {
	kind     models.FlagKind
	ref      string
	detail   string
	customer string
	named    string // the account that the subscription was sold to, according to its invoice; "" = it names none
	foreign  bool   // it was paid for something else than Pro
}

// moneyBack reads the charge or dispute that an event is about; nil if it is about neither, or Stripe no longer has it.
func (s *Service) moneyBack(ctx context.Context, e *models.StripeEvent) (*moneyBack, error) {
	var out *moneyBack
	var err error
	switch {
	case strings.HasPrefix(e.Type, "charge.dispute."):
		out, err = s.dispute(ctx, e.ObjectID)
	case e.Type == "charge.refunded":
		out, err = s.refund(ctx, e.ObjectID)
	default:
		return nil, nil //nolint:nilnil // most events are about no charge
	}
	if missing(err) {
		return nil, nil //nolint:nilnil // recorded, skipped
	}
	return out, explained("read the charge", err)
}

func (s *Service) refund(ctx context.Context, chargeID string) (*moneyBack, error) {
	p := &stripe.ChargeParams{Params: params(ctx, "")}
	p.AddExpand("invoice.subscription")
	c, err := s.api.Charges.Get(chargeID, p)
	if err != nil {
		return nil, err
	}
	out, sub, err := s.paidWith(ctx, c)
	if err != nil {
		return nil, err
	}
	left := "the plan follows the subscription: cancel that too if it should end"
	if sub != nil && sub.over() {
		left = "its subscription " + sub.id + " has ended, so nothing is left to cancel"
	}
	how := "part of"
	if c.Refunded {
		how = "all of"
	}
	out.kind, out.ref = models.FlagRefund, fmt.Sprintf("%s:%d", c.ID, c.AmountRefunded)
	out.detail = fmt.Sprintf("%s of %s were refunded, %s payment %s; %s",
		money(c.AmountRefunded, c.Currency), money(c.Amount, c.Currency), how, c.ID, left)
	return &out, nil
}

func (s *Service) dispute(ctx context.Context, disputeID string) (*moneyBack, error) {
	p := &stripe.DisputeParams{Params: params(ctx, "")}
	p.AddExpand("charge.invoice.subscription")
	d, err := s.api.Disputes.Get(disputeID, p)
	if err != nil {
		return nil, err
	}
	var out moneyBack
	if d.Charge != nil {
		if out, _, err = s.paidWith(ctx, d.Charge); err != nil {
			return nil, err
		}
	}
	out.kind, out.ref = models.FlagDispute, d.ID+":"+string(d.Status)
	out.detail = fmt.Sprintf("dispute %s over %s is %s (%s); respond to it in Stripe's dashboard; the plan is unchanged",
		d.ID, money(d.Amount, d.Currency), d.Status, d.Reason)
	return &out, nil
}

// paidWith says who paid a charge and for what: the subscription is nil if it was for none. Pro is always paid by an
// invoice. One that was made by hand, for no subscription, may be for Pro as well as for anything else.
func (s *Service) paidWith(ctx context.Context, c *stripe.Charge) (out moneyBack, sub *subscription, err error) {
	out = moneyBack{customer: customerOf(c), named: namedBy(c), foreign: c.Invoice == nil}
	if c.Invoice == nil || c.Invoice.Subscription == nil {
		return out, nil, nil
	}
	prices, err := s.prices(ctx)
	if err != nil {
		return out, nil, err
	}
	bought := read(c.Invoice.Subscription, prices)
	out.foreign = out.named == "" && !bought.ours
	return out, &bought, nil
}

func customerOf(c *stripe.Charge) string {
	if c.Customer == nil {
		return ""
	}
	return c.Customer.ID
}

func namedBy(c *stripe.Charge) string {
	if c.Invoice == nil || c.Invoice.SubscriptionDetails == nil {
		return ""
	}
	return c.Invoice.SubscriptionDetails.Metadata[accountKey]
}

// paidFor finds the account of a refunded or disputed payment whose customer no longer names one. The customer may have
// been deleted at Stripe, as people may ask the operator to do, while a bank can take the money back for months. The
// invoice names the account that the subscription was sold to; if it was made by hand, the customer's earlier events
// do.
func (s *Service) paidFor(ctx context.Context, m *moneyBack, unknown payer) (payer, error) {
	accountID := m.named
	var err error
	if accountID == "" {
		accountID, err = s.store.AccountOfEvents(ctx, m.customer)
	} else {
		_, err = s.store.BilledAccount(ctx, accountID)
	}
	switch {
	case models.ErrorCode(err) == models.CodeNotFound:
		return unknown, nil
	case err != nil:
		return payer{}, err
	default:
		return payer{accountID: accountID, outcome: "paid for account " + accountID + " by an earlier customer; flagged"}, nil
	}
}

// money formats an amount in the currency's smallest unit for people.
func money(cents int64, currency stripe.Currency) string {
	return models.MoneyText(cents, string(currency))
}
