package billing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lottery/models"
)

const (
	// workEvery is how often the inbox is checked when nothing wakes the worker: for events received by another node,
	// and for retries.
	workEvery = time.Second
	// graceEvery is how often to look for accounts whose grace period is over.
	graceEvery = time.Minute
	// claimed is how many events are claimed at once.
	claimed = 50
	// atOnce is how many customers of one batch are worked on concurrently, and batches how many batches are.
	atOnce  = 4
	batches = 4
	// firstRetry is the wait after the first failed attempt; it doubles up to lastRetry.
	firstRetry = time.Second
	lastRetry  = 10 * time.Minute
	// mostAttempts is the number of attempts, over about an hour, after which an event becomes a dead letter. That
	// loses nothing: the hourly reconcile does not depend on events.
	mostAttempts = 15
	// eventFor bounds the work on one event: twice waiting for its account's lock and working under it.
	eventFor = 3 * time.Minute
)

// Run processes the inbox until ctx ends.
func (s *Service) Run(ctx context.Context) {
	tick, grace := time.NewTicker(workEvery), time.NewTicker(s.graceEvery)
	defer tick.Stop()
	defer grace.Stop()
	var beside sync.WaitGroup // so that a customer for whom Stripe does not answer delays nobody else
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
			default: // the previous check is still running
			}
		}
	}
}

// kick wakes Run in this process.
func (s *Service) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// takeAll claims the due events, batch by batch while there is room, and starts a goroutine for each batch.
func (s *Service) takeAll(ctx context.Context, room chan struct{}, beside *sync.WaitGroup) {
	for ctx.Err() == nil {
		select {
		case room <- struct{}{}:
		default:
			return // the next batch that ends wakes Run
		}
		b, err := s.take(ctx)
		if ctx.Err() == nil {
			s.inboxOutage.Note(s.log, err, "the billing inbox cannot be worked on now", "the billing inbox can be worked on again")
		}
		if b == nil {
			<-room
			return
		}
		beside.Go(func() {
			defer s.kick() // more may be due: of this batch's customers, or of others that found no room
			defer func() { <-room }()
			s.workOff(ctx, b)
		})
	}
}

// batch is a set of events claimed together, and their customers.
type batch struct {
	events    []models.StripeEvent
	customers []string
}

// take claims due events, or returns nil if there are none. Events of customers already being worked on wait, so that a
// customer who takes long occupies only one goroutine.
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

// done marks a customer's events as no longer worked on.
func (s *Service) done(customer string) {
	s.busyMu.Lock()
	defer s.busyMu.Unlock()
	delete(s.busy, customer)
}

// workOff processes a batch.
func (s *Service) workOff(ctx context.Context, b *batch) {
	events := s.giveUp(ctx, b.events)
	// One customer's events are processed in sequence. All of them had arrived before the first is processed, so one
	// sync serves every one that means nothing but "sync"; and if Stripe does not answer for one, it is not asked again
	// for those.
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
		wg.Go(func() {
			defer func() { <-room }()
			if !left.Load() && !s.workOn(ctx, customer, queues[customer], mine) && ctx.Err() != nil {
				left.Store(true) // this process is stopping and could not store a result: the other claims run out
			}
			s.done(customer)
		})
	}
	wg.Wait()
}

// workOn processes the events of one customer. It returns false if a result could not be stored.
func (s *Service) workOn(ctx context.Context, customer string, queue []models.StripeEvent, mine *claims) (stored bool) {
	served, account, own := "", "", false
	var away error
	for i := range queue {
		e := &queue[i]
		outcome, err := served, away
		switch {
		case served != "" && onlySignal(e.Type) && (own || e.Type != invoicePaid):
			e.AccountID = account
			err = s.name(ctx, e)
		case away != nil && onlySignal(e.Type):
		default:
			err = s.safely(ctx, func() (err error) {
				outcome, own, err = s.follow(ctx, e)
				return err
			}, "event", e.ID, "type", e.Type)
		}
		mine.drop(e.ID)
		if !s.settle(ctx, e, outcome, err) {
			return false // the database does not answer; the rest is claimed again when these claims run out
		}
		switch {
		case customer == "": // no customer is named: these events may be about different ones
		case err == nil:
			served, account, away = outcome, e.AccountID, nil
		case models.ErrorCode(err) == models.CodeUnavailable:
			away = err
		}
	}
	return true
}

// errNeverEnded is the outcome of an event that no server lived to finish.
var errNeverEnded = fmt.Errorf("it was begun %d times, and the server ended each time before it was done: see its log for why", mostAttempts)

// giveUp turns events that were begun too often into dead letters and returns the others. An event that is begun but
// never settled may be what kills the servers; settle, which otherwise counts the attempts, is never reached for it.
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

// byAttempts returns the customers in working order: those whose events were tried least come first, so that an event
// which kills the server takes few others down with it.
func byAttempts(queues map[string][]models.StripeEvent) []string {
	most := func(customer string) (n int) {
		for i := range queues[customer] {
			n = max(n, queues[customer][i].Attempts)
		}
		return n
	}
	return slices.SortedFunc(maps.Keys(queues), func(a, b string) int { return cmp.Compare(most(a), most(b)) })
}

// claims holds the ids of a batch's events that are not settled yet.
type claims struct {
	mu  sync.Mutex
	ids []string
}

func (c *claims) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = slices.DeleteFunc(c.ids, func(s string) bool { return s == id })
}

// keepClaims renews the claims on events until release is called, so that no other node takes them. Events that c.drop
// removes are no longer renewed.
func (s *Service) keepClaims(ctx context.Context, events []models.StripeEvent) (c *claims, release func()) {
	c = &claims{}
	for i := range events {
		c.ids = append(c.ids, events[i].ID)
	}
	ctx, cancel := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() {
		tick := time.NewTicker(s.leaseFor / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.renew(ctx, c)
			}
		}
	})
	return c, func() {
		cancel()
		keeping.Wait()
	}
}

// renew extends claims once.
func (s *Service) renew(ctx context.Context, c *claims) {
	ctx, cancel := context.WithTimeout(ctx, s.leaseFor/3)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := s.store.KeepClaims(ctx, c.ids, s.leaseFor); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "events are worked on, and another node may begin to as well", "events", len(c.ids), "error", err)
	}
}

// onlySignal reports whether events of a type lead to nothing but a sync.
func onlySignal(kind string) bool {
	return kind != "checkout.session.completed" && !strings.HasPrefix(kind, "charge.")
}

// settle stores what became of an event. It returns false if that failed.
func (s *Service) settle(ctx context.Context, e *models.StripeEvent, outcome string, err error) (stored bool) {
	state, wait := models.EventDone, time.Duration(0)
	switch {
	case err == nil:
	case ctx.Err() != nil: // this process is stopping: another takes the event at once
		state, outcome = models.EventPending, "the server working on it stopped"
	case e.Attempts >= mostAttempts:
		state, outcome = models.EventFailed, err.Error()
		s.log.ErrorContext(ctx, "an event is given up; `lotteryadmin billing events retry` tries it again", "event", e.ID, "type", e.Type, "error", err)
	default:
		state, outcome, wait = models.EventPending, err.Error(), backoff(e.Attempts)
		s.postponed(ctx, e, err)
	}
	after, cancel := s.store.Lasting(ctx)
	defer cancel()
	if err := s.store.SettleEvent(after, *e, state, outcome, wait); err != nil {
		s.log.ErrorContext(ctx, "what became of an event could not be stored; it will be worked on again", "event", e.ID, "error", err)
		return false
	}
	return true
}

// postponed logs why an event will be tried again. While Stripe is away, that is so for every event, and told once a
// minute.
func (s *Service) postponed(ctx context.Context, e *models.StripeEvent, err error) {
	const text = "an event will be tried again"
	times := 1
	if models.ErrorCode(err) == models.CodeUnavailable {
		if times = s.untold(text); times == 0 {
			return
		}
	}
	s.log.WarnContext(ctx, text, "event", e.ID, "type", e.Type, "attempt", e.Attempts, "error", err, "times", times)
}

// backoff returns how long to wait after the given attempt, counted from 1.
func backoff(attempt int) time.Duration {
	d := min(firstRetry<<min(attempt-1, 20), lastRetry)
	return d/2 + rand.N(d/2)
}

// endGrace syncs the accounts whose grace period is over.
func (s *Service) endGrace(ctx context.Context) {
	asked, cancel := s.store.Bounded(ctx)
	ids, err := s.store.GraceEnded(asked, s.stripeNow())
	cancel()
	if err != nil {
		s.log.WarnContext(ctx, "accounts past their grace cannot be read now", "error", err)
	}
	for _, id := range ids {
		if _, err := s.Sync(ctx, id, Cause{Actor: "system", Reason: "the grace period is over"}); err != nil {
			s.log.WarnContext(ctx, "an account past its grace could not be looked at; it is tried again", "account", id, "error", err)
		}
	}
}
