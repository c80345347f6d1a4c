package admin_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite" // the database/sql driver "sqlite" for desk.exec

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
	database string // its URL; "" = a SQLite file in dir
	redis    string // URL of the counters; "" = in the database
	stripe   string // URL of the stand-in for Stripe; "" = billing is off
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
			return settings[name]
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

// db status shows even a database that this program refuses, and says that it does.
func TestStatusOfNewerDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	d.exec("UPDATE meta SET value = '9000' WHERE name = 'oldest_schema'")
	_, refused := d.run(5, "accounts", "list")
	stdout, stderr := d.run(5, "db", "status", "-o", "json")
	if !strings.Contains(stdout, `"dialect": "sqlite"`) || stderr != refused || !strings.Contains(stderr, "needs a program that knows schema 9000") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

func TestConfirmation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.object("accounts", "create", "--email", "ada@example.com")
	d.terminal = true
	for _, answer := range []string{"", "\n", "n\n", "no\n", "yesterday\n"} {
		d.stdin = answer
		out, messages := d.run(1, "accounts", "suspend", "ada@example.com")
		if out != "" || !strings.Contains(messages, "Suspend account acc_") || !strings.Contains(messages, "(ada@example.com)? ") ||
			!strings.Contains(messages, "[y/N] ") || !strings.HasSuffix(messages, "lotteryadmin: not confirmed: nothing was changed\n") {
			t.Errorf("%q: %q %q", answer, out, messages)
		}
	}
	if got := d.object("accounts", "show", "ada@example.com"); got["status"] != "active" {
		t.Fatalf("a no suspended the account: %v", got)
	}
	d.run(4, "accounts", "suspend", "nobody@example.com") // fails without asking
	d.stdin = "Yes\n"
	d.run(0, "accounts", "suspend", "ada@example.com")
	d.stdin = ""
	d.run(0, "accounts", "delete", "ada@example.com", "--yes")
}

func TestRevokeOnATerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	made := d.object("keys", "create", "--account", "ada@example.com", "--create-account")
	key, ok := made["key"].(string)
	if !ok {
		t.Fatal(made)
	}
	d.terminal, d.stdin = true, key+"\ny\n" // the key and the answer come from the same stdin
	out, messages := d.run(0, "keys", "revoke", "-")
	if !strings.Contains(out, "revoked") || strings.Contains(out+messages, key) || !strings.Contains(messages, "Revoke key "+key[:12]+"…?") {
		t.Fatalf("%s%s", out, messages)
	}
}

func TestGraceAndExpiryPass(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	old := d.object("keys", "create", "--account", "ada@example.com", "--create-account", "--expires", "3d")
	d.now = d.now.Add(time.Second) // otherwise the two are listed in the order of their random ids
	fresh := d.object("keys", "rotate", old["prefix"].(string), "--grace", "2d")
	if fresh["expires_at"] != "2026-03-07T05:06:07Z" {
		t.Errorf("the new key expires at %v", fresh["expires_at"])
	}
	if got := fresh["replaces"].(map[string]any); got["id"] != old["id"] || got["expires_at"] != "2026-03-06T05:06:08Z" {
		t.Errorf("replaces %v", got)
	}
	status := func() string {
		out, _ := d.run(0, "keys", "list", "--all", "-o", "csv")
		var list []string
		for _, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
			list = append(list, strings.Split(line, ",")[4])
		}
		return strings.Join(list, " ")
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{time.Second, "grace active"},
		{48 * time.Hour, "grace active"},
		{48*time.Hour + time.Second, "revoked active"},
		{72*time.Hour - time.Second, "revoked active"},
		{72 * time.Hour, "revoked expired"},
	} {
		d.now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(step.after)
		if got := status(); got != step.want {
			t.Errorf("after %s: %s, want %s", step.after, got, step.want)
		}
	}
	if out, _ := d.run(0, "keys", "list"); strings.Contains(out, "key_") {
		t.Errorf("dead keys are listed:\n%s", out)
	}
	d.run(5, "keys", "rotate", fresh["id"].(string)) // expired
	d.run(0, "keys", "create", "--account", "ada@example.com")
	d.run(0, "keys", "create", "--account", "ada@example.com") // the revoked and the expired key do not count
	d.run(5, "keys", "create", "--account", "ada@example.com")
}

// Ctrl-C ends a command that is waiting for a person or a pipe.
func TestInterruptedWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"keys", "revoke", "-", "--yes"},
		{"draws", "import", "--feed", "csv", "-", "--report", "REPORT"},
	} {
		d := newDesk(t)
		args[len(args)-1] = strings.Replace(args[len(args)-1], "REPORT", filepath.Join(d.dir, "report.csv"), 1)
		d.run(0, "db", "migrate")
		ctx, cancel := context.WithCancel(context.Background())
		stdin, feed := io.Pipe()
		var out, messages bytes.Buffer
		done := make(chan int)
		go func() { done <- admin.Run(ctx, args, d.env(stdin, &out, &messages)) }()
		if _, err := feed.Write([]byte("g")); err != nil { // returns when the command reads
			t.Fatal(err)
		}
		cancel()
		if code := <-done; code != 1 || messages.String() != "lotteryadmin: interrupted\n" {
			t.Errorf("%q: exit code %d, %q", args, code, &messages)
		}
		if left, err := filepath.Glob(filepath.Join(d.dir, "*report*")); err != nil || len(left) != 0 {
			t.Errorf("%q leaves %q, %v", args, left, err)
		}
	}
}

func TestProgressBarOnlyOnATerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	file := filepath.Join(d.dir, "draws.csv")
	write(t, file, "game,date,tod,number\nva-pick-3,2020-05-04,Day,007\n")
	if _, messages := d.run(0, "draws", "import", "--feed", "csv", file); messages != "" {
		t.Errorf("without a terminal: %q", messages)
	}
	d.terminal = true
	if _, messages := d.run(0, "draws", "import", "--feed", "csv", file); !strings.Contains(messages, "reading draws.csv") || !strings.HasSuffix(messages, "\r") {
		t.Errorf("on a terminal: %q", messages)
	}
	more := filepath.Join(d.dir, "more.csv")
	write(t, more, "game,date,tod,number\nva-pick-3,2020-05-05,Day,007\n")
	d.stdin = "game,date,tod,number\nva-pick-3,2020-05-06,Day,007\n"
	_, messages := d.run(0, "draws", "import", "--feed", "csv", file, more, "-")
	for _, name := range []string{"draws.csv", "more.csv", "stdin"} {
		if !strings.Contains(messages, "reading "+name) {
			t.Errorf("%s is not named: %q", name, messages)
		}
	}
	copied := "sqlite:" + filepath.Join(d.dir, "copy.db")
	if _, messages := d.run(0, "db", "copy", "--from", "sqlite:"+filepath.Join(d.dir, "lottery.db"), "--database-url", copied); !strings.Contains(messages, "copying draws") || !strings.Contains(messages, "\rCopied ") {
		t.Errorf("on a terminal: %q", messages)
	}
	if _, messages := d.run(0, "draws", "import", "--feed", "csv", file, "-q"); messages != "" {
		t.Errorf("on a terminal with --quiet: %q", messages)
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// If a new key cannot be printed, the error names the command that replaces it.
func TestKeyThatCannotBePrinted(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"table", "json"} {
		d := newDesk(t)
		d.run(0, "accounts", "create", "--email", "ada@example.com")
		var stderr strings.Builder
		code := admin.Run(t.Context(), []string{"keys", "create", "--account", "ada@example.com", "-o", form}, d.env(strings.NewReader(""), full{}, &stderr))
		said := regexp.MustCompile("`lotteryadmin (keys rotate (ldk_[0-9A-Za-z]{8}) --grace 0s)` replaces it: .*no space left").FindStringSubmatch(stderr.String())
		if code != 1 || said == nil {
			t.Fatalf("%s: exit code %d: %s", form, code, stderr.String())
		}
		if out, _ := d.run(0, append(strings.Fields(said[1]), "-o", "json")...); !strings.Contains(out, `"key": "ldk_`) {
			t.Errorf("%s: %s", form, out)
		}
		if out, _ := d.run(0, "keys", "list", "-o", "csv"); strings.Contains(out, said[2]) || strings.Count(out, "ldk_") != 1 {
			t.Errorf("%s: %s", form, out)
		}
	}
}

// typed is what a person types at a terminal: one line per Read, then Ctrl-D. A Read after that would wait for more
// input.
type typed struct {
	lines []string
	ended bool
	t     *testing.T
}

func (k *typed) Read(p []byte) (int, error) {
	if len(k.lines) == 0 {
		if k.ended {
			k.t.Error("the end must be typed twice")
		}
		k.ended = true
		return 0, io.EOF
	}
	n := copy(p, k.lines[0])
	k.lines = k.lines[1:]
	return n, nil
}

// Typed draws end at the first Ctrl-D.
func TestImportOfWhatIsTyped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var stdout, stderr strings.Builder
	keys := &typed{lines: []string{"game,date,tod,number\n", "ny-numbers,2025-09-29,Evening,123\n"}, t: t}
	code := admin.Run(t.Context(), []string{"draws", "import", "--feed", "csv", "-", "-o", "json"}, d.env(keys, &stdout, &stderr))
	if code != 0 || !strings.Contains(stdout.String(), `"inserted": 1`) {
		t.Errorf("exit code %d: %s%s", code, stdout.String(), stderr.String())
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Impossible draws in the database are reported, and can be removed or corrected.
func TestVerifyFindsWhatCannotBe(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	d.exec(`INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at) VALUES
		('va-pick-3', '2020-05-04', 3, 1, '007', 'csv', '2020-05-05'),
		('va-pick-3', '2020-05-04', 6, 1, '07', 'csv', '2020-05-05'),
		('va-pick-3', '2020-05-05', 1, 1, '00a', 'csv', '2020-05-05'),
		('va-pick-3', '2020-13-45', 3, 1, '007', 'csv', '2020-05-05'),
		('va-pick-3', '2026-03-05', 3, 1, '007', 'csv', '2020-05-05'),
		('va-pick-3', '2026-03-06', 3, 1, '007', 'csv', '2020-05-05');
		INSERT INTO draws (game_id, date, tod, sequence, number, feed, ingested_at, addons) VALUES ('va-pick-3', '2020-05-06', 3, 1, '123', 'csv', '2020-05-05', '{bad')`)
	out, messages := d.run(1, "draws", "verify", "--game", "va-pick-3", "-o", "json")
	var list []struct {
		Draws    int    `json:"draws"`
		Last     string `json:"last"`
		Problems []struct {
			Date, Tod, Problem string
			Sequence           int
		} `json:"problems"`
		OffSchedule []any `json:"off_schedule"` // none: what is impossible is only that
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for _, p := range list[0].Problems {
		got = append(got, p.Date+" "+p.Tod+": "+p.Problem)
	}
	want := []string{
		`2020-05-04 Night: number "07" does not have 3 digits`,
		`2020-05-05 Morning: number "00a" does not have 3 digits`,
		`2020-05-05 Morning: the game does not draw at Morning (but Day,Night)`,
		`2020-05-06 Day: add-ons "{bad" are not a JSON object of texts: UPDATE draws SET addons = '' WHERE game_id = 'va-pick-3' AND date = '2020-05-06' AND tod = 3 AND sequence = 1`,
		`2020-13-45 Day: date: 2020-13-45 is not a valid date; lotteryadmin cannot name it: DELETE FROM draws WHERE game_id = 'va-pick-3' AND date = '2020-13-45'`,
		`2026-03-06 Day: date is after tomorrow`, // it is 2026-03-04 in Virginia
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || len(list[0].OffSchedule) != 0 || list[0].Draws != 7 || list[0].Last != "2026-03-05" {
		t.Errorf("%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
	}
	if !strings.Contains(messages, "6 of the stored draws are impossible") {
		t.Error(messages)
	}
	if _, messages := d.run(1, "draws", "export"); !strings.Contains(messages, "add-ons cannot be read: `lotteryadmin draws verify` shows which") {
		t.Error(messages)
	}
	d.run(0, "draws", "unset", "--game", "va-pick-3", "--date", "2020-05-05", "--tod", "Morning", "--reason", "impossible", "--yes")
	d.run(0, "draws", "set", "--game", "va-pick-3", "--date", "2020-05-04", "--tod", "Night", "--number", "070", "--reason", "typing mistake")
	_, messages = d.run(1, "draws", "verify")
	if !strings.Contains(messages, "3 of the stored draws are impossible") {
		t.Error(messages)
	}
}
