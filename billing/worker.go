package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stripe/stripe-go/v76"

	"lottery/models"
	"lottery/models/store"
)

const (
	// workEvery is how often the inbox is looked at when nothing wakes the worker: events that came to another node,
	// and those that are to be tried again.
	workEvery = time.Second
	// graceEvery is how often accounts are looked for whose time of grace is over.
	graceEvery = time.Minute
	// claimed is how many events one look takes.
	claimed = 50
	// atOnce is how many customers' events of one batch are worked on at a time, and batches is how many batches are.
	atOnce  = 4
	batches = 4
	// firstRetry doubles up to lastRetry.
	firstRetry = time.Second
	lastRetry  = 10 * time.Minute
	// mostAttempts is when an event becomes a dead letter: after about an hour. The hourly reconcile does without it.
	mostAttempts = 15
	// eventFor is when the work on an event is given up: it waits for its account's lock, and works under it, twice.
	eventFor = 3 * time.Minute
)

// Run works off the inbox until ctx ends.
func (s *Service) Run(ctx context.Context) {
	tick, grace := time.NewTicker(workEvery), time.NewTicker(graceEvery)
	defer tick.Stop()
	defer grace.Stop()
	var beside sync.WaitGroup // a customer for whom Stripe does not answer keeps nobody else waiting
	defer beside.Wait()
	room, ending := make(chan struct{}, batches), make(chan struct{}, 1)
	for {
		s.takeAll(ctx, room, &beside)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.wake:
		case <-grace.C:
			select {
			case ending <- struct{}{}:
				beside.Go(func() {
					defer func() { <-ending }()
					s.endGrace(ctx)
				})
			default: // the last look has not ended
			}
		}
	}
}

// takeAll takes what is due, batch by batch while there is room, and has each worked on beside the others.
func (s *Service) takeAll(ctx context.Context, room chan struct{}, beside *sync.WaitGroup) {
	for ctx.Err() == nil {
		select {
		case room <- struct{}{}:
		default:
			return // a batch that ends wakes Run
		}
		b, err := s.take(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "the billing inbox cannot be worked on now", "error", err)
		}
		if b == nil {
			<-room
			return
		}
		beside.Go(func() {
			defer s.kick() // there may be more of its customers, and of others if there was no room
			defer func() { <-room }()
			s.workOff(ctx, b)
		})
	}
}

// Work takes the events that are due, once, works on them and tells how many there were.
func (s *Service) Work(ctx context.Context) (int, error) {
	b, err := s.take(ctx)
	if b == nil {
		return 0, err
	}
	n := len(b.events)
	s.workOff(ctx, b)
	return n, err
}

// batch is events that were taken together, and the customers that they are of.
type batch struct {
	events    []models.StripeEvent
	customers []string
}

// take claims events that are due, but none of customers that are worked on already: these wait, so that one whose work
// takes long has one piece of it under way. nil = there are none.
func (s *Service) take(ctx context.Context) (*batch, error) {
	s.busyMu.Lock()
	defer s.busyMu.Unlock()
	asked, cancel := s.store.Bounded(ctx)
	defer cancel()
	events, err := s.store.ClaimEvents(asked, claimed, s.leaseFor, slices.Collect(maps.Keys(s.busy)))
	if len(events) == 0 {
		return nil, err
	}
	b := &batch{events: events}
	for _, e := range events {
		if e.CustomerID != "" && !s.busy[e.CustomerID] {
			s.busy[e.CustomerID] = true
			b.customers = append(b.customers, e.CustomerID)
		}
	}
	return b, err
}

// done tells that a customer's events are not worked on any more.
func (s *Service) done(customer string) {
	s.busyMu.Lock()
	defer s.busyMu.Unlock()
	delete(s.busy, customer)
}

// workOff does what follows from the events of a batch.
func (s *Service) workOff(ctx context.Context, b *batch) {
	events := s.giveUp(ctx, b.events)
	// One customer's events are worked on one after the other. All of them were here before the first is worked on, so
	// one sync serves those that tell of nothing else; and if Stripe does not answer for one, it is not asked for those.
	queues := map[string][]models.StripeEvent{}
	for _, e := range events {
		queues[e.CustomerID] = append(queues[e.CustomerID], e)
	}
	for _, customer := range b.customers {
		if queues[customer] == nil { // given up
			s.done(customer)
		}
	}
	mine, release := s.keepClaims(ctx, events)
	defer release()
	var wg sync.WaitGroup
	var left atomic.Bool
	room := make(chan struct{}, atOnce)
	for _, customer := range byAttempts(queues) {
		room <- struct{}{}
		if left.Load() { // this process stops, and the database takes nothing: the claims of the others run out
			s.done(customer)
			<-room
			continue
		}
		wg.Go(func() {
			defer func() { <-room }()
			if !s.workOn(ctx, customer, queues[customer], mine) && ctx.Err() != nil {
				left.Store(true)
			}
			s.done(customer)
		})
	}
	wg.Wait()
}

// workOn does what follows from the events of one customer, and tells whether what became of them could be stored.
func (s *Service) workOn(ctx context.Context, customer string, queue []models.StripeEvent, mine *claims) (stored bool) {
	served, account := "", ""
	var away error
	for i := range queue {
		e := &queue[i]
		outcome, err := served, away
		switch {
		case served != "" && onlySignal(e.Type):
			e.AccountID = account
			err = s.name(ctx, e)
		case away != nil && onlySignal(e.Type):
		default:
			err = s.safely(ctx, func() (err error) {
				outcome, err = s.follow(ctx, e)
				return err
			}, "event", e.ID, "type", e.Type)
		}
		mine.drop(e.ID)
		if !s.settle(ctx, e, outcome, err) {
			return false // the database does not answer: the rest comes again when its claims have run out
		}
		switch {
		case customer == "": // of several, or of none
		case err == nil:
			served, account, away = outcome, e.AccountID, nil
		case models.ErrorCode(err) == models.CodeUnavailable:
			away = err
		}
	}
	return true
}

// errNeverEnded says that whoever worked on an event had died by the end.
var errNeverEnded = fmt.Errorf("it was begun %d times, and the server ended each time before it was done: see its log for why", mostAttempts)

// giveUp makes those of events dead letters that were begun often enough, and gives the others. One that is begun and not
// ended may be what kills the servers; settle, which counts the attempts of others, is never come to.
func (s *Service) giveUp(ctx context.Context, events []models.StripeEvent) (others []models.StripeEvent) {
	for i := range events {
		if e := &events[i]; e.Attempts > mostAttempts {
			s.settle(ctx, e, "", errNeverEnded)
		} else {
			others = append(others, *e)
		}
	}
	return others
}

// byAttempts is the customers in the order in which they are worked on: first those whose events were tried least, so
// that one which kills the server takes few others with it time and again.
func byAttempts(queues map[string][]models.StripeEvent) []string {
	most := func(customer string) (n int) {
		for i := range queues[customer] {
			n = max(n, queues[customer][i].Attempts)
		}
		return n
	}
	return slices.SortedFunc(maps.Keys(queues), func(a, b string) int { return cmp.Compare(most(a), most(b)) })
}

// claims is the ids of events that are not settled yet.
type claims struct {
	mu  sync.Mutex
	ids []string
}

func (c *claims) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = slices.DeleteFunc(c.ids, func(s string) bool { return s == id })
}

// keepClaims tells the other nodes, until release, that the events which were not dropped are worked on.
func (s *Service) keepClaims(ctx context.Context, events []models.StripeEvent) (c *claims, release func()) {
	c = &claims{}
	for i := range events {
		c.ids = append(c.ids, events[i].ID)
	}
	ctx, cancel := context.WithCancel(ctx)
	kept := every(ctx, s.leaseFor/3, func(ctx context.Context) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := s.store.KeepClaims(ctx, c.ids, s.leaseFor); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "events are worked on, and another node may begin to as well", "events", len(c.ids), "error", err)
		}
	})
	return c, func() {
		cancel()
		<-kept
	}
}

// errNotYet says that Stripe has not made yet what an event tells of.
var errNotYet = errors.New("no subscription is shown for this checkout yet")

// onlySignal tells whether nothing but a sync follows from events of a type.
func onlySignal(kind string) bool {
	return kind != "checkout.session.completed" && !strings.HasPrefix(kind, "charge.")
}

// settle writes down what became of an event, and tells whether it could.
func (s *Service) settle(ctx context.Context, e *models.StripeEvent, outcome string, err error) (stored bool) {
	state, wait := models.EventDone, time.Duration(0)
	switch {
	case err == nil:
	case ctx.Err() != nil: // this process stops: somebody else does it, at once
		state, outcome = models.EventPending, "the server that worked on it stopped"
	case e.Attempts >= mostAttempts:
		state, outcome = models.EventFailed, err.Error()
		s.log.ErrorContext(ctx, "an event is given up; `lotteryadmin billing events retry` tries it again", "event", e.ID, "type", e.Type, "error", err)
	default:
		state, outcome, wait = models.EventPending, err.Error(), backoff(e.Attempts)
		s.log.WarnContext(ctx, "an event will be tried again", "event", e.ID, "type", e.Type, "attempt", e.Attempts, "error", err)
	}
	after, cancel := s.store.Lasting(ctx)
	defer cancel()
	if err := s.store.SettleEvent(after, *e, state, outcome, wait); err != nil {
		s.log.ErrorContext(ctx, "what became of an event could not be stored; it will be worked on again", "event", e.ID, "error", err)
		return false
	}
	return true
}

// backoff is how long to wait after the attempt of that number, from 1.
func backoff(attempt int) time.Duration {
	d := min(firstRetry<<min(attempt-1, 20), lastRetry)
	return d/2 + rand.N(d/2)
}

// follow does what follows from an event: its customer's account is looked at afresh. What the event itself says of
// the customer is not believed: it may be late, or in a shape of another API version.
func (s *Service) follow(ctx context.Context, e *models.StripeEvent) (outcome string, err error) {
	ctx, cancel := context.WithTimeout(ctx, eventFor)
	defer cancel()
	money, err := s.moneyBack(ctx, e)
	if err != nil {
		return "", err
	}
	if money != nil && money.customer != "" {
		e.CustomerID = money.customer
	}
	if e.CustomerID == "" {
		return "the event names no customer", nil
	}
	accountID, outcome, err := s.whose(ctx, e)
	if err == nil && accountID == "" && money != nil {
		accountID, outcome, err = s.paidFor(ctx, money, outcome)
	}
	if err != nil || accountID == "" {
		return outcome, err
	}
	e.AccountID = accountID
	if err := s.name(ctx, e); err != nil {
		return "", err
	}
	if money != nil {
		if err := s.store.RaiseFlag(ctx, flag(accountID, money.kind, money.ref, money.detail)); err != nil {
			return "", err
		}
	}
	if outcome != "" { // not of the account's own customer: no plan follows from it
		return outcome, nil
	}
	why := Cause{Actor: "stripe", Reason: e.Type, EventID: e.ID}
	now, err := s.Sync(ctx, accountID, why)
	if err != nil {
		return "", err
	}
	if e.Type == "checkout.session.completed" && !now.Unfinished {
		if err := s.expectSubscription(ctx, e.ObjectID); err != nil {
			return "", err
		}
		if now, err = s.Sync(ctx, accountID, why); err != nil { // it may have come since
			return "", err
		}
	}
	plan, source := now.Account.Plan()
	return fmt.Sprintf("the account is on %s (%s)", plan, source), nil
}

// name notes whose event it is.
func (s *Service) name(ctx context.Context, e *models.StripeEvent) error {
	asked, cancel := s.store.Bounded(ctx)
	defer cancel()
	return s.store.NameEventAccount(asked, e.ID, e.AccountID, e.CustomerID)
}

// expectSubscription is an error while a paid checkout has no subscription to show.
func (s *Service) expectSubscription(ctx context.Context, sessionID string) error {
	c, err := s.api.CheckoutSessions.Get(sessionID, &stripe.CheckoutSessionParams{Params: params(ctx, "")})
	switch {
	case missing(err):
		return nil
	case err != nil:
		return explained("read the checkout", err)
	case c.Mode == stripe.CheckoutSessionModeSubscription && c.Status == stripe.CheckoutSessionStatusComplete &&
		c.PaymentStatus != stripe.CheckoutSessionPaymentStatusUnpaid && c.Subscription == nil:
		return errNotYet
	default:
		return nil
	}
}

// whose finds the account of an event's customer. A customer that we do not know may still name an account of ours:
// if that has no customer it is the account's own, else it is a second one, and flagged. There is an outcome unless the
// customer is the account's own.
func (s *Service) whose(ctx context.Context, e *models.StripeEvent) (accountID, outcome string, err error) {
	accountID, err = s.store.AccountOfCustomer(ctx, e.CustomerID)
	if models.ErrorCode(err) != models.CodeNotFound {
		return accountID, "", err
	}
	c, err := s.api.Customers.Get(e.CustomerID, &stripe.CustomerParams{Params: params(ctx, "")})
	if missing(err) {
		return "", "the customer is not at Stripe any more", nil
	}
	if err != nil {
		return "", "", explained("read the customer", err)
	}
	named := c.Metadata[accountKey]
	if c.Deleted || named == "" {
		return "", "nobody's customer here", nil
	}
	accountID, own, err := s.claim(ctx, e.CustomerID, named)
	switch {
	case models.ErrorCode(err) == models.CodeNotFound:
		s.log.WarnContext(ctx, "a customer at Stripe names an account that is not here, and may pay for nothing: look at it in Stripe's dashboard",
			"event", e.ID, "type", e.Type, "customer", e.CustomerID, "account", named)
		return "", "the customer names an account that does not exist", nil
	case err != nil:
		return "", "", err
	case !own:
		return accountID, "a second customer of account " + accountID + "; flagged", nil
	default:
		return accountID, "", nil
	}
}

// claim makes a customer that names an account the account's own, if that has none; else it is a second one, and flagged.
func (s *Service) claim(ctx context.Context, customerID, named string) (accountID string, own bool, err error) {
	account, err := s.store.BilledAccount(ctx, named) // whoever pays for one that is closed is not forgotten
	if err != nil {
		return "", false, err
	}
	b, err := s.store.BillingAccount(ctx, account.ID)
	if err != nil {
		return "", false, err
	}
	if b.CustomerID == nil {
		return account.ID, true, s.adopt(ctx, account.ID, customerID)
	}
	detail := fmt.Sprintf("Stripe's customer %s names this account, whose own is %s: see which one pays", customerID, *b.CustomerID)
	return account.ID, false, s.store.RaiseFlag(ctx, flag(account.ID, models.FlagSecondCustomer, customerID, detail))
}

// adopt makes a customer the account's own, if it has none: ours to begin with, but the database that knew so was lost
// or set back.
func (s *Service) adopt(ctx context.Context, accountID, customerID string) error {
	return s.locked(ctx, accountID, func(ctx context.Context, l store.Lease) error {
		b, err := s.store.BillingAccount(ctx, accountID)
		if err != nil || b.CustomerID != nil {
			return err
		}
		b.CustomerID = &customerID
		return s.store.SaveBilling(ctx, l, b)
	})
}

// endGrace looks at the accounts whose time of grace is over.
func (s *Service) endGrace(ctx context.Context) {
	asked, cancel := s.store.Bounded(ctx)
	ids, err := s.store.GraceEnded(asked, s.stripeNow(), claimed)
	cancel()
	if err != nil {
		s.log.WarnContext(ctx, "accounts past their grace cannot be read now", "error", err)
	}
	for _, id := range ids {
		if _, err := s.Sync(ctx, id, Cause{Actor: "system", Reason: "the time of grace is over"}); err != nil {
			s.log.WarnContext(ctx, "an account past its grace could not be looked at; it is tried again", "account", id, "error", err)
		}
	}
}
