package admin_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lottery/admin"
	"lottery/billing/sandbox"
	"lottery/models/store/storetest"
)

// desk is an operator's desk: a database, a clock, and maybe a terminal.
type desk struct {
	t        *testing.T
	dir      string
	now      time.Time // zero = the machine's
	terminal bool
	stdin    string
	database string            // its URL; "" = a SQLite file in dir
	redis    string            // URL of the counters; "" = in the database
	stripe   string            // URL of the stand-in for Stripe; "" = billing is off
	set      map[string]string // more variables of the environment
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{t: t, dir: t.TempDir(), now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
}

func (d *desk) env(stdin io.Reader, stdout, stderr io.Writer) admin.Env {
	return admin.Env{
		Getenv: func(name string) string {
			settings := map[string]string{
				"LOTTERY_DATABASE_URL": cmp.Or(d.database, "sqlite:"+filepath.Join(d.dir, "lottery.db")), "LOTTERY_REDIS_URL": d.redis,
			}
			if d.stripe != "" {
				settings["LOTTERY_STRIPE_SECRET_KEY"], settings["LOTTERY_STRIPE_API_URL"] = sandbox.DefaultKey, d.stripe
			}
			return cmp.Or(settings[name], d.set[name])
		},
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Now:        func() time.Time { return cmp.Or(d.now, time.Now()) },
		IsTerminal: func(any) bool { return d.terminal },
	}
}

// exec runs SQL on the desk's SQLite file, to write what our own programs never would.
func (d *desk) exec(statements string) {
	d.t.Helper()
	storetest.Exec(d.t, "sqlite:"+filepath.Join(d.dir, "lottery.db"), statements)
}

// run executes one command line, and fails the test unless it exits with the given code.
func (d *desk) run(code int, args ...string) (stdout, stderr string) {
	d.t.Helper()
	var out, messages bytes.Buffer
	got := admin.Run(context.Background(), args, d.env(strings.NewReader(d.stdin), &out, &messages))
	if got != code {
		d.t.Fatalf("%q: exit code %d, want %d\n%s%s", args, got, code, &out, &messages)
	}
	return out.String(), messages.String()
}

// object runs a command that must succeed, and returns the object that it prints as JSON.
func (d *desk) object(args ...string) map[string]any {
	d.t.Helper()
	out, _ := d.run(0, append(args, "--output=json")...)
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		d.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return v
}

// list runs a command that must succeed, and returns the list of objects that it prints as JSON.
func (d *desk) list(args ...string) (list []map[string]any) {
	d.t.Helper()
	out, _ := d.run(0, append(args, "--output=json")...)
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		d.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return list
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// closed is a pipe whose reader has left.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, syscall.EPIPE }
