package billing

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

// newCustomer creates the account's customer. If Stripe already has it, because an earlier response was lost or the
// database was restored to an older state, it returns that one and known = true. The idempotency key alone would not
// do: Stripe forgets it after a day.
func (s *Service) newCustomer(ctx context.Context, a *models.Account, attempt int) (id string, known bool, err error) {
	id, others, err := s.findCustomer(ctx, a)
	if err != nil || id != "" {
		return id, true, err
	}
	if err := s.flagStrays(ctx, a.ID, others); err != nil {
		return "", false, err
	}
	p := &stripe.CustomerParams{
		Params: params(ctx, fmt.Sprintf("customer-%s-%d", a.ID, attempt)), Email: a.Email,
		Metadata: map[string]string{accountKey: a.ID},
	}
	if a.Name != "" {
		p.Name = new(a.Name)
	}
	c, err := s.api.Customers.New(p)
	if refusesEmail(err) { // Checkout then asks for an address
		p.Email, p.Params = nil, params(ctx, fmt.Sprintf("customer-%s-%d-without", a.ID, attempt))
		c, err = s.api.Customers.New(p)
	}
	if spent(err) {
		// The request may have succeeded in spite of the error.
		if id, _, err = s.findCustomer(ctx, a); err != nil || id != "" {
			return id, true, err
		}
		p.Params = params(ctx, newKey("customer"))
		c, err = s.api.Customers.New(p)
	}
	if err != nil {
		return "", false, explained("create a customer", err)
	}
	return c.ID, replayed(c.LastResponse), nil
}

// spent reports whether an idempotency key can no longer be used: the name or address changed since the lost response,
// or Stripe failed with a 5xx, which it repeats for that key for a day.
func spent(err error) bool {
	e, ok := errors.AsType[*stripe.Error](err)
	return ok && (e.HTTPStatusCode >= http.StatusInternalServerError || e.Type == stripe.ErrorTypeIdempotency && e.HTTPStatusCode == http.StatusBadRequest)
}

// refusesEmail reports whether Stripe rejects an address as invalid. It does so even for some that work, such as those
// with characters outside ASCII.
// https://docs.stripe.com/error-codes#email-invalid
func refusesEmail(err error) bool {
	e, ok := errors.AsType[*stripe.Error](err)
	return ok && e.Code == stripe.ErrorCodeEmailInvalid
}

// replayed reports whether Stripe repeated its response to an earlier request with the same idempotency key.
// https://docs.stripe.com/api/idempotent_requests
func replayed(res *stripe.APIResponse) bool {
	return res.Header.Get("Idempotent-Replayed") == "true"
}

// findCustomer returns Stripe's customer that has the account's address and names the account, "" if there is none, and
// the others with its address.
func (s *Service) findCustomer(ctx context.Context, a *models.Account) (id string, others []*stripe.Customer, err error) {
	iter := s.api.Customers.List(&stripe.CustomerListParams{ListParams: listParams(ctx), Email: a.Email})
	for iter.Next() {
		c := iter.Customer()
		if c.Metadata[accountKey] == a.ID && !c.Deleted {
			return c.ID, nil, nil
		}
		others = append(others, c)
	}
	if refusesEmail(iter.Err()) {
		return "", nil, nil
	}
	return "", others, explained("look for the customer", iter.Err())
}

// SendEmail sends Stripe the account's new address, to which receipts go. It does nothing for an account without a
// customer. If Stripe rejects the address, SendEmail clears the old one: its mailbox may belong to somebody else by
// now. If it fails, the next Reconcile sends the address.
func (s *Service) SendEmail(ctx context.Context, accountID string) error {
	// The lock makes sure that the later of two changes is sent last.
	return s.locked(ctx, accountID, func(ctx context.Context, _ store.Lease) error {
		owed, err := s.store.EmailOwed(ctx, accountID)
		if err != nil {
			return err
		}
		if err := s.sendEmail(ctx, accountID); err != nil {
			return err
		}
		return s.store.EmailTold(ctx, accountID, owed)
	})
}

func (s *Service) sendEmail(ctx context.Context, accountID string) error {
	a, err := s.store.BilledAccount(ctx, accountID)
	if err != nil {
		return err
	}
	b, err := s.store.BillingAccount(ctx, accountID)
	if err != nil || b.CustomerID == nil || a.Email == nil {
		return err
	}
	_, err = s.api.Customers.Update(*b.CustomerID, &stripe.CustomerParams{Params: params(ctx, newKey("email")), Email: a.Email})
	if refusesEmail(err) {
		s.log.WarnContext(ctx, "Stripe does not take the new address: receipts go to the one that the customer names in the portal", "account", a.ID)
		_, err = s.api.Customers.Update(*b.CustomerID, &stripe.CustomerParams{Params: params(ctx, newKey("email")), Email: new("")})
	}
	return explained("send Stripe the new address", err)
}

// sendOwed sends the addresses that Stripe was not told when they changed, because it did not answer or the node was
// killed. Others are left alone, since customers may change theirs in the portal.
func (s *Service) sendOwed(ctx context.Context) error {
	asked, cancel := s.store.Bounded(ctx)
	ids, err := s.store.EmailsOwed(asked)
	cancel()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.SendEmail(ctx, id); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.log.WarnContext(ctx, "Stripe could not be told of a new address; the next reconcile tries again", "account", id, "error", err)
		}
	}
	return nil
}

// recall looks up and stores the customer of an account that is not known here to have one. If Stripe does not answer,
// nothing is stored: hardly any such account has one, and its owner need not wait to leave. If it has one after all,
// its subscription is cancelled at its next event or by `billing sync --all`.
func (s *Service) recall(ctx context.Context, l store.Lease, b *models.BillingAccount) error {
	a, err := s.store.BilledAccount(ctx, b.AccountID)
	if err != nil || a.Email == nil { // the account was deleted, and its address with it
		return err
	}
	id, _, err := s.findCustomer(ctx, &a)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.log.WarnContext(ctx, "an account ends, and Stripe cannot be asked whether it has a customer: `lotteryadmin billing sync --all` finds it later",
			"account", a.ID, "error", err)
		return nil
	case id == "":
		return nil
	default:
		b.CustomerID = &id
		return s.store.SaveBilling(ctx, l, *b)
	}
}
