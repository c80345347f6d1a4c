package admin

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/models"
)

// line is a command line taken apart. It is the same wherever on the line its flags stood.
type line struct {
	path    []*cli.Command    // noun and verb, or only one of them; empty where no command was named
	globals map[string]string // what was given, by the flags' own names
	flags   map[string]string
	args    []string
	help    bool // -h, --help, or the word help
}

// command is the last of the path; nil where no command was named.
func (l *line) command() *cli.Command {
	if len(l.path) == 0 {
		return nil
	}
	return l.path[len(l.path)-1]
}

// complete tells whether the path names something that can be carried out.
func (l *line) complete() bool { return len(l.path) > 0 && len(l.command().Subcommands) == 0 }

// forCLI is the line in the one order that urfave/cli v2 reads, which stops looking for flags at the first argument.
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

// given is one flag as it stood on the line.
type given struct {
	typed string // with its hyphens
	name  string // the flag's own name; "" where no command has it
	value string
}

// parse takes args (without the program's name) apart against app's commands. Flags may stand anywhere;
// "--" ends them; "-" and negative numbers are arguments. A value may follow its flag as a word of its own,
// unless it looks like a flag: then it must be given as --flag=value.
// The error is CodeInvalid. Asking for help overrides what is wrong with flags and arguments.
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
	// Before err: what looks like a wrong command may be an unknown flag's value.
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

// scanner tells flags, their values and plain words apart. It can do so before it knows the command, because a
// flag's name takes a value in all commands that have it, or in none (a test holds us to it).
type scanner struct {
	kinds   map[string]flagKind
	flags   []given
	words   []string
	help    bool
	version bool  // --version, which stands for the command of that name, whatever other was named
	problem error // the first
}

type flagKind struct {
	name  string // without alias
	value bool
	text  bool // free text: it may be empty
}

func kindOf(f cli.Flag) flagKind {
	placeholder, _ := describe(f)
	return flagKind{f.Names()[0], takesValue(f), placeholder == "NAME" || placeholder == "TEXT"}
}

// flagsOf is every flag of every command, by name and alias.
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

// kind looks a flag up as typed: two hyphens, or one as Go's own tools allow.
func (s *scanner) kind(typed string) (flagKind, bool) {
	kind, ok := s.kinds[strings.TrimPrefix(strings.TrimPrefix(typed, "-"), "-")]
	return kind, ok
}

// looksLikeFlag tells whether word stands for a flag although a value is due.
func (s *scanner) looksLikeFlag(word string) bool {
	typed, _, _ := strings.Cut(word, "=")
	_, known := s.kind(typed)
	return word == "--" || (isFlag(word) && (known || typed == "-h" || typed == "--help" || typed == "--version"))
}

// isFlag tells flags from words: "-" is a word, and so is a negative number.
func isFlag(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(word, 64)
	return err != nil
}
