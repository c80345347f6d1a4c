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

// newCustomer makes the account's customer, unless Stripe has it already, which known tells: its answer got lost, or the
// database was set back to before it. The idempotency key, that Stripe forgets after a day, would not find it then.
func (s *Service) newCustomer(ctx context.Context, a *models.Account, attempt int) (id string, known bool, err error) {
	if id, err = s.findCustomer(ctx, a); err != nil || id != "" {
		return id, true, err
	}
	p := &stripe.CustomerParams{
		Params: params(ctx, fmt.Sprintf("customer-%s-%d", a.ID, attempt)), Email: a.Email,
		Metadata: map[string]string{accountKey: a.ID},
	}
	if a.Name != "" {
		p.Name = new(a.Name)
	}
	c, err := s.api.Customers.New(p)
	if refusesEmail(err) { // Checkout asks for another one then
		p.Email, p.Params = nil, params(ctx, fmt.Sprintf("customer-%s-%d-without", a.ID, attempt))
		c, err = s.api.Customers.New(p)
	}
	if spent(err) {
		if id, err = s.findCustomer(ctx, a); err != nil || id != "" { // an error may be the answer to what was done
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

// spent tells whether an idempotency key is of no use any more: name or address changed since its answer got lost, or the
// answer was an error of Stripe's own, which it gives to the key for a day.
func spent(err error) bool {
	e, ok := errors.AsType[*stripe.Error](err)
	return ok && (e.HTTPStatusCode >= http.StatusInternalServerError || e.Type == stripe.ErrorTypeIdempotency && e.HTTPStatusCode == http.StatusBadRequest)
}

// refusesEmail tells whether Stripe takes an address that mails reach for none, such as one that is not written in ASCII.
// https://docs.stripe.com/error-codes#email-invalid
func refusesEmail(err error) bool {
	e, ok := errors.AsType[*stripe.Error](err)
	return ok && e.Code == stripe.ErrorCodeEmailInvalid
}

// replayed tells whether Stripe gave the answer to an earlier request with the same idempotency key.
// https://docs.stripe.com/api/idempotent_requests
func replayed(res *stripe.APIResponse) bool {
	return res != nil && res.Header.Get("Idempotent-Replayed") == "true"
}

// findCustomer is the customer that Stripe has at the account's address and that names the account; "" if it has none.
func (s *Service) findCustomer(ctx context.Context, a *models.Account) (string, error) {
	iter := s.api.Customers.List(&stripe.CustomerListParams{ListParams: listParams(ctx), Email: a.Email})
	for iter.Next() {
		if c := iter.Customer(); c.Metadata[accountKey] == a.ID && !c.Deleted {
			return c.ID, nil
		}
	}
	if refusesEmail(iter.Err()) {
		return "", nil
	}
	return "", explained("look for the customer", iter.Err())
}

// SendEmail tells Stripe the account's address, which receipts go to, after it was changed here. There is nothing to tell
// of an account without a customer. Where Stripe does not take the address, it forgets the one before: receipts would go on
// to a mailbox that may be somebody else's by now.
func (s *Service) SendEmail(ctx context.Context, accountID string) error {
	return s.locked(ctx, accountID, func(ctx context.Context, _ store.Lease) error { // of two changes the later is told last
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
	})
}

// recall notes the customer that Stripe has of an account which is not known here to have one. If Stripe does not answer,
// nothing is noted: next to no such account has one, and whoever leaves need not wait for it. What it pays ends with its
// next event then, or with `billing sync --all`.
func (s *Service) recall(ctx context.Context, l store.Lease, b *models.BillingAccount) error {
	a, err := s.store.BilledAccount(ctx, b.AccountID)
	if err != nil || a.Email == nil { // it is closed, and its address forgotten
		return err
	}
	id, err := s.findCustomer(ctx, &a)
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
