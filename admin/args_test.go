package admin

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"

	"lottery/models"
)

func testApp() *cli.App {
	return newTool(context.Background(), Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}).app()
}

// carriedOut returns the path of every command that can be executed.
func carriedOut(app *cli.App) [][]*cli.Command {
	var list [][]*cli.Command
	for _, noun := range app.Commands {
		if len(noun.Subcommands) == 0 {
			list = append(list, []*cli.Command{noun})
		}
		for _, verb := range noun.Subcommands {
			list = append(list, []*cli.Command{noun, verb})
		}
	}
	return list
}

// The scanner must know whether a flag takes a value before it knows the command, so all commands must agree on that.
func TestFlagsMeanTheSameEverywhere(t *testing.T) {
	t.Parallel()
	app := testApp()
	kinds := map[string]flagKind{}
	check := func(where string, flags []cli.Flag) {
		for _, f := range flags {
			for _, name := range f.Names() {
				if before, known := kinds[name]; known && before != kindOf(f) {
					t.Errorf("%s: --%s is %+v here and %+v in another command", where, name, kindOf(f), before)
				}
				kinds[name] = kindOf(f)
			}
		}
	}
	check("global", app.Flags)
	for _, path := range carriedOut(app) {
		cmd := path[len(path)-1]
		check(cmd.Name, cmd.Flags)
		for _, f := range cmd.Flags {
			if slices.Contains(flagNames(app.Flags), f.Names()[0]) {
				t.Errorf("%s: --%s is a global flag too", cmd.Name, f.Names()[0])
			}
		}
	}
}

func TestEveryCommandIsExplained(t *testing.T) {
	t.Parallel()
	for _, path := range carriedOut(testApp()) {
		cmd := path[len(path)-1]
		if cmd.Usage == "" || !strings.Contains(cmd.Description, "Example:\n  ") || cmd.Action == nil {
			t.Errorf("%s %s has no text, no example or no action", path[0].Name, cmd.Name)
		}
		for _, f := range cmd.Flags {
			if placeholder, text := describe(f); text == "" || (takesValue(f) && (placeholder == "VALUE" || placeholder == "")) {
				t.Errorf("%s %s: --%s has no text or no placeholder", path[0].Name, cmd.Name, f.Names()[0])
			}
		}
	}
}

// said is the meaning of a command line, and one of the many ways to write it.
type said struct {
	path           []*cli.Command
	globals, flags map[string]string
	args           []string
	written        []string
}

// drawLine generates a command line: a command, flags anywhere and in any form, and odd-looking arguments.
func drawLine(t *rapid.T, app *cli.App) said {
	paths := carriedOut(app)
	s := said{path: paths[rapid.IntRange(0, len(paths)-1).Draw(t, "command")], globals: map[string]string{}, flags: map[string]string{}, args: []string{}}
	cmd := s.path[len(s.path)-1]
	known := &scanner{kinds: flagsOf(app)}

	var groups [][]string // each flag as written: one or two words
	write := func(f cli.Flag, into map[string]string) {
		name := rapid.SampledFrom(f.Names()).Draw(t, "alias")
		typed := "--" + name
		if len(name) == 1 {
			typed = "-" + name
		}
		if !takesValue(f) {
			on := rapid.Bool().Draw(t, "on")
			into[f.Names()[0]] = map[bool]string{true: "true", false: "false"}[on]
			word := typed
			if !on || rapid.Bool().Draw(t, "explicit") {
				word += "=" + into[f.Names()[0]]
			}
			groups = append(groups, []string{word})
			return
		}
		value := rapid.SampledFrom([]string{"x", "a b", "-", "-5", "-.5", "a=b", "=", "--", "--quiet", "-q", "-x", "--nosuch", "ünï", "$(x)", "help", "accounts", "list"}).Draw(t, "value")
		into[f.Names()[0]] = value
		if known.looksLikeFlag(value) || rapid.Bool().Draw(t, "joined") {
			groups = append(groups, []string{typed + "=" + value})
		} else {
			groups = append(groups, []string{typed, value})
		}
	}
	for _, f := range app.Flags {
		if rapid.Bool().Draw(t, "global given") {
			write(f, s.globals)
		}
	}
	for _, f := range cmd.Flags {
		if required(f) || rapid.Bool().Draw(t, "flag given") {
			write(f, s.flags)
		}
	}
	words := strings.Fields(strings.Join([]string{namesOf(s.path)}, " "))
	want := strings.Fields(cmd.ArgsUsage)
	for i, n := 0, len(want); i < n; i++ {
		s.args = append(s.args, rapid.SampledFrom([]string{"a", "-", "-1", "x=y", "help", "", "-1e5", "accounts"}).Draw(t, "argument"))
	}
	ended := rapid.Bool().Draw(t, "ended by --")
	if ended && len(s.args) > 0 && rapid.Bool().Draw(t, "odd") {
		s.args[len(s.args)-1] = rapid.SampledFrom([]string{"--", "--quiet", "-o", "--nosuch", "-h"}).Draw(t, "odd argument")
	}
	words = append(words, s.args...)

	groups = rapid.Permutation(groups).Draw(t, "order")
	for len(groups) > 0 {
		if len(words) > len(s.args)*map[bool]int{true: 1}[ended] && rapid.Bool().Draw(t, "word next") {
			s.written, words = append(s.written, words[0]), words[1:]
			continue
		}
		s.written, groups = append(s.written, groups[0]...), groups[1:]
	}
	if ended {
		s.written = append(s.written, "--")
	}
	s.written = append(s.written, words...)
	return s
}

func namesOf(path []*cli.Command) string {
	l := line{path: path}
	return l.name()
}

// However a command line is written, its meaning is the same, and urfave/cli receives exactly that.
func TestFlagsMayStandAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		app := testApp()
		want := drawLine(t, app)
		got, err := parse(app, want.written)
		if err != nil {
			t.Fatalf("%q: %v", want.written, err)
		}
		if got.name() != namesOf(want.path) || !maps.Equal(got.globals, want.globals) || !maps.Equal(got.flags, want.flags) ||
			!slices.Equal(got.args, want.args) || got.help {
			t.Fatalf("%q\n got %s %v %v %q\nwant %s %v %v %q", want.written,
				got.name(), got.globals, got.flags, got.args, namesOf(want.path), want.globals, want.flags, want.args)
		}

		cmd := got.command()
		ran := false
		cmd.Action = func(c *cli.Context) error {
			ran = true
			if !slices.Equal(c.Args().Slice(), want.args) {
				t.Fatalf("%q: the command gets %q", want.written, c.Args().Slice())
			}
			for _, of := range []map[string]string{want.globals, want.flags} {
				for name, value := range of {
					seen := c.String(name)
					if c.Bool(name) || value == "false" {
						seen = map[bool]string{true: "true", false: "false"}[c.Bool(name)]
					}
					if seen != value {
						t.Fatalf("%q: the command sees --%s as %q, not %q", want.written, name, seen, value)
					}
				}
			}
			return nil
		}
		if err := app.Run(got.forCLI(app.Name)); err != nil || !ran {
			t.Fatalf("%q: ran %v, %v", want.written, ran, err)
		}
	})
}

// No input makes parse panic, and its errors are usage errors.
func TestParseAnything(t *testing.T) {
	t.Parallel()
	app := testApp()
	words := []string{"accounts", "keys", "create", "list", "draws", "set", "help", "--", "-", "-h", "--email", "-o", "--output=", "--=", "-=", "---", "=x", "", "--yes=no", "--yes=1"}
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(words), rapid.String())).Draw(t, "args")
		l, err := parse(app, args)
		if err != nil && models.ErrorCode(err) != models.CodeInvalid {
			t.Fatalf("%q: %v", args, err)
		}
		if err == nil && l.complete() {
			_ = l.forCLI(app.Name)
		}
	})
}

// What a command line may consist of is a promise to scripts: names, what is required, and the order of the arguments.
func TestSynopses(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, path := range carriedOut(testApp()) {
		got.WriteString((&line{path: path}).usage() + "\n")
	}
	want, err := os.ReadFile("testdata/synopses.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("testdata/synopses.txt should be, if it is meant:\n%s", &got)
	}
}

// Whoever asks for help gets it, even where a value is expected.
func TestHelpIsNoValue(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"accounts list --search -h", "accounts list --search --help", "accounts list --search x -h --nosuch", "--version --help", "help help"} {
		if l, err := parse(testApp(), strings.Fields(line)); err != nil || !l.help {
			t.Errorf("%s: %v, help %v", line, err, l.help)
		}
	}
}

func TestParseMistakes(t *testing.T) {
	t.Parallel()
	app := testApp()
	for _, c := range []struct {
		line string
		want string // within the error; "" = no error
	}{
		{"accounts show a", ""},
		{"accounts show -5", ""},
		{"accounts show -", ""},
		{"accounts list -search x", ""}, // one hyphen, which Go's own tools allow too
		{"accounts list --search=", ""},
		{"draws export --game=", "--game is empty"},
		{"accounts list --config=", "--config is empty"},
		{"accounts show", "needs ACCOUNT"},
		{"accounts show a b", `unexpected argument "b"`},
		{"accounts set-plan a", "needs free|pro|billing"},
		{"draws import --feed csv", "needs FILE|URL; usage"},
		{"draws import --feed csv a b c d", ""},
		{"accounts list --search", "--search needs a value"},
		{"accounts list --search --plan free", "--search needs a value"},
		{"accounts list --search -o json", "--search needs a value"},
		{"accounts list --search --", "--search needs a value"},
		{"accounts list --search -xyz", ""}, // no flag of ours, so it is what is searched for
		{"accounts create --email a@b --name=", ""},
		{"--acount", "there is no flag --acount; did you mean --account?"},
		{"accounts list --search x --search x", "--search was given twice"},
		{"-q accounts list --quiet", "--quiet was given twice"},
		{"accounts suspend a --yes=maybe", "--yes is a switch"},
		{"accounts suspend a --yess", "did you mean --yes"},
		{"accounts suspend a ---yes", "has no flag ---yes"},
		{"accounts list --yes", "accounts list has no flag --yes; `lotteryadmin accounts list --help` lists"},
		{"accouns list", "did you mean accounts"},
		{"accounts shw", `there is no command "accounts shw"; did you mean show`},
		{"accounts xyzzy", "`lotteryadmin accounts --help` lists"},
		{"--emial x accounts create", "there is no flag --emial; did you mean --email"},
		{"--emial accounts create", "has no flag --emial; did you mean --email"},
		{"accounts create --plan pro", "needs --email"},
		{"accounts create --email ", "--email needs a value"},
	} {
		_, err := parse(app, strings.Fields(c.line))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.line, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
}
