// Package sandbox is a stand-in for Stripe: an HTTP server that keeps customers, prices, checkout sessions,
// subscriptions, invoices and the rest in memory, answers as API version 2023-10-16, shows the hosted pages, sends
// signed webhooks, and misbehaves on demand. No money moves, and nothing outside is contacted.
//
// Its clock can be moved (Advance), and whatever falls due happens on the way: renewals, retries of failed payments,
// ends of periods, redeliveries of webhooks. What Stripe does within an hour of a renewal (finalizing the invoice, the
// first attempt to collect) happens here immediately. It has no more of Stripe than billing and its tests use, and
// refuses parameters that it does not know, even if Stripe knows them.
package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options configures New. The zero value works: a test key, a random seed, the real clock, no file.
type Options struct {
	// URL is where the hosted pages are reached, without a trailing slash. "" = where the request came to.
	URL string
	// SecretKey is the key that the API accepts, "" = DefaultKey. If it begins with sk_live_, every object is livemode.
	SecretKey string
	// Now is the clock beneath the sandbox's own, which Advance moves ahead of it. nil = time.Now, and what becomes
	// due happens by itself; otherwise it happens at the next Advance, Quiesce or request.
	Now func() time.Time
	// SignNow is the clock of webhook signatures: receivers compare it with their own. nil = Now, not moved.
	SignNow func() time.Time
	// Seed determines ids, secrets and random orders. 0 = a new one each time, so that a database that outlives the
	// sandbox never sees an old id again.
	Seed uint64
	// File keeps the state across restarts, with mode 0600. "" = memory only.
	File string
	// Client sends webhooks. nil = a default one. Redirects are never followed.
	Client *http.Client
	// Workers is the most webhooks in flight at once. 0 = 4; 1 = one after the other, in order.
	Workers int
}

// DefaultKey is the secret key of a sandbox that was given none.
const DefaultKey = "sk_test_sandbox"

// Dunning is what happens after a renewal that could not be paid.
type Dunning struct {
	// Retries is the time from one failed attempt to the next.
	Retries []time.Duration `json:"retries"`
	// End is the status after the last failed attempt: "canceled", "unpaid" or "past_due".
	End string `json:"end"`
}

const day = 24 * time.Hour

// DefaultDunning tries again after 3, 5 and 7 days, and cancels.
func DefaultDunning() Dunning {
	return Dunning{Retries: []time.Duration{3 * day, 5 * day, 7 * day}, End: statusCanceled}
}

// Sandbox is a stand-in for one Stripe account. It is an http.Handler for the API, the pages and the controls.
type Sandbox struct {
	opts Options
	live bool
	web  func() http.Handler // made on first use: most tests ask for no page

	mu     sync.Mutex // guards all fields below, and everything reachable from them
	d      data       // what survives a restart
	byID   map[string]record
	agenda agenda
	at     int64 // Unix seconds of the step that is being run, 0 = none
	dice   *mathrand.Rand
	origin string
	timer  *time.Timer
	faults faults
	calls  []Call
	// inflight holds the idempotency keys of requests being processed.
	inflight map[string]bool
	idle     *sync.Cond // signals that a worker ended, or that a request is done

	queue   []*delivery // to be sent at once
	workers int         // under way
	closed  bool
	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	done    sync.WaitGroup

	dirty   bool
	saving  bool
	writing sync.Mutex // guards the file; taken before mu
}

// data is what survives a restart.
type data struct {
	Seq      uint64        `json:"seq"`
	Seed     uint64        `json:"seed"`
	Offset   time.Duration `json:"offset"`
	Version  string        `json:"event_version"`
	Dunning  Dunning       `json:"dunning"`
	Requests uint64        `json:"requests"`

	Customers   table[*customer]      `json:"customers"`
	Products    table[*product]       `json:"products"`
	Prices      table[*price]         `json:"prices"`
	Sessions    table[*session]       `json:"checkout_sessions"`
	Subs        table[*subscription]  `json:"subscriptions"`
	Invoices    table[*invoice]       `json:"invoices"`
	Charges     table[*charge]        `json:"charges"`
	Disputes    table[*dispute]       `json:"disputes"`
	Configs     table[*portalConfig]  `json:"portal_configurations"`
	Portals     table[*portalSession] `json:"portal_sessions"`
	Endpoints   table[*endpoint]      `json:"webhook_endpoints"`
	Events      table[*event]         `json:"events"`
	Deliveries  table[*delivery]      `json:"deliveries"`
	Idempotency map[string]*saved     `json:"idempotency"`
}

// New makes a sandbox, from its file if there is one. The caller must Close it.
func New(opts Options) (*Sandbox, error) {
	opts.SecretKey = cmp.Or(opts.SecretKey, DefaultKey)
	opts.Workers = cmp.Or(opts.Workers, 4)
	opts.Client = deliveryClient(opts.Client)
	s := &Sandbox{opts: opts, live: strings.HasPrefix(opts.SecretKey, "sk_live_"), byID: map[string]record{}, inflight: map[string]bool{}}
	s.idle = sync.NewCond(&s.mu)
	s.d.Seed = opts.Seed
	if s.d.Seed == 0 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails (crypto/rand)
		s.d.Seed = binary.LittleEndian.Uint64(b[:])
	}
	s.d.Dunning = DefaultDunning()
	s.d.Idempotency = map[string]*saved{}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if opts.File != "" {
		if err := s.load(); err != nil {
			s.stop()
			return nil, err
		}
	}
	s.dice = mathrand.New(mathrand.NewPCG(s.d.Seed, s.d.Seq))
	s.web = sync.OnceValue(s.routesOfPages)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	return s, nil
}

// Close ends all deliveries, waits for them until ctx ends, and writes the file. It may be called again.
func (s *Sandbox) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.stop()
	ended := make(chan struct{})
	go func() {
		s.done.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("webhooks are still under way: %w", ctx.Err())
	}
	return s.save()
}

// ServeHTTP answers the API (/v1/…), the hosted pages (/c/…, /p/…) and the controls (/_sandbox…).
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		s.serveAPI(w, r)
		return
	}
	s.web().ServeHTTP(w, r)
}
