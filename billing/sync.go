package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

// Cause is why an account is synced. It goes into the audit log if something changes.
type Cause struct {
	Actor   string // stripe, customer, operator, reconcile, system
	Reason  string
	EventID string // evt_…, if an event is the cause
}

// Standing is an account's billing as Stripe described it a moment ago.
type Standing struct {
	Account models.Account
	Billing models.BillingAccount
	Was     models.Plan // the plan in force before
	Changed bool        // the plan according to Stripe has changed
	// Unfinished is set if a subscription continues, or may: nothing else is sold then.
	Unfinished bool
	// Begun is set if what is unfinished was only begun at checkout: Stripe makes the subscription at the first attempt
	// to pay, and a refused card leaves it incomplete for a day, with the checkout still open.
	Begun bool
}

// Sync asks Stripe for everything about one account and sets its plan accordingly. Nothing else changes a plan for
// money.
func (s *Service) Sync(ctx context.Context, accountID string, why Cause) (Standing, error) {
	var out Standing
	err := s.locked(ctx, accountID, func(ctx context.Context, l store.Lease) (err error) {
		out, err = s.settled(ctx, l, accountID, why)
		return err
	})
	return out, err
}

// sync is Sync for a caller that holds the account's lock l. Reading under the lock means that a sync never stores
// anything older than what another one stored before it.
func (s *Service) sync(ctx context.Context, l store.Lease, accountID string, why Cause) (Standing, error) {
	account, err := s.store.BilledAccount(ctx, accountID)
	if err != nil {
		return Standing{}, err
	}
	b, err := s.store.BillingAccount(ctx, accountID)
	if err != nil {
		return Standing{}, err
	}
	before := b
	var subs []subscription
	if b.CustomerID != nil {
		var gone bool
		if subs, gone, err = s.subscriptions(ctx, &b); err != nil {
			return Standing{}, err
		}
		if gone { // the id is dead; the next checkout makes a new customer
			b.CustomerID = nil
			b.DropSession()
			b.Attempt++
		}
	}
	if unfinished(subs) {
		s.forgetPaid(ctx, &b, subs)
	}
	var cancelled error
	if account.Status == models.AccountClosed {
		cancelled = s.endClosed(ctx, accountID, subs)
	}
	for i := range subs {
		if sub := &subs[i]; sub.status == models.SubscriptionPastDue {
			sub.pastDueSince = s.becamePastDue(&before, sub)
		}
	}
	v := judge(subs, s.cfg.Grace, s.stripeNow())
	if account.Status == models.AccountClosed { // a closed account has no plan, even if somebody still pays for it
		v.plan, v.graceEndsAt = nil, nil
	}
	cancelled = errors.Join(cancelled, s.cancelSurplus(ctx, accountID, v.surplus))
	now := s.now().Truncate(time.Microsecond)
	b.SyncedAt = &now
	describe(&b, &v, s.stripeNow())
	change := store.BillingChange{Billing: b, Plan: v.plan, Actor: why.Actor, Reason: why.Reason, EventID: why.EventID, Flags: besides(accountID, &v)}
	// An incomplete subscription may come to nothing.
	if account.Status == models.AccountSuspended && b.GoesOn() && *b.Status != models.SubscriptionIncomplete {
		change.Flags = append(change.Flags, suspendedFlag(accountID, *b.SubscriptionID))
	}
	if account.Status != models.AccountClosed {
		change.Mails = mails(&before, &b, account.BilledPlan != nil, &v)
	}
	done, err := s.store.StoreBilling(ctx, l, change)
	if err != nil {
		return Standing{}, err
	}
	if done.Changed {
		s.log.InfoContext(ctx, "an account's plan follows its subscription", "account", accountID, "actor", why.Actor, "reason", why.Reason,
			"event", why.EventID, "billed", models.BilledName(v.plan))
	}
	out := Standing{Account: done.Account, Billing: b, Was: done.Was, Changed: done.Changed, Unfinished: unfinished(subs), Begun: allBegun(subs)}
	if account.Status != models.AccountClosed && out.Account.Status == models.AccountClosed { // it was closed meanwhile
		cancelled = errors.Join(cancelled, s.endClosed(ctx, accountID, subs))
	}
	return out, cancelled
}

// besides returns flags for what exists beside the subscription that counts, or was paid after its end.
func besides(accountID string, v *verdict) (list []models.AccountFlag) {
	for _, sub := range v.several {
		state := sub.status
		if sub.ending {
			state += " and set to end"
		}
		list = append(list, flag(accountID, models.FlagSubscriptions, sub.id,
			fmt.Sprintf("subscription %s is %s beside %s", sub.id, state, v.chosen.id)))
	}
	if c := v.chosen; c != nil && !c.over() && c.quantity > 1 {
		list = append(list, flag(accountID, models.FlagQuantity, fmt.Sprintf("%s:%d", c.id, c.quantity),
			fmt.Sprintf("subscription %s has the quantity %d and charges %d times %s, for one plan: set its quantity to 1 in Stripe's dashboard", c.id, c.quantity, c.quantity, c.each)))
	}
	if c := v.chosen; c != nil && !c.over() && c.items > 1 {
		list = append(list, flag(accountID, models.FlagQuantity, c.id+":"+c.priceID,
			fmt.Sprintf("subscription %s charges several prices of our product (%s), for one plan: remove all but one in Stripe's dashboard", c.id, c.priceID)))
	}
	for _, sub := range v.unknown {
		list = append(list, flag(accountID, models.FlagUnknownPrice, sub.id+":"+sub.priceID,
			fmt.Sprintf("subscription %s is for price %s, which gives no plan; `billing setup` registers the current price", sub.id, sub.priceID)))
	}
	for _, sub := range v.late {
		list = append(list, flag(accountID, models.FlagPaidLate, sub.paidLate, lateDetail(&sub)))
	}
	return list
}

// describe writes the subscription that counts into b, as it is at now. If there is none to show, b keeps the last one
// known.
func describe(b *models.BillingAccount, v *verdict, now time.Time) {
	b.PastDueSince, b.GraceEndsAt = nil, v.graceEndsAt
	c := v.chosen
	if rest := slices.Concat(v.unknown, v.idle); len(rest) > 0 && (c == nil || c.over()) {
		c = &rest[0] // it gives no plan, but it continues
	}
	if c == nil {
		if b.Status != nil { // there was one, and its customer is gone
			ended := models.SubscriptionCanceled
			b.Status, b.CancelAtPeriodEnd = &ended, false
		}
		return
	}
	b.SubscriptionID, b.Status, b.PriceID, b.Quantity = &c.id, &c.status, &c.priceID, &c.quantity
	b.PeriodEnd, b.CancelAtPeriodEnd = c.periodEnd, c.ending
	switch {
	case c.status == models.SubscriptionPastDue:
		b.PastDueSince = &c.pastDueSince
	case c.status == models.SubscriptionActive && c.underWay(): // seen at now, and not yet past due
		now = now.Truncate(time.Second)
		b.PastDueSince = &now
	}
}

// mails returns what the customer is told about the change; had is whether payment gave a plan before.
func mails(before, after *models.BillingAccount, had bool, v *verdict) []models.Mail {
	has := v.plan != nil
	var list []models.Mail
	add := func(kind models.MailKind, subscriptionID string, at time.Time) {
		once := fmt.Sprintf("%s:%s:%s", kind, subscriptionID, at.UTC().Format(time.RFC3339Nano))
		list = append(list, models.Mail{AccountID: after.AccountID, Kind: kind, Data: "{}", Once: once})
	}
	if has && !had {
		add(models.MailWelcomePro, *after.SubscriptionID, *after.SyncedAt)
	}
	if has && v.chosen.status == models.SubscriptionPastDue && !equal(before.Status, models.SubscriptionPastDue) {
		add(models.MailPaymentFailed, *after.SubscriptionID, *after.PastDueSince)
	}
	switch {
	case had && !has:
		add(models.MailProEnded, idOf(before.SubscriptionID), *after.SyncedAt)
	case !has && firstFailed(before, v.chosen):
		add(models.MailFirstFailed, v.chosen.id, time.Unix(v.chosen.created, 0))
	}
	return list
}

// firstFailed reports whether a bank has refused the first payment of a subscription since before was written. Stripe
// then calls it past due, or what it is set up to do once a payment cannot be had.
func firstFailed(before *models.BillingAccount, c *subscription) bool {
	switch {
	case c == nil:
		return false
	case c.status == models.SubscriptionPastDue:
		return c.neverPaid && !equal(before.Status, models.SubscriptionPastDue)
	default:
		return equal(before.SubscriptionID, c.id) && equal(before.Status, models.SubscriptionIncomplete) &&
			(c.status == models.SubscriptionUnpaid || c.status == models.SubscriptionCanceled && c.refused)
	}
}

func idOf(p *string) string {
	if p == nil {
		return "-"
	}
	return *p
}

func equal(p *string, s string) bool { return p != nil && *p == s }

func flag(accountID string, kind models.FlagKind, ref, detail string) models.AccountFlag {
	return models.AccountFlag{AccountID: accountID, Kind: kind, Ref: ref, Detail: detail}
}

// subscriptions reads all subscriptions of b's customer, on every page. gone is set if the customer no longer exists.
func (s *Service) subscriptions(ctx context.Context, b *models.BillingAccount) (list []subscription, gone bool, err error) {
	const doing = "read the customer's subscriptions"
	prices, err := s.prices(ctx)
	if err != nil {
		return nil, false, err
	}
	p := &stripe.SubscriptionListParams{ListParams: listParams(ctx), Customer: b.CustomerID, Status: new("all")}
	p.AddExpand("data.latest_invoice")
	iter := s.api.Subscriptions.List(p)
	for iter.Next() {
		if err := s.learn(ctx, iter.Subscription(), prices); err != nil {
			return nil, false, err
		}
		sub := read(iter.Subscription(), prices)
		if sub.unclear() {
			since, ever, err := s.unpaidSince(ctx, sub.id)
			if err != nil {
				return nil, false, explained(doing, err)
			}
			if !since.IsZero() {
				sub.pastDueSince, sub.neverPaid = since, !ever
			}
			// While a bank is deciding on the first debit, Stripe already calls the subscription active.
			if sub.neverPaid && sub.status == models.SubscriptionActive {
				sub.status = models.SubscriptionIncomplete
			}
		}
		list = append(list, sub)
	}
	unread := iter.Err()
	if unread != nil && !missing(unread) {
		return nil, false, explained(doing, unread)
	}
	if unread == nil && unfinished(list) {
		return list, false, nil // a deleted customer has none
	}
	gone, err = s.gone(ctx, b)
	switch {
	case err != nil:
		return nil, false, explained(doing, err)
	case gone:
		return nil, true, nil
	default:
		return list, false, explained(doing, unread) // a list that is missing is not an empty list
	}
}

// gone reports whether Stripe says that b's customer was deleted. A customer that Stripe has never heard of is gone as
// well if it dates from test mode. Otherwise that is an error: the key may belong to another Stripe account, and nobody
// must lose a plan over that.
func (s *Service) gone(ctx context.Context, b *models.BillingAccount) (bool, error) {
	c, err := s.api.Customers.Get(*b.CustomerID, &stripe.CustomerParams{Params: params(ctx, "")})
	if err == nil {
		return c.Deleted, nil
	}
	if !missing(err) {
		return false, err
	}
	left, readErr := s.leftByTest(ctx, b)
	if readErr != nil {
		return false, readErr
	}
	if !left {
		return false, err
	}
	s.log.WarnContext(ctx, "a customer of test mode is forgotten: the key is of live mode", "account", b.AccountID, "customer", *b.CustomerID)
	return true, nil
}

// leftByTest reports whether b's customer dates from before this service went live. The evidence is what was stored
// then: its checkout, or else the price that was paid. A customer with neither never had anything to lose.
func (s *Service) leftByTest(ctx context.Context, b *models.BillingAccount) (bool, error) {
	switch {
	case !s.cfg.Live():
		return false, nil
	case b.SessionID != nil:
		return strings.HasPrefix(*b.SessionID, "cs_test_"), nil
	case b.PriceID == nil:
		return true, nil
	}
	tested, err := s.store.KnownPrices(ctx, false)
	return slices.ContainsFunc(tested, func(p models.KnownPrice) bool { return p.PriceID == *b.PriceID }), err
}

// unpaidSince returns when the oldest unpaid invoice after the last paid one was made, or was due if that is later; the
// answer does not depend on when one asks. Like Stripe, it ignores invoices left open before a later one was paid.
// oldest is zero if Stripe lists no such invoice. ever is set if any invoice was paid; one for nothing, as in a trial,
// counts.
func (s *Service) unpaidSince(ctx context.Context, subscriptionID string) (oldest time.Time, ever bool, err error) {
	p := &stripe.InvoiceListParams{ListParams: listParams(ctx), Subscription: new(subscriptionID)}
	iter := s.api.Invoices.List(p) // newest first
	for iter.Next() {
		switch inv := iter.Invoice(); inv.Status {
		case stripe.InvoiceStatusPaid:
			return oldest, true, nil
		case stripe.InvoiceStatusOpen, stripe.InvoiceStatusUncollectible:
			oldest = time.Unix(max(inv.Created, inv.DueDate), 0).UTC()
		}
	}
	return oldest, false, iter.Err()
}

// becamePastDue returns when sub became past due: when its oldest unpaid invoice was due, but no earlier than the last
// sync that saw Stripe still call it active. A bank may refuse a debit days after the invoice, and the grace period
// must not be over by then. If neither an invoice nor a sync tells, it is now.
func (s *Service) becamePastDue(b *models.BillingAccount, sub *subscription) time.Time {
	since := sub.pastDueSince
	if seen := b.PastDueSince; equal(b.SubscriptionID, sub.id) && seen != nil && seen.After(since) {
		since = *seen
	}
	if since.IsZero() {
		return s.stripeNow().Truncate(time.Second)
	}
	return since
}

// cancelSurplus cancels the subscriptions that were paid in addition to an older one, and asks the operator to refund
// them.
func (s *Service) cancelSurplus(ctx context.Context, accountID string, surplus []subscription) error {
	var errs []error
	for _, sub := range surplus {
		errs = append(errs, s.cancelFlagged(ctx, &sub, flag(accountID, models.FlagDoublePayment, sub.id,
			fmt.Sprintf("subscription %s was paid in addition to an older one, and has been canceled: refund its payment in Stripe's dashboard", sub.id))))
	}
	return errors.Join(errs...)
}

// endClosed cancels what is still running for a closed account, such as a checkout completed just as it was closed. In
// subs, it marks what it has canceled.
func (s *Service) endClosed(ctx context.Context, accountID string, subs []subscription) error {
	var errs []error
	for i := range subs {
		if sub := &subs[i]; sub.goesOn() {
			err := s.cancelFlagged(ctx, sub, flag(accountID, models.FlagClosed, sub.id,
				fmt.Sprintf("subscription %s was live although the account is closed, and has been canceled: check whether to refund a payment", sub.id)))
			if err == nil {
				sub.status = models.SubscriptionCanceled
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// cancelFlagged cancels a subscription, after raising the flag about it: if this process dies in between, the next sync
// would find nothing to flag.
func (s *Service) cancelFlagged(ctx context.Context, sub *subscription, f models.AccountFlag) error {
	if err := s.store.RaiseFlag(ctx, f); err != nil {
		return err
	}
	return s.cancel(ctx, sub)
}

// besideABank is the comment on a subscription that was canceled while a bank may have been deciding on a payment for
// it. Only the comment shows that later: the invoice of one that a card could not pay looks the same.
const besideABank = "A bank may still have been deciding on a payment."

// cancel ends a subscription immediately. It is no error if it has ended already.
func (s *Service) cancel(ctx context.Context, sub *subscription) error {
	p := &stripe.SubscriptionCancelParams{Params: params(ctx, "")}
	if sub.withBank() {
		p.CancellationDetails = &stripe.SubscriptionCancelCancellationDetailsParams{Comment: new(besideABank)}
	}
	_, err := s.api.Subscriptions.Cancel(sub.id, p)
	if err == nil || missing(err) {
		return nil
	}
	return explained("cancel subscription "+sub.id, err)
}
