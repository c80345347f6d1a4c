package admin

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/models"
)

// line is a parsed command line. It does not depend on where the flags were.
type line struct {
	path    []*cli.Command    // noun and verb, or only one of them; empty if no command was named
	globals map[string]string // the values given, by the flags' own names
	flags   map[string]string
	args    []string
	help    bool // -h, --help, or the word help
}

// command returns the last element of the path; nil if no command was named.
func (l *line) command() *cli.Command {
	if len(l.path) == 0 {
		return nil
	}
	return l.path[len(l.path)-1]
}

// complete reports whether the path names something that can be executed.
func (l *line) complete() bool { return len(l.path) > 0 && len(l.command().Subcommands) == 0 }

// forCLI returns the line in the order that urfave/cli v2 needs: it stops looking for flags at the first argument.
func (l *line) forCLI(program string) []string {
	words := appendFlags([]string{program}, l.globals)
	for _, c := range l.path {
		words = append(words, c.Name)
	}
	words = append(appendFlags(words, l.flags), "--")
	return append(words, l.args...)
}

func appendFlags(words []string, flags map[string]string) []string {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		words = append(words, "--"+name+"="+flags[name])
	}
	return words
}

// given is one flag as it was typed.
type given struct {
	typed string // with hyphens
	name  string // the flag's own name; "" if no command has it
	value string
}

// parse parses args (without the program's name) against app's commands. Flags may be anywhere; "--" ends them; "-" and
// negative numbers are arguments. A flag's value may be a separate word unless it looks like a flag; then it must be
// given as --flag=value. The error is CodeInvalid. Asking for help overrides errors in flags and arguments.
func parse(app *cli.App, args []string) (line, error) {
	s := scanner{kinds: flagsOf(app)}
	s.scan(args)
	if s.version && !s.help {
		s.words = []string{"version"}
	}
	l, err := s.resolve(app)
	if err == nil && l.help {
		return l, nil
	}
	// Check this before err: what looks like a wrong command may be an unknown flag's value.
	if unknown := s.unknownFlag(app, &l); unknown != nil {
		return l, unknown
	}
	switch {
	case err != nil:
		return l, err
	case !l.complete():
		return l, nil
	case s.problem != nil:
		return l, s.problem
	}
	if err := s.sort(app, &l); err != nil {
		return l, err
	}
	return l, l.check()
}

// scanner separates flags, their values and plain words. It can do so before it knows the command, because a flag's
// name takes a value in all commands that have it, or in none (a test enforces that).
type scanner struct {
	kinds   map[string]flagKind
	flags   []given
	words   []string
	help    bool
	version bool  // --version, which means the version command, whatever other command was named
	problem error // the first one
}

type flagKind struct {
	name  string // not an alias
	value bool
	text  bool // free text, which may be empty
}

func kindOf(f cli.Flag) flagKind {
	placeholder, _ := describe(f)
	return flagKind{f.Names()[0], takesValue(f), placeholder == "NAME" || placeholder == "TEXT"}
}

// flagsOf returns every flag of every command, by name and alias.
func flagsOf(app *cli.App) map[string]flagKind {
	kinds := map[string]flagKind{}
	add := func(flags []cli.Flag) {
		for _, f := range flags {
			kind := kindOf(f)
			for _, name := range f.Names() {
				kinds[name] = kind
			}
		}
	}
	add(app.Flags)
	for _, noun := range app.Commands {
		add(noun.Flags)
		for _, verb := range noun.Subcommands {
			add(verb.Flags)
		}
	}
	return kinds
}

func takesValue(f cli.Flag) bool {
	_, isBool := f.(*cli.BoolFlag)
	return !isBool
}

func (s *scanner) scan(args []string) {
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			s.words = append(s.words, args[i+1:]...)
			return
		}
		if !isFlag(word) {
			s.words = append(s.words, word)
			continue
		}
		typed, value, hasValue := strings.Cut(word, "=")
		kind, known := s.kind(typed)
		switch {
		case typed == "-h" || typed == "--help":
			s.help = true
			continue
		case typed == "--version":
			s.version = true
			continue
		case !known:
		case !kind.value:
			if on, err := strconv.ParseBool(value); hasValue && err != nil {
				s.fail("%s is a switch: its only values are true and false", typed)
			} else {
				value = strconv.FormatBool(on || !hasValue)
			}
		case !hasValue && i+1 < len(args) && !s.looksLikeFlag(args[i+1]):
			i++
			value = args[i]
		case !hasValue:
			s.fail("%s needs a value: %s VALUE, or %s=VALUE if the value begins with a hyphen", typed, typed, typed)
		}
		s.flags = append(s.flags, given{typed, kind.name, value})
	}
}

func (s *scanner) fail(format string, args ...any) {
	if s.problem == nil {
		s.problem = models.Errorf(models.CodeInvalid, format, args...)
	}
}

// kind looks up a flag as typed: with two hyphens, or with one, as Go's own tools allow.
func (s *scanner) kind(typed string) (flagKind, bool) {
	kind, ok := s.kinds[strings.TrimPrefix(strings.TrimPrefix(typed, "-"), "-")]
	return kind, ok
}

// looksLikeFlag reports whether word is a flag although a value is expected.
func (s *scanner) looksLikeFlag(word string) bool {
	typed, _, _ := strings.Cut(word, "=")
	_, known := s.kind(typed)
	return word == "--" || (isFlag(word) && (known || typed == "-h" || typed == "--help" || typed == "--version"))
}

// isFlag reports whether word is a flag; "-" and negative numbers are not.
func isFlag(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(word, 64)
	return err != nil
}
