package sandboxtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// StartMock builds stripe-mock v0.183.0 from its module and runs it as a process until stop is called; it is a process
// because it prints every request, which must not appear in the tests' output. base is its URL.
func StartMock(ctx context.Context) (base string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "stripe-mock-*")
	if err != nil {
		return "", nil, err
	}
	base, end, err := startMock(ctx, filepath.Join(dir, "stripe-mock"))
	stop = func() {
		end()
		_ = os.RemoveAll(dir)
	}
	if err != nil {
		stop()
		return "", nil, err
	}
	return base, stop, nil
}

func startMock(ctx context.Context, program string) (base string, end func(), err error) {
	end = func() {}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/stripe/stripe-mock").CombinedOutput(); err != nil {
		return "", end, fmt.Errorf("build stripe-mock: %w: %s", err, out)
	}
	// Set both addresses, or it opens its HTTPS port to everybody.
	cmd := exec.CommandContext(ctx, program, "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0", "-strict-version-check")
	dieWithParent(cmd)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", end, err
	}
	read := make(chan struct{})
	end = func() {
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait()
	}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			close(read)
			return "", end, fmt.Errorf("stripe-mock ended: %w", err)
		}
		if address, ok := strings.CutPrefix(strings.TrimSpace(line), "Listening for HTTP at address: "); ok {
			go func() {
				defer close(read)
				_, _ = io.Copy(io.Discard, lines)
			}()
			return "http://" + address, end, nil
		}
	}
}
