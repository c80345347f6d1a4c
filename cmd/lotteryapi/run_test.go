package main

import (
	"context"
	"io"
	"strings"
	"sync"
)

// oneRun is held by whoever runs the program in this process: the cli package keeps state that all its programs share.
var oneRun sync.Mutex

// runHere runs the program in this process, without an environment. It is for runs that end by themselves: others
// would have to wait for one that serves.
func runHere(ctx context.Context, stdout io.Writer, args ...string) (code int, errors string) {
	oneRun.Lock()
	defer oneRun.Unlock()
	var stderr strings.Builder
	code = run(ctx, append([]string{"lotteryapi"}, args...), func(string) string { return "" }, stdout, &stderr)
	return code, stderr.String()
}
