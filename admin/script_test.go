package admin_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lottery/models/store/storetest"
)

var update = flag.Bool("update", false, "write what commands print to the golden files of the scripts")

// TestScripts runs testdata/script on SQLite, and testdata/sqlite, which covers what only SQLite has.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"script", "sqlite"} {
		runScripts(t, dir, func() string { return "sqlite:lottery.db" })
	}
}

// TestScriptsOnPostgres runs testdata/script and testdata/postgres, each script on its own database.
func TestScriptsOnPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("the same scripts again")
	}
	t.Parallel()
	server := storetest.NewPostgresServer(t)
	t.Run("postgres", func(t *testing.T) { // returns when the scripts are done, before the server ends
		for _, dir := range []string{"script", "postgres"} {
			runScripts(t, dir, func() string { return server.NewDatabase(t) })
		}
	})
}

// program returns the folder of lotteryadmin, built once. The scripts start it more than a thousand times, and under the
// race detector that takes three times as long: the other tests have it.
var program = sync.OnceValues(func() (string, error) { return storetest.Build(nil, "lottery/cmd/lotteryadmin") })

// runScripts runs the scripts of a folder, each on a database of its own.
func runScripts(t *testing.T, dir string, database func() string) {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", dir),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			server := httptest.NewServer(http.FileServer(http.Dir(e.WorkDir)))
			e.Defer(server.Close)
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("SERVER", server.URL)
			e.Setenv("LOTTERY_DATABASE_URL", database())
			for _, o := range feedAddresses() {
				e.Setenv(o.Env(), server.URL)
			}
			e.Setenv("EVIL", "red\x1b[31m")
			e.Setenv("BAD", "bad\xff") // no UTF-8
			e.Setenv("LONG", strings.Repeat("x", 101))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "get": get, "mailserver": mailserver, "masked": masked, "same": same,
		},
	})
}

// exits runs a command, and fails unless it exits with the given code: exits 4 lotteryadmin accounts show nobody.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// get stores values from the JSON on stdout in variables: get ID id OLD replaces.id N rejections.conflict.
// In a path, an item of a list is named by its index.
func get(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 0 {
		ts.Fatalf("usage: get NAME PATH…")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for i := 0; i < len(args); i += 2 {
		at := v
		for step := range strings.SplitSeq(args[i+1], ".") {
			switch here := at.(type) {
			case map[string]any:
				var ok bool
				if at, ok = here[step]; !ok {
					ts.Fatalf("no %q in %v", step, here)
				}
			case []any:
				n, err := strconv.Atoi(step)
				ts.Check(err)
				if n >= len(here) {
					ts.Fatalf("no item %d in %v", n, here)
				}
				at = here[n]
			default:
				ts.Fatalf("no %q in %v", step, here)
			}
		}
		ts.Setenv(args[i], fmt.Sprint(at))
	}
}

// same fails unless two words are equal, and leaves stdout and stderr for the next command: same $A $B.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] same A B")
	}
	if (args[0] == args[1]) == neg {
		ts.Fatalf("%q and %q", args[0], args[1])
	}
}

// masked writes the last stdout to a file, with whatever differs between runs replaced by fixed text: masked FILE.
func masked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: masked FILE")
	}
	text := ts.ReadFile("stdout")
	for pattern, with := range map[string]string{
		`acc_[0-9A-Za-z]{20}`:                   "acc_" + strings.Repeat("x", 20),
		`key_[0-9A-Za-z]{20}`:                   "key_" + strings.Repeat("x", 20),
		`ldk_[0-9A-Za-z]{38}`:                   "ldk_" + strings.Repeat("x", 38),
		`ldk_[0-9A-Za-z]{8}\b`:                  "ldk_" + strings.Repeat("x", 8),
		`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`:       "2026-01-02T03:04:05Z",
		`("duration_ms": |DURATION MS +)[0-9]+`: "${1}0",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, with)
	}
	today := time.Now().UTC()
	text = strings.ReplaceAll(text, today.Format(time.DateOnly), "2026-01-02")
	text = strings.ReplaceAll(text, today.AddDate(0, 0, -1).Format(time.DateOnly), "2026-01-01")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
