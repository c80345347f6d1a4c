package billing

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
)

// Session is an open checkout.
type Session struct {
	URL       string
	ID        string // cs_…
	ExpiresAt time.Time
}

// sessionLeft is how much longer an open session must live to be offered again.
const sessionLeft = 10 * time.Minute

// proSessions returns the customer's checkouts that sell Pro, at today's price or another, the newest first. Whatever else
// the operator sells to the same customer is none of ours.
func (s *Service) proSessions(ctx context.Context, b *models.BillingAccount) ([]*stripe.CheckoutSession, error) {
	prices, err := s.prices(ctx)
	if err != nil {
		return nil, err
	}
	p := &stripe.CheckoutSessionListParams{ListParams: listParams(ctx), Customer: b.CustomerID}
	p.AddExpand("data.line_items")
	var out []*stripe.CheckoutSession
	iter := s.api.CheckoutSessions.List(p)
	for iter.Next() {
		c := iter.CheckoutSession()
		// A restored database may not know the price yet, but our own checkouts name the account.
		if c.Metadata[accountKey] == b.AccountID || sells(c, func(p *stripe.Price) bool { return ofPro(p, prices) }) {
			out = append(out, c)
		}
	}
	if err := iter.Err(); err != nil && !missing(err) { // a customer that no longer exists has none
		return nil, explained("read the checkouts", err)
	}
	return out, nil
}

// reusableSession returns the customer's open session if it sells the price and lives long enough; it expires every other
// open one for Pro. paid says that one of late was paid, and Stripe does not show its subscription yet. It asks Stripe
// instead of relying on our own record, which lacks a session whose response was lost.
func (s *Service) reusableSession(ctx context.Context, b *models.BillingAccount, priceID string) (keep *stripe.CheckoutSession, paid bool, err error) {
	if b.CustomerID == nil {
		return nil, false, nil
	}
	sessions, err := s.proSessions(ctx, b)
	if err != nil {
		return nil, false, err
	}
	for _, c := range sessions {
		if paidUnseen(c) && s.stripeNow().Sub(time.Unix(c.Created, 0)) < mostUnseen {
			paid = true
		}
		if c.Status != stripe.CheckoutSessionStatusOpen {
			continue
		}
		lives := time.Unix(c.ExpiresAt, 0).Sub(s.stripeNow()) > sessionLeft
		if keep == nil && lives && c.ClientReferenceID == b.AccountID && sells(c, func(p *stripe.Price) bool { return p.ID == priceID }) {
			keep = c
		} else if err := s.expire(ctx, c.ID); err != nil {
			return nil, false, err
		}
	}
	return keep, paid, nil
}

// mostUnseen is for how long after a checkout was opened its payment keeps others from being sold if no subscription is
// shown for it: a checkout can be paid for a day.
const mostUnseen = 48 * time.Hour

// paidUnseen reports whether Stripe says that a checkout was paid, and does not show its subscription yet.
func paidUnseen(c *stripe.CheckoutSession) bool {
	return c.Mode == stripe.CheckoutSessionModeSubscription && c.Status == stripe.CheckoutSessionStatusComplete &&
		c.PaymentStatus != stripe.CheckoutSessionPaymentStatusUnpaid && c.Subscription == nil
}

// closeSessions closes all open sessions of the customer for Pro, but for one that is being paid at this very moment.
func (s *Service) closeSessions(ctx context.Context, b *models.BillingAccount) error {
	_, _, err := s.reusableSession(ctx, b, "") // none sells ""
	return err
}

// forgetPaid drops b's checkout if it is no longer open: its subscription now represents it, and nobody needs to close
// it. If it is still open beside a subscription that did not come from it, it is closed: whoever still has its page
// open would pay twice. If Stripe does not answer, the next sync asks again.
func (s *Service) forgetPaid(ctx context.Context, b *models.BillingAccount, subs []subscription) {
	if !b.Payable(s.stripeNow()) {
		return
	}
	c, err := s.api.CheckoutSessions.Get(*b.SessionID, &stripe.CheckoutSessionParams{Params: params(ctx, "")})
	open := err == nil && c.Status == stripe.CheckoutSessionStatusOpen
	// A subscription that the checkout itself began has sold set, and is not older than the checkout.
	if open && slices.ContainsFunc(subs, func(sub subscription) bool {
		return sub.goesOn() && !sub.begun() && (!sub.sold || sub.created < c.Created)
	}) {
		err, open = s.expire(ctx, c.ID), false
	}
	if err == nil && !open {
		b.DropSession()
	}
}

// sells reports whether one of the prices that a session asks for is wanted.
func sells(c *stripe.CheckoutSession, wanted func(*stripe.Price) bool) bool {
	return c.LineItems != nil && slices.ContainsFunc(c.LineItems.Data, func(item *stripe.LineItem) bool {
		return item.Price != nil && wanted(item.Price)
	})
}

// expire closes a session. It is no error if the session is no longer open: it may have been completed just now. Every
// call uses a new idempotency key, because Stripe would repeat an error for a day.
func (s *Service) expire(ctx context.Context, sessionID string) error {
	_, err := s.api.CheckoutSessions.Expire(sessionID, &stripe.CheckoutSessionExpireParams{Params: params(ctx, newKey("expire"))})
	if e, ok := errors.AsType[*stripe.Error](err); ok && e.Type == stripe.ErrorTypeInvalidRequest {
		c, getErr := s.api.CheckoutSessions.Get(sessionID, &stripe.CheckoutSessionParams{Params: params(ctx, "")})
		if getErr != nil {
			return explained("read the open checkout", getErr)
		}
		if c.Status != stripe.CheckoutSessionStatusOpen {
			return nil
		}
	}
	return explained("close the open checkout", err)
}

// newSession opens a checkout. Every call uses a new idempotency key, since reusableSession finds one whose response was
// lost. A restored database could make an old key again, and Stripe would repeat a session that is no longer open.
func (s *Service) newSession(ctx context.Context, b *models.BillingAccount, priceID string) (*stripe.CheckoutSession, error) {
	c, err := s.api.CheckoutSessions.New(&stripe.CheckoutSessionParams{
		Params:            params(ctx, newKey("checkout")),
		Mode:              stripe.String(string(stripe.CheckoutSessionModeSubscription)),
		Customer:          b.CustomerID,
		ClientReferenceID: new(b.AccountID),
		LineItems:         []*stripe.CheckoutSessionLineItemParams{{Price: new(priceID), Quantity: stripe.Int64(1)}},
		SuccessURL:        new(s.publicURL + returnPath + "?session_id={CHECKOUT_SESSION_ID}"),
		CancelURL:         new(s.publicURL + dashboardPath),
		Metadata:          map[string]string{accountKey: b.AccountID},
		SubscriptionData:  &stripe.CheckoutSessionSubscriptionDataParams{Metadata: map[string]string{accountKey: b.AccountID}},
	})
	// The price or its product is archived, or the customer pays for something else in another currency. A URL of
	// ours that Stripe does not take is a fault of this installation.
	if e, ok := errors.AsType[*stripe.Error](err); ok && e.HTTPStatusCode == http.StatusBadRequest && !missing(err) && !strings.HasSuffix(e.Param, "_url") {
		s.log.WarnContext(ctx, "Stripe refuses a checkout for Pro: `lotteryadmin billing doctor` may have the details", "account", b.AccountID, "price", priceID, "error", e.Msg)
		return nil, models.Errorf(models.CodeConflict, "Stripe refuses a checkout for price %s: %s `lotteryadmin billing doctor` may say what to do", priceID, e.Msg)
	}
	if err != nil {
		return nil, explained("open a checkout", err)
	}
	return c, nil
}
