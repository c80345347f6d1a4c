package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lottery/api/middleware"
	"lottery/api/quota"
	"lottery/billing"
	"lottery/configs"
	"lottery/jobs"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/models/store"
	"lottery/web"
	"lottery/web/mail"
)

// How long the steps of shutting down may take.
const (
	shutdownTimeout = 30 * time.Second
	quotaTimeout    = 5 * time.Second
	flushTimeout    = 5 * time.Second
	// lastRequests is how long requests that are on their way on a kept connection have to arrive: a long way around
	// the world.
	lastRequests = 250 * time.Millisecond
)

// serveOptions is where serve and demo differ.
type serveOptions struct {
	migrate bool
	demo    bool
	// unmetered replaces the quota in a benchmark that measures what the quota costs; nil = the quota.
	unmetered func(http.Handler) http.Handler
	stripeNow func() time.Time // the clock of demo's stand-in for Stripe; nil = this machine's
	mailbox   *mail.Mailbox    // receives the demo's mails; nil = they are sent
	trace     *tracing         // nil = nothing is traced
	log       *slog.Logger
	listener  net.Listener      // listens already; nil = the node listens once its index is loaded
	started   func(addr string) // called once the index is loaded; may be nil
}

// node is one running server.
type node struct {
	cfg      configs.Config
	log      *slog.Logger
	store    *store.Store
	live     catalog.Live
	keys     *middleware.Keys
	quota    *quota.Store // nil = nobody counts
	usage    *quota.Usage
	warn     *quota.Warnings
	billing  *billing.Service // nil = nothing is sold
	counters quota.Backend    // nil = nobody counts
	mailbox  *mail.Mailbox    // nil unless this is the demo
	outbox   *web.Outbox      // nil = no mail is sent
	metrics  *prometheus.Registry
	index    *jobs.CatalogMetrics
	traffic  *middleware.Traffic
	trace    *tracing // nil = nothing is traced
	conns    *middleware.Connections
	drained  atomic.Bool // shutting down

	unmetered func(http.Handler) http.Handler
	work      sync.WaitGroup
}

// serve runs a server until ctx ends or a listener fails, then lets requests in flight finish.
func serve(ctx context.Context, cfg configs.Config, opts serveOptions) error {
	slog.SetDefault(opts.log) // net/http's client logs oddities there
	if cfg.LeadsAstray() && !opts.demo {
		opts.log.Warn("public_url only works on this machine: links in emails and from Stripe lead nowhere for everybody else; set it to the address that people type", "public_url", cfg.PublicURL.String())
	}
	if !cfg.Stripe.On() && len(cfg.Stripe.WebhookSecrets) > 0 {
		opts.log.Warn("billing is off: stripe_webhook_secret is set, but stripe_secret_key is not; " +
			"Stripe's events are refused, and plans stay as they are, whoever pays or cancels")
	}
	st, err := store.Open(ctx, cfg.DatabaseURL, store.Options{
		Existing: !opts.migrate,
		Renewed:  configs.Renewed(cfg.DatabaseURL, cfg.DatabaseURLFile, opts.log),
		Waiting:  func(why string) { opts.log.Warn("the start waits for the database", "reason", why) },
	})
	if err != nil {
		return err
	}
	defer st.Close() //nolint:errcheck // everything is committed
	isDemo, err := st.IsDemo(ctx)
	if err != nil {
		return err
	}
	if isDemo && !opts.demo {
		return models.Errorf(models.CodeConflict, "this database belongs to the demo and contains made-up draws; use another one (`lotteryapi demo` serves this one)")
	}
	if err := st.Prepare(ctx, opts.migrate); err != nil {
		return err
	}
	n := &node{cfg: cfg, log: opts.log, store: st, mailbox: opts.mailbox, metrics: prometheus.NewRegistry(), trace: opts.trace}
	defer n.trace.close(ctx, n.log)
	n.measure()
	n.billing = newBilling(&cfg, st, opts.stripeNow, n.trace.client("stripe", nil), opts.log)
	if err := st.AwaitShort(ctx, func(ctx context.Context) (err error) {
		n.keys, err = middleware.NewKeys(ctx, st, cfg.Plans, time.Now, opts.log)
		return err
	}); err != nil {
		return err
	}
	if n.unmetered = opts.unmetered; n.unmetered != nil {
		return n.run(ctx, opts)
	}
	backend, closeBackend, err := quota.OpenBackend(cfg, st, opts.log)
	if err != nil {
		return err
	}
	defer closeBackend() //nolint:errcheck // everything is written
	options := quota.OptionsFor(cfg, st)
	options.Log, options.Metrics = opts.log, quota.NewMetrics()
	options.Metrics.Register(n.metrics)
	n.counters, n.quota = backend, quota.New(backend, options)
	n.usage = quota.NewUsage(st, time.Now, opts.log)
	n.warn = quota.NewWarnings(st, n.quota.Now, opts.log)
	return errors.Join(n.run(ctx, opts), n.closeQuota(ctx))
}

// closeQuota returns what the node holds in advance, and writes what counters and statistics do not know yet.
func (n *node) closeQuota(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), quotaTimeout)
	defer cancel()
	return errors.Join(n.quota.Close(ctx), n.usage.Flush(ctx))
}

func (n *node) run(ctx context.Context, opts serveOptions) error {
	server, err := n.server()
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	ops, err := n.serveOps(ctx, server.Handler, failed)
	if err != nil {
		return err
	}
	if ops != nil {
		defer ops.Close() //nolint:errcheck // for a start that fails
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	refresher := &jobs.Refresher{Store: n.store, Live: &n.live, Log: n.log, Metrics: n.index}
	if err := n.store.Await(ctx, refresher.Refresh); err != nil {
		if ctx.Err() != nil { // told to stop before the index was complete
			return nil
		}
		return err
	}
	// Only now: a proxy passes over a node that refuses connections, but would send customers to one that cannot answer.
	listener := opts.listener
	if listener == nil {
		if listener, err = listenOn(ctx, "listen", n.cfg.Listen); err != nil {
			return err
		}
	}
	public := n.conns.Listen(listener)
	go func() { failed <- server.Serve(public) }()
	n.log.Info("listening", "addr", listener.Addr().String(), "public_url", n.cfg.PublicURL.String(),
		"version", models.BuildVersion().String(), "database", n.store.Dialect())

	n.work.Go(func() { paceGC(background) })
	n.work.Go(func() { refresher.Run(background) })
	n.work.Go(func() { n.keys.Run(background) })
	if n.outbox != nil {
		n.work.Go(func() { n.outbox.Run(background) })
	}
	if n.billing != nil {
		n.work.Go(func() { n.billing.Run(background) })
	}
	n.runJobs(background)
	if n.quota != nil {
		n.work.Go(func() { n.usage.Run(background) })
		n.work.Go(func() { n.warn.Run(background) })
	}
	if opts.started != nil {
		opts.started(listener.Addr().String())
	}
	var fault error
	select {
	case err := <-failed:
		fault = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	after := context.WithoutCancel(ctx) // the rest must outlive the signal that ended ctx
	n.drain(public)
	err = errors.Join(fault, n.shutdown(after, server, ops))
	stop()
	n.work.Wait()
	n.flushKeys(after)
	n.log.Info("stopped")
	return err
}

// flushKeys stores the keys' last uses, waiting for the database no longer than flushTimeout.
func (n *node) flushKeys(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	n.keys.Flush(ctx)
}

// drain lets load balancers notice, and clients leave: from now on each answer tells its client that the connection ends.
// Once nobody can connect any more, requests that are on their way on a kept connection have lastRequests to arrive:
// net/http's Shutdown closes such connections at once.
func (n *node) drain(listener io.Closer) {
	n.drained.Store(true)
	n.conns.Leave()
	n.log.Info("shutting down", "drain_delay_ms", n.cfg.DrainDelay.Milliseconds())
	time.Sleep(n.cfg.DrainDelay)
	_ = listener.Close() // Shutdown may close it again
	n.conns.Wait(lastRequests)
}

// shutdown waits for requests in flight. Those that do not finish in time are cut off: that is their clients' fault, and
// no error of the shutdown.
func (n *node) shutdown(ctx context.Context, servers ...*http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	var errs []error
	for _, s := range servers {
		if s == nil {
			continue
		}
		err := s.Shutdown(ctx)
		switch {
		case err == nil:
		case errors.Is(err, context.DeadlineExceeded):
			n.log.Warn("requests that did not end in time were cut off", "after_ms", shutdownTimeout.Milliseconds())
			errs = append(errs, s.Close())
		default:
			errs = append(errs, fmt.Errorf("stop: %w", err), s.Close())
		}
	}
	return errors.Join(errs...)
}

// listenOn listens on an option's address.
func listenOn(ctx context.Context, option, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, cannotListen(option, address, err)
	}
	return listener, nil
}

// cannotListen returns why an option's address cannot be listened on, and what to do about it.
func cannotListen(option, address string, err error) error {
	advice := ""
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case unknown:
		advice = ": give an address of this machine; 0.0.0.0 stands for all of them"
	case errors.Is(err, syscall.EADDRINUSE):
		advice = ": is another server running? Stop it, or set " + option + " (LOTTERY_" + strings.ToUpper(option) + ") to another address"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = ": this machine does not have that address; 0.0.0.0 stands for all of its addresses"
	case errors.Is(err, syscall.EACCES):
		advice = ": this user is not allowed to; ports below 1024 need a privilege, so use a higher one and put a proxy in front"
	}
	return models.Errorf(models.CodeUnavailable, "cannot listen on %s (%s): %v%s", address, option, rootError(err), advice)
}

// rootError returns the innermost cause: "address already in use" rather than the whole chain.
func rootError(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
