// Command lotteryapi is the server.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // the games' time zones, in case the machine has none

	"github.com/urfave/cli/v2"

	"lottery/configs"
	"lottery/models"
)

// saidTwice is how long after a signal another one counts as the same: timeout(1), and programs that forward a signal
// which the whole process group received anyway, send it twice within moments.
const saidTwice = time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP) // never undone: a closing terminal may send it twice
	}
	// The reader of the log may go away, like a logger(1) that is restarted. The server goes on, and still stops
	// cleanly.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	context.AfterFunc(ctx, func() { time.AfterFunc(saidTwice, stop) }) // a later SIGTERM or Ctrl-C ends the program at once, whatever is in flight
	os.Exit(run(ctx, os.Args, os.Getenv, os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// run is the program. It returns the exit code when ctx ends. Tests call it with port 0 and read the address from
// stderr.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	lines := newLogLines(stderr)
	defer lines.close()
	app := &cli.App{
		Name:            "lotteryapi",
		Usage:           "an API for historical lottery draws",
		Version:         models.BuildVersion().String(),
		Writer:          stdout,
		ErrWriter:       lines,
		HideHelpCommand: true,
		Flags:           []cli.Flag{cli.HelpFlag}, // the library omits it if a command has that name
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    onUsageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return noCommand(c.Args().First())
			}
			if err := cli.ShowAppHelp(c); err != nil {
				return err
			}
			return usagef("give a command: serve, demo or healthcheck")
		},
		Commands: []*cli.Command{serveCommand(getenv, lines), healthcheckCommand(getenv, stdout), demoCommand(getenv, stdout, lines), helpCommand(), versionCommand()},
	}
	err := app.RunContext(ctx, args)
	if err == nil || (ctx.Err() != nil && errors.Is(err, context.Canceled)) { // told to stop, maybe while starting
		return 0
	}
	fmt.Fprintf(lines, "lotteryapi: %v\n", err)
	if _, ok := errors.AsType[*badUsageError](err); ok || models.ErrorCode(err) == models.CodeInvalid {
		return exitUsage
	}
	return exitFailed
}

func serveCommand(getenv func(string) string, lines *logLines) *cli.Command {
	return &cli.Command{
		Name: "serve", Usage: "serve the API", OnUsageError: onUsageError,
		Flags: append(optionFlags(), &cli.BoolFlag{Name: "no-migrate", Usage: "refuse an older database instead of upgrading it"}),
		Action: func(c *cli.Context) error {
			cfg, err := load(c, getenv)
			if err != nil {
				return err
			}
			log := newLogger(cfg, lines)
			for _, stray := range configs.Strays(os.Environ()) {
				log.Warn("a variable of the environment is not read", "reason", stray)
			}
			trace, err := newTracing(c.Context, getenv, log)
			if err != nil {
				return err
			}
			ready := func(string) { notifyReady(c.Context, getenv("NOTIFY_SOCKET"), log) }
			return serve(c.Context, cfg, serveOptions{migrate: !c.Bool("no-migrate"), trace: trace, log: log, started: ready})
		},
	}
}

func healthcheckCommand(getenv func(string) string, stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name: "healthcheck", Usage: "check whether the server on this machine is alive; exit code 1 if not", OnUsageError: onUsageError,
		Flags: append(optionFlags(), &cli.BoolFlag{Name: "ready", Usage: "check whether it should get traffic"}),
		Action: func(c *cli.Context) error {
			cfg, err := load(c, getenv)
			if err != nil {
				return err
			}
			path := "/healthz"
			if c.Bool("ready") {
				path = "/readyz"
			}
			return healthcheck(c.Context, cfg.Listen, path, stdout)
		},
	}
}

func demoCommand(getenv func(string) string, stdout io.Writer, lines *logLines) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "try the API with made-up draws: no network, no configuration", OnUsageError: onUsageError,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "address to serve on, host:port [$LOTTERY_LISTEN]", DefaultText: "127.0.0.1:8080"},
			&cli.StringFlag{Name: "data", Value: "data", Usage: "folder for the demo's database and keys"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("demo takes no arguments")
			}
			return demo(c.Context, demoOptions(c, getenv), c.String("data"), stdout, lines)
		},
	}
}

func helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "show help, also for a single command", ArgsUsage: "[COMMAND]", OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			switch name := c.Args().First(); {
			case name == "":
				return cli.ShowAppHelp(c)
			case c.App.Command(name) == nil:
				return noCommand(name)
			default:
				return cli.ShowCommandHelp(c.Lineage()[1], name) // the program's commands, not help's own
			}
		},
	}
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("version takes no arguments")
			}
			_, err := fmt.Fprintf(c.App.Writer, "%s version %s\n", c.App.Name, c.App.Version)
			return err
		},
	}
}

// badUsageError means that the command line cannot be understood.
type badUsageError struct{ text string }

func (e *badUsageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &badUsageError{fmt.Sprintf(format, args...)} }

func noCommand(name string) error {
	return usagef("there is no command %q; the commands are serve, demo, healthcheck, help and version", name)
}

func onUsageError(_ *cli.Context, err error, _ bool) error {
	return usagef("%v; see lotteryapi --help", err)
}

// optionFlags returns --config and a flag for every option of configs.
func optionFlags() []cli.Flag {
	options := configs.Options()
	flags := make([]cli.Flag, 0, len(options)+2)
	flags = append(flags, &cli.StringFlag{Name: "config", Usage: "read options from this YAML `FILE`"})
	for _, o := range options {
		flags = append(flags, &cli.StringFlag{Name: o.Flag(), Usage: o.Help + " [$" + o.Env() + "]", DefaultText: o.Default})
	}
	return flags
}

func load(c *cli.Context, getenv func(string) string) (configs.Config, error) {
	if c.Args().Present() {
		return configs.Config{}, usagef("%s takes no arguments, but got %q", c.Command.Name, c.Args().First())
	}
	if c.IsSet("config") && c.String("config") == "" {
		return configs.Config{}, usagef("--config is empty; give a file, or leave the flag out")
	}
	src := configs.Source{File: c.String("config"), Getenv: getenv, Environ: os.Environ(), Flags: map[string]string{}, Serve: c.Command.Name == "serve"}
	for _, o := range configs.Options() {
		if c.IsSet(o.Flag()) {
			src.Flags[o.Key] = strings.TrimSpace(c.String(o.Flag()))
		}
	}
	return configs.Load(src)
}
