package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// lotteryapi knows the same words (help, version) as lotteryadmin.
func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args         string
		code         int
		says, errors string
	}{
		{"help", 0, "COMMANDS:\n   serve", ""},
		{"--help", 0, "COMMANDS:\n   serve", ""},
		{"-h", 0, "COMMANDS:\n   serve", ""},
		{"serve --help", 0, "lotteryapi serve - serve the API", ""},
		{"serve --help", 0, "address to serve on, host:port [$LOTTERY_LISTEN] (default: 127.0.0.1:8080)", ""},
		{"help serve", 0, "lotteryapi serve - serve the API", ""},
		{"help version", 0, "lotteryapi version - print the version", ""},
		{"help no", 2, "", `there is no command "no"; the commands are serve, demo, healthcheck, help and version`},
		{"version", 0, "lotteryapi version ", ""},
		{"--version", 0, "lotteryapi version ", ""},
		{"version 2", 2, "", "version takes no arguments"},
		{"demo now", 2, "", "demo takes no arguments"},
		{"demo --lisen x", 2, "", "flag provided but not defined: -lisen; see lotteryapi --help"},
	} {
		var stdout strings.Builder
		code, stderr := runHere(t.Context(), &stdout, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stdout.String(), c.says) || !strings.Contains(stderr, c.errors) || (code == 0) != (stderr == "") {
			t.Errorf("%s: exit code %d, %s%s", c.args, code, stdout.String(), stderr)
		}
	}
}

// A version that cannot be printed is an error.
func TestVersionThatCannotBePrinted(t *testing.T) {
	t.Parallel()
	read, closed := io.Pipe()
	read.Close()
	code, stderr := runHere(t.Context(), closed, "version")
	if code != exitFailed || !strings.Contains(stderr, "closed pipe") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// The remedy depends on why an address cannot be listened on.
func TestCannotListen(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address, database := taken.Addr().String(), "sqlite:"+filepath.Join(t.TempDir(), "lottery.db")
	for _, c := range []struct{ args, want string }{
		{"--listen " + address, "cannot listen on " + address + " (listen): address already in use: is another server running?"},
		{"--listen 203.0.113.1:1", "cannot listen on 203.0.113.1:1 (listen): cannot assign requested address: this machine does not have that address"},
		{"--listen *:0", "cannot listen on *:0 (listen): lookup *: no such host: give an address of this machine; 0.0.0.0 stands for all of them"},
		{"--listen 127.0.0.1:0 --ops-listen " + address, "cannot listen on " + address + " (ops_listen): address already in use: is another server running? Stop it, or set ops_listen"},
	} {
		code, stderr := runHere(t.Context(), io.Discard, strings.Fields("serve --database-url "+database+" "+c.args)...)
		if code != exitFailed || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d: %s", c.args, code, stderr)
		}
	}
	denied := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EACCES)} // whoever runs the tests may be allowed to
	if err := cannotListen("listen", "127.0.0.1:80", denied); !strings.Contains(err.Error(), "permission denied: this user is not allowed to; ports below 1024") {
		t.Error(err)
	}
}
