package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"lottery/configs"
	"lottery/jobs"
	"lottery/models"
	"lottery/models/store"
	"lottery/web/mail"
)

// demoAccounts are the accounts that the demo's keys belong to.
var demoAccounts = []struct {
	plan  models.Plan
	email string
}{
	{models.PlanFree, "free@demo.example"},
	{models.PlanPro, "pro@demo.example"},
}

// demoOptions returns where the demo's options come from: its own values, and LOTTERY_LISTEN, in case another program
// has the usual port. Nothing else in the environment is read: it may be meant for a real server.
func demoOptions(c *cli.Context, getenv func(string) string) configs.Source {
	src := configs.Source{
		Flags: map[string]string{
			"database_url": "sqlite:" + filepath.Join(c.String("data"), "demo.db"), "log_level": "warn", "support_email": "support@demo.example",
		},
		Getenv: func(name string) string {
			if name == "LOTTERY_LISTEN" {
				return getenv(name)
			}
			return ""
		},
	}
	if c.IsSet("listen") {
		src.Flags["listen"] = strings.TrimSpace(c.String("listen"))
	}
	return src
}

// demo serves made-up draws from a database of its own in folder, and prints how to call it.
func demo(ctx context.Context, options configs.Source, folder string, stdout io.Writer, lines *logLines) error {
	cfg, err := configs.Load(options)
	if err != nil {
		return err
	}
	// First of all, so that a second demo learns of the first before it waits for anything.
	listener, err := listenOn(ctx, "listen", cfg.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()                   //nolint:errcheck // for a start that fails
	if strings.HasSuffix(cfg.Listen, ":0") { // links in mails and payments need to lead back here
		cfg.Listen = listener.Addr().String()
	}
	ready, err := prepareDemo(ctx, cfg, folder)
	if err != nil {
		return err
	}
	if cfg.PublicURL, err = configs.LocalURL(cfg.Listen); err != nil {
		return models.Errorf(models.CodeInvalid, "listen: %v", err)
	}
	stripe, err := startDemoStripe(ctx, &cfg, folder)
	if err != nil {
		return err
	}
	defer stripe.close()
	return serve(ctx, cfg, serveOptions{
		migrate: true, demo: true, stripeNow: stripe.sandbox.Now, mailbox: &mail.Mailbox{}, log: newLogger(cfg, lines), listener: listener,
		started: func(string) {
			welcome(stdout, cfg.PublicURL.String(), stripe.url, filepath.Join(folder, "demo-keys"), &ready)
		},
	})
}

// welcome prints what there is to open and to try.
func welcome(w io.Writer, base, stripeURL, keysFile string, ready *readyDemo) {
	fmt.Fprintf(w, `
  Lottery draws API, demo: three made-up games, ten years of draws, two accounts.

  Open in a browser:  %s

  Free key (100 requests a day):     %s
  Pro key (10,000 requests a day):   %s

  Try it, in another terminal%s:

    curl -H 'X-API-Key: %s' '%s/v1/draws/recent?game=sample-pick-3&count=2'

  The whole API:  %s/openapi.yaml
  Mail:           %s/dev/mail shows what would have been sent
  Payments:       %s/_sandbox stands in for Stripe; no real money
  Stop with Ctrl-C. The keys stay the same; they are kept in %s.

`, base, ready.keys[models.PlanFree], ready.keys[models.PlanPro], ready.why, ready.keys[ready.try], base,
		base, base, stripeURL, keysFile)
}

// readyDemo is what the demo prints once it is ready.
type readyDemo struct {
	keys map[models.Plan]string
	try  models.Plan // the plan whose key the line to paste has
	why  string      // why that is not Free
}

// prepareDemo makes the demo's database and accounts, or brings those of an earlier start up to date.
func prepareDemo(ctx context.Context, cfg configs.Config, folder string) (readyDemo, error) {
	d := readyDemo{try: models.PlanFree}
	st, err := store.Open(ctx, cfg.DatabaseURL, store.Options{})
	if err != nil {
		return d, err
	}
	defer st.Close() //nolint:errcheck // everything is committed
	if err := claimDemo(ctx, st, folder); err != nil {
		return d, err
	}
	if err := st.Prepare(ctx, true); err != nil {
		return d, err
	}
	if err := jobs.FillSamples(ctx, st, time.Now()); err != nil {
		return d, fmt.Errorf("fill the demo: %w", err)
	}
	if d.keys, err = demoKeys(ctx, st, cfg.Plans, filepath.Join(folder, "demo-keys")); err != nil {
		return d, err
	}
	free, err := st.Account(ctx, demoAccounts[0].email)
	if err != nil {
		return d, err
	}
	used, _, err := st.CountedToday(ctx, free.ID)
	if err == nil && used >= int64(free.DailyLimit(cfg.Plans)) {
		d.try, d.why = models.PlanPro, " (with the Pro key, because the Free one has used up its day)"
	}
	return d, err
}

// claimDemo marks an empty database as the demo's, and refuses one that belongs to something else.
func claimDemo(ctx context.Context, st *store.Store, folder string) error {
	isDemo, err := st.IsDemo(ctx)
	if err != nil || isDemo {
		return err
	}
	empty, err := st.Empty(ctx)
	if err != nil {
		return err
	}
	if !empty {
		return models.Errorf(models.CodeConflict, "%s was not created by the demo, which will not touch it; move it away, or choose another folder with --data", filepath.Join(folder, "demo.db"))
	}
	return st.MarkDemo(ctx)
}
