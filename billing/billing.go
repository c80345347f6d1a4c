// Package billing moves accounts between the plans for money, through Stripe.
//
// An account's plan follows from one thing only: what Stripe answers when it is asked about the customer's
// subscriptions (Service.Sync). Webhooks, the page after checkout, the operator's commands and the hourly reconcile are
// only reasons to ask; nothing depends on events arriving once, in order, or at all.
package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
)

// APIVersion is the version of Stripe's API that stripe-go v76 speaks.
const APIVersion = stripe.APIVersion

// accountKey is the metadata key under which Stripe's objects carry our account's id.
const accountKey = "lottery_account"

// Options configures a Service.
type Options struct {
	Store     *store.Store
	Stripe    configs.Stripe
	PublicURL string           // of the web pages, without a trailing slash
	Now       func() time.Time // nil = time.Now
	// StripeNow is the clock that Stripe's times are compared with: the ends of periods, sessions and grace. nil = what
	// Stripe's answers say. Those do not tell where Stripe's clock can be moved, as in the sandbox.
	StripeNow func() time.Time
	Log       *slog.Logger
	// Transport reaches Stripe; nil = http.DefaultTransport.
	Transport http.RoundTripper
	// Retries is how often the SDK resends a request that failed in transit; the idempotency key makes that safe.
	Retries int64
	// Pace is the pause between two accounts of a reconcile; 0 = a default that respects Stripe's rate limits.
	Pace time.Duration
}

// Service talks to Stripe and stores what follows. It is safe for concurrent use, on any number of nodes.
type Service struct {
	store     *store.Store
	api       *client.API
	cfg       configs.Stripe
	publicURL string
	now       func() time.Time
	stripeNow func() time.Time
	log       *slog.Logger
	pace      time.Duration
	leaseFor  time.Duration
	wake      chan struct{} // signalled when an event has arrived

	graceEvery  time.Duration // how often Run looks for accounts past their grace
	inboxOutage store.Outage  // Run's alone

	busyMu sync.Mutex
	busy   map[string]bool // customers whose events are being worked on

	toldMu sync.Mutex
	told   map[string]untold
}

// requestTimeout bounds one request to Stripe.
const requestTimeout = 10 * time.Second

// New makes a Service. It sends nothing to Stripe.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	theirs := &stripeClock{local: o.Now}
	if o.StripeNow == nil {
		o.StripeNow = theirs.now
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	backend := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: requestTimeout, Transport: answers{o.Transport, theirs}},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // its messages may contain secrets
		MaxNetworkRetries: new(o.Retries),
		EnableTelemetry:   new(false),
	}
	if o.Stripe.APIURL != "" {
		backend.URL = new(o.Stripe.APIURL)
	}
	api := stripe.GetBackendWithConfig(stripe.APIBackend, backend)
	return &Service{
		store: o.Store, api: client.New(o.Stripe.SecretKey, &stripe.Backends{API: api}), cfg: o.Stripe, publicURL: o.PublicURL,
		now: func() time.Time { return o.Now().UTC() }, stripeNow: func() time.Time { return o.StripeNow().UTC() },
		log: o.Log, pace: cmp.Or(o.Pace, pace), leaseFor: leaseFor, graceEvery: graceEvery, wake: make(chan struct{}, 1),
		busy: map[string]bool{}, told: map[string]untold{},
	}
}

const (
	// leaseFor is how long a process that died blocks an account or an event.
	leaseFor = 15 * time.Second
	// workFor bounds one piece of work under an account's lock.
	workFor = 50 * time.Second
	// lockWait is how long to wait for an account that another process is working on.
	lockWait = 20 * time.Second
)

// locked runs fn while no other process or node works on the account's billing.
func (s *Service) locked(ctx context.Context, accountID string, fn func(ctx context.Context, l store.Lease) error) error {
	return s.alone(ctx, "billing:"+accountID, "the billing of account "+accountID, func(ctx context.Context, l store.Lease) error {
		return s.safely(ctx, func() error { return fn(ctx, l) }, "account", accountID)
	})
}

// alone runs fn under the lease of that name. work says in an error what it is for.
func (s *Service) alone(ctx context.Context, lease, work string, fn func(ctx context.Context, l store.Lease) error) error {
	deadline := time.Now().Add(lockWait)
	for pause := 4 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		asked, cancel := s.store.Bounded(ctx)
		l, ok, err := s.store.TryLease(asked, lease, s.leaseFor)
		cancel()
		if err != nil {
			return err
		}
		if ok {
			return s.hold(ctx, l, fn)
		}
		if time.Now().After(deadline) {
			return busy(work, nil)
		}
		select {
		case <-ctx.Done():
			return busy(work, ctx.Err())
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

func busy(work string, why error) error {
	return &models.Error{Code: models.CodeUnavailable, Message: "another process is working on " + work + "; try again in a moment", Err: why}
}

// hold runs fn while renewing the lease l, and ends the lease afterwards. If the lease is lost, or cannot be renewed in
// time, fn's context is cancelled.
func (s *Service) hold(ctx context.Context, l store.Lease, fn func(ctx context.Context, l store.Lease) error) error {
	work, cancel := context.WithTimeout(ctx, workFor)
	defer cancel()
	var holding sync.WaitGroup
	holding.Go(func() { s.store.HoldLease(work, l, s.leaseFor, cancel) })
	err := fn(work, l)
	cancel()
	holding.Wait()
	after, cancelEnd := s.store.Lasting(ctx)
	defer cancelEnd()
	return errors.Join(err, s.store.EndLease(after, l))
}

// safely calls do and turns a panic into an error: an unexpected answer about one customer must not bring down the
// server for everybody.
func (s *Service) safely(ctx context.Context, do func() error, about ...any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v; the server's log has more", p)
			s.log.ErrorContext(ctx, "billing panicked; this piece of work failed, the server goes on", append(about, "panic", p, "stack", string(debug.Stack()))...)
		}
	}()
	return do()
}

// params returns what every request to Stripe carries; key is the idempotency key of a POST, "" = none.
func params(ctx context.Context, key string) stripe.Params {
	p := stripe.Params{Context: ctx}
	if key != "" {
		p.IdempotencyKey = new(key)
	}
	return p
}

func listParams(ctx context.Context) stripe.ListParams {
	return stripe.ListParams{Context: ctx, Limit: stripe.Int64(100)}
}
