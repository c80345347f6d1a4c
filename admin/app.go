// Package admin is lotteryadmin, the operator's tool: its commands, one file per noun.
//
// A command gets its flags and arguments from urfave/cli's context, calls the store, and prints the object that it
// showed or changed. Results go to stdout, everything else to stderr.
package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"lottery/configs"
	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
)

// Env is the tool's view of the outside world.
type Env struct {
	Getenv func(string) string
	// Environ holds all variables, "NAME=value": misspelt ones are reported.
	Environ []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	// Now is the clock; nil = time.Now.
	Now func() time.Time
	// IsTerminal reports whether one of the three streams is a terminal; nil = ask the operating system.
	IsTerminal func(stream any) bool
}

// The exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitRejected = 3
	exitNotFound = 4
	exitConflict = 5
)

// rejectedError means that an import was done without some of the rows.
type rejectedError struct{ text string }

func (e rejectedError) Error() string { return e.text }

// Run executes one command line (args without the program's name) and returns the exit code: 0 done, 1 failed, 2 usage,
// 3 done but some rows rejected, 4 not found, 5 conflict.
func Run(ctx context.Context, args []string, env Env) int {
	t := newTool(ctx, env)
	err := t.run(ctx, args)
	if err != nil && !errors.Is(err, errHelpShown) && !readerGone(err) {
		fmt.Fprintf(t.env.Stderr, "lotteryadmin: %s\n", explain(ctx, err))
	}
	return exitCode(err)
}

// exitCode is the only mapping of errors to exit codes.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if _, ok := errors.AsType[rejectedError](err); ok {
		return exitRejected
	}
	switch models.ErrorCode(err) {
	case models.CodeInvalid:
		return exitUsage
	case models.CodeNotFound:
		return exitNotFound
	case models.CodeConflict:
		return exitConflict
	default:
		return exitFailed
	}
}

var (
	keyForm      = regexp.MustCompile(`ldk_[0-9A-Za-z]{8}[0-9A-Za-z]+`)
	passwordForm = regexp.MustCompile(`(://[^:/@\s]*:)[^\s]*@`)
	// Our own description of a URL's form is no secret.
	formsAgain = strings.NewReplacer("://USER:xxxxx@", "://USER:PASSWORD@", "://[:xxxxx@]", "://[:PASSWORD@]")
)

// explain returns err's text for a person, without any key or password, however it got into err.
func explain(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted" // whatever error the database or a reader made of it
	}
	text := keyForm.ReplaceAllStringFunc(clean(err.Error()), func(key string) string { return key[:12] + "…" })
	text = passwordForm.ReplaceAllString(text, "${1}xxxxx@")
	return formsAgain.Replace(secret.Parameters(text))
}

// tool is one run of the program.
type tool struct {
	env   Env
	stdin *bufio.Reader
	form  string // the result's form: table, json or csv
	quiet bool

	saying sync.Mutex
}

func newTool(ctx context.Context, env Env) *tool {
	if env.Now == nil {
		env.Now = time.Now
	}
	if env.IsTerminal == nil {
		env.IsTerminal = isTerminal
	}
	return &tool{env: env, stdin: bufio.NewReader(&interruptible{ctx, env.Stdin}), form: formTable}
}

func (t *tool) run(ctx context.Context, args []string) error {
	app := t.app()
	l, err := parse(app, args)
	if err != nil {
		return err
	}
	switch {
	case l.help:
		return writeHelp(t.env.Stdout, app, &l)
	case !l.complete():
		if err := writeHelp(t.env.Stderr, app, &l); err != nil {
			return err
		}
		return errHelpShown
	}
	if form, ok := l.globals["output"]; ok {
		if t.form, err = oneOf("--output", form, formTable, formJSON, formCSV); err != nil {
			return err
		}
	}
	t.quiet = l.globals["quiet"] == "true"
	return app.RunContext(ctx, l.forCLI(app.Name))
}

// errHelpShown ends a run that named no command; its help is already on stderr.
var errHelpShown = models.Errorf(models.CodeInvalid, "no command was given")

func (t *tool) app() *cli.App {
	nouns := []*cli.Command{
		t.accounts(), t.keys(), t.games(), t.draws(), t.feeds(), t.usage(), t.billing(), t.jobs(), t.mails(), t.audit(), t.db(), t.doctor(), t.version(), t.completion(),
	}
	for _, noun := range nouns {
		noun.HideHelp = true
		for _, verb := range noun.Subcommands {
			verb.HideHelp = true
		}
	}
	return &cli.App{
		Name:  "lotteryadmin",
		Usage: "the operator's tool for the lottery draws API",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "read settings from `FILE` (YAML)"},
			&cli.StringFlag{Name: "database-url", Usage: "use the database at `URL`: sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "print results as `table|json|csv`"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print no messages, only results and errors"},
			&cli.StringFlag{Name: "as", Usage: "`WHO` you are in the audit log; default LOTTERY_OPERATOR, or your user name"},
			&cli.BoolFlag{Name: "no-migrate", Usage: "refuse a database whose schema is out of date instead of upgrading it"},
		},
		Commands: nouns,
		HideHelp: true, HideVersion: true,
		Reader: t.env.Stdin, Writer: t.env.Stderr, ErrWriter: t.env.Stderr,
		ExitErrHandler: func(*cli.Context, error) {}, // only Run decides how the program ends
	}
}

// call is one command being executed.
type call struct {
	*cli.Context
	*tool
	cfg   configs.Config
	store *store.Store // nil unless the command is stored

	// What an audited command is about, if the store does not record it.
	about     string // an account's id
	object    string
	unchanged bool // it changed nothing
}

// action does what a command is for.
type action func(ctx context.Context, c *call) error

// arg returns the i-th argument, from 0.
func (c *call) arg(i int) string { return c.Args().Get(i) }

// source says where the settings come from.
func (t *tool) source(cc *cli.Context) configs.Source {
	flags := map[string]string{}
	if cc.IsSet("database-url") {
		flags["database_url"] = cc.String("database-url")
	}
	return configs.Source{File: cc.String("config"), Getenv: t.env.Getenv, Environ: t.env.Environ, Flags: flags}
}

// configured loads the settings for run.
func (t *tool) configured(run action) cli.ActionFunc {
	return func(cc *cli.Context) error {
		cfg, err := configs.Load(t.source(cc))
		if err != nil {
			return err
		}
		return run(cc.Context, &call{Context: cc, tool: t, cfg: cfg})
	}
}

// stored is like configured, with an open database whose schema is up to date.
func (t *tool) stored(run action) cli.ActionFunc { return t.configured(opened(run)) }

// opened opens the database for run, which has the settings, and brings its schema up to date. It reports a database that
// it creates.
func opened(run action) action {
	return func(ctx context.Context, c *call) (err error) {
		migrate, there := !c.Bool("no-migrate"), store.Exists(c.cfg.DatabaseURL)
		c.store, err = store.Open(ctx, c.cfg.DatabaseURL, store.Options{Now: c.env.Now, Existing: !migrate, Waiting: c.sayWaiting})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.store.Close()) }()
		if err := c.store.Prepare(ctx, migrate); err != nil {
			return err
		}
		if !there {
			c.sayNew()
		}
		return c.tellingLocks(ctx, run)
	}
}

// tellingLocks calls run with the database, and reports locks that keep it waiting.
func (c *call) tellingLocks(ctx context.Context, run action) error {
	telling, end := context.WithCancel(ctx)
	var teller sync.WaitGroup
	teller.Go(func() { c.store.TellLocks(telling) })
	defer teller.Wait()
	defer end()
	return run(ctx, c)
}

// sayNew reports that a database was created: it may not be the one that was meant.
func (c *call) sayNew() { c.say("Created a new database at %s.", c.cfg.DatabaseURL) }

// sayWaiting reports what the database keeps a command waiting for.
func (c *call) sayWaiting(why string) { c.say("Waiting for the database: %s.", why) }

// say writes a message, as opposed to a result, to stderr, made safe to display. It may be used concurrently.
func (t *tool) say(format string, args ...any) {
	if !t.quiet {
		t.saying.Lock()
		defer t.saying.Unlock()
		fmt.Fprintln(t.env.Stderr, clean(fmt.Sprintf(format, args...)))
	}
}
