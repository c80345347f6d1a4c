package main

import (
	"context"
	"io"
	"strings"
	"sync"
)

// oneRun is held while the program runs in this process: the cli package has state that all its programs share.
var oneRun sync.Mutex

// runHere runs the program in this process, without an environment. It is for runs that end by themselves: while one
// serves, all others would have to wait.
func runHere(ctx context.Context, stdout io.Writer, args ...string) (code int, errors string) {
	oneRun.Lock()
	defer oneRun.Unlock()
	var stderr strings.Builder
	code = run(ctx, append([]string{"lotteryapi"}, args...), func(string) string { return "" }, stdout, &stderr)
	return code, stderr.String()
}
