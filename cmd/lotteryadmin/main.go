// Command lotteryadmin is the operator's tool; its commands are in package admin.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // the games' time zones, in case the machine has none

	"lottery/admin"
)

// saidTwice is how long after a signal another one counts as the same: timeout(1), and programs that forward a signal
// which the whole process group received anyway, send it twice within moments.
const saidTwice = time.Second

func main() {
	log.SetOutput(io.Discard) // silences net/http's complaints: what failed is reported as an error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP) // never undone: a closing terminal may send it twice
	}
	// A reader that goes away, as in `| head`, ends the output, not the program, which has yet to record what it did.
	// SIGPIPE is caught, not ignored, because programs started from here would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	context.AfterFunc(ctx, func() { time.AfterFunc(saidTwice, stop) }) // a later Ctrl-C ends the program immediately
	os.Exit(run(ctx, os.Args, os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	return admin.Run(ctx, args[1:], admin.Env{Getenv: getenv, Environ: os.Environ(), Stdin: stdin, Stdout: stdout, Stderr: stderr})
}
