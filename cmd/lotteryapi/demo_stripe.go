package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
)

// demoStripe is the demo's stand-in for Stripe, on a loopback port of its own.
type demoStripe struct {
	sandbox *sandbox.Sandbox
	server  *http.Server
	url     string
}

// startDemoStripe serves the stand-in, sets up there what selling needs, and points cfg at it. folder keeps what was
// paid in earlier demos.
func startDemoStripe(ctx context.Context, cfg *configs.Config, folder string) (*demoStripe, error) {
	listener, err := listenBeside(ctx, cfg.Listen)
	if err != nil {
		return nil, err
	}
	d := &demoStripe{url: "http://" + listener.Addr().String()}
	if d.sandbox, err = sandbox.New(sandbox.Options{
		URL: d.url, File: filepath.Join(folder, "demo-stripe.json"),
	}); err != nil {
		return nil, errors.Join(fmt.Errorf("start the stand-in for Stripe: %w", err), listener.Close())
	}
	d.server = &http.Server{Handler: d.sandbox, ReadHeaderTimeout: readHeaderTimeout}
	go func() { _ = d.server.Serve(listener) }()
	cfg.Stripe.SecretKey, cfg.Stripe.APIURL = sandbox.DefaultKey, d.url
	if cfg.Stripe.WebhookSecrets, err = d.setup(ctx, cfg); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// setup does what an operator does with `lotteryadmin billing setup`; it returns the webhook's secrets.
func (d *demoStripe) setup(ctx context.Context, cfg *configs.Config) ([]string, error) {
	st, err := store.Open(ctx, cfg.DatabaseURL, store.Options{})
	if err != nil {
		return nil, err
	}
	defer st.Close() //nolint:errcheck // everything is committed
	service := billing.New(billing.Options{Store: st, Stripe: cfg.Stripe, PublicURL: cfg.PublicURL.String(), StripeNow: d.sandbox.Now})
	done, err := service.Setup(ctx)
	if err != nil {
		return nil, fmt.Errorf("set the stand-in for Stripe up: %w", err)
	}
	if done.WebhookSecret != "" {
		return []string{done.WebhookSecret}, nil
	}
	for _, step := range done.Steps {
		if step.Thing == "webhook" { // made by an earlier demo; its secret was shown only then
			secret, err := d.sandbox.RollSecret(step.ID, 0)
			return []string{secret}, err
		}
	}
	return nil, errors.New("the stand-in for Stripe has no webhook endpoint")
}

func (d *demoStripe) close() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	_ = d.server.Shutdown(ctx)
	_ = d.sandbox.Close(ctx) // saves what was paid
}

// listenBeside listens on the loopback port after listen's, so that URLs stay the same across restarts; if that is
// taken, on any free one.
func listenBeside(ctx context.Context, listen string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, models.Errorf(models.CodeInvalid, "--listen: %v", err)
	}
	var l net.ListenConfig
	if n, err := strconv.Atoi(port); err == nil && n > 0 && n < 65535 {
		if listener, err := l.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n+1))); err == nil {
			return listener, nil
		}
	}
	listener, err := l.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, models.Errorf(models.CodeUnavailable, "no port is free for the stand-in for Stripe: %v", err)
	}
	return listener, nil
}
