package billing

import (
	"context"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

const invoicePaid = "invoice.paid"

// notOurs is the outcome of events of a customer that names no account.
const notOurs = "not the customer of any account here"

// paidElsewhere reads the invoice of an invoice.paid whose customer is no account's own. If Pro was paid after its
// subscription had ended, it returns what to flag: no sync of an account looks at such a customer. If the customer
// names no account, told says how to give its payment to one; otherwise, told is outcome.
func (s *Service) paidElsewhere(ctx context.Context, e *models.StripeEvent, outcome string) (late *moneyBack, told string, err error) {
	if e.ObjectID == "" {
		return nil, outcome, nil
	}
	prices, err := s.prices(ctx)
	if err != nil {
		return nil, "", err
	}
	p := &stripe.InvoiceParams{Params: params(ctx, "")}
	p.AddExpand("subscription")
	inv, err := s.api.Invoices.Get(e.ObjectID, p)
	if missing(err) {
		return nil, outcome, nil
	}
	if err != nil {
		return nil, "", explained("read the invoice", err)
	}
	if inv.Subscription == nil {
		return nil, outcome, nil
	}
	inv.Subscription.LatestInvoice = inv // the one to judge, even if another followed
	sub := read(inv.Subscription, prices)
	if !sub.ours {
		return nil, outcome, nil
	}
	if outcome == notOurs {
		s.log.WarnContext(ctx, "somebody paid for Pro as a customer that names no account, and gets nothing for it: `lotteryadmin billing events` says what to do",
			"event", e.ID, "customer", e.CustomerID, "invoice", inv.ID)
		outcome = fmt.Sprintf("%s paid %s for Pro but names no account, so nobody gets it: in Stripe's dashboard, refund it, or add the metadata %s to the customer, "+
			"with the ID of the account that it is for; then run `lotteryadmin billing events retry %s`", e.CustomerID, money(inv.AmountPaid, inv.Currency), accountKey, e.ID)
	}
	if sub.paidLate == "" {
		return nil, outcome, nil
	}
	late = &moneyBack{kind: models.FlagPaidLate, ref: inv.ID, detail: lateDetail(&sub), customer: e.CustomerID, named: inv.Subscription.Metadata[accountKey]}
	return late, outcome, nil
}

// lateDetail says that a subscription was paid after it had ended.
func lateDetail(sub *subscription) string {
	return fmt.Sprintf("invoice %s was paid after subscription %s had ended: decide in Stripe's dashboard whether to refund it", sub.paidLate, sub.id)
}
