package billing

import (
	"context"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// moneyBack is money that goes back, or may: a refund or a dispute. It changes no plan; an operator should look.
type moneyBack struct {
	kind     models.FlagKind
	ref      string
	detail   string
	customer string
}

// moneyBack reads what an event about a charge is about; nil if it is about none, or Stripe has it no more.
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
	c, err := s.api.Charges.Get(chargeID, &stripe.ChargeParams{Params: params(ctx, "")})
	if err != nil {
		return nil, err
	}
	how := "part of"
	if c.Refunded {
		how = "all of"
	}
	return &moneyBack{
		kind: models.FlagRefund, ref: fmt.Sprintf("%s:%d", c.ID, c.AmountRefunded), customer: customerOf(c),
		detail: fmt.Sprintf("%s of %s were refunded, %s payment %s; the plan follows the subscription: cancel that too if it should end",
			money(c.AmountRefunded, c.Currency), money(c.Amount, c.Currency), how, c.ID),
	}, nil
}

func (s *Service) dispute(ctx context.Context, disputeID string) (*moneyBack, error) {
	p := &stripe.DisputeParams{Params: params(ctx, "")}
	p.AddExpand("charge")
	d, err := s.api.Disputes.Get(disputeID, p)
	if err != nil {
		return nil, err
	}
	out := &moneyBack{
		kind: models.FlagDispute, ref: d.ID + ":" + string(d.Status),
		detail: fmt.Sprintf("dispute %s over %s is %s (%s); answer it in Stripe's dashboard; the plan is unchanged",
			d.ID, money(d.Amount, d.Currency), d.Status, d.Reason),
	}
	if d.Charge != nil {
		out.customer = customerOf(d.Charge)
	}
	return out, nil
}

func customerOf(c *stripe.Charge) string {
	if c.Customer == nil {
		return ""
	}
	return c.Customer.ID
}

// money is an amount in the currency's smallest unit, for a person.
func money(cents int64, currency stripe.Currency) string {
	return models.MoneyText(cents, string(currency))
}
