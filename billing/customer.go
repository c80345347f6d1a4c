package billing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

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
// the others with its address. If several name it, it is the oldest that has a subscription, or else the oldest, and the
// others are flagged.
func (s *Service) findCustomer(ctx context.Context, a *models.Account) (id string, others []*stripe.Customer, err error) {
	iter := s.api.Customers.List(&stripe.CustomerListParams{ListParams: listParams(ctx), Email: a.Email}) // the newest first
	var naming []string
	for iter.Next() {
		c := iter.Customer()
		if c.Metadata[accountKey] != a.ID || c.Deleted {
			others = append(others, c)
			continue
		}
		of, err := s.store.AccountOfCustomer(ctx, c.ID)
		switch {
		case models.ErrorCode(err) == models.CodeNotFound || of == a.ID:
			naming = append(naming, c.ID)
		case err != nil:
			return "", nil, err
		default:
			s.log.WarnContext(ctx, "a customer at Stripe names an account, but is another one's here: look at it in Stripe's dashboard", "customer", c.ID, "names", a.ID, "account", of)
		}
	}
	switch err := iter.Err(); {
	case refusesEmail(err):
		return "", nil, nil
	case err != nil:
		return "", nil, explained("look for the customer", err)
	case len(naming) == 0:
		return "", others, nil
	}
	if id, err = s.ownOf(ctx, a.ID, naming); err != nil {
		return "", nil, err
	}
	for _, second := range naming {
		if second == id {
			continue
		}
		if err := s.flagSecond(ctx, a.ID, second, secondDetail(second, id)); err != nil {
			return "", nil, err
		}
	}
	return id, nil, nil
}

// ownOf returns which of the customers that name an account, the newest first, is to be its own.
func (s *Service) ownOf(ctx context.Context, accountID string, naming []string) (id string, err error) {
	oldest := naming[len(naming)-1]
	if len(naming) == 1 {
		return oldest, nil
	}
	for _, id := range slices.Backward(naming) {
		subs, _, err := s.subscriptions(ctx, &models.BillingAccount{AccountID: accountID, CustomerID: &id})
		if err != nil {
			return "", err
		}
		if unfinished(subs) {
			return id, nil
		}
	}
	return oldest, nil
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
