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
	_ "time/tzdata" // the games' time zones, where the machine has none

	"lottery/admin"
)

// saidTwice is how long a signal after the first is taken for the same one: timeout(1), and whoever passes on what the
// whole process group got, too, say it twice within moments.
const saidTwice = time.Second

func main() {
	log.SetOutput(io.Discard) // what Go's HTTP client finds odd is no message for an operator: what failed is told as an error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP) // a terminal that closes may say so twice: it is never undone
	}
	// A reader that goes away, as behind | head, ends what is printed, not the program: it has yet to note what it did. It is
	// caught and not ignored, since programs that this one starts would ignore it, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	context.AfterFunc(ctx, func() { time.AfterFunc(saidTwice, stop) }) // a later Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args, os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	return admin.Run(ctx, args[1:], admin.Env{Getenv: getenv, Environ: os.Environ(), Stdin: stdin, Stdout: stdout, Stderr: stderr})
}
