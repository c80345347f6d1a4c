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
	tick, grace := time.NewTicker(workEvery), time.NewTicker(s.graceEvery)
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
		state, outcome = models.EventPending, "the server working on it stopped"
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

// endGrace looks at the accounts whose time of grace is over.
func (s *Service) endGrace(ctx context.Context) {
	asked, cancel := s.store.Bounded(ctx)
	ids, err := s.store.GraceEnded(asked, s.stripeNow(), claimed)
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
