package admin

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"lottery/models"
)

// resolve finds the command that the words name; the words after it are arguments.
func (s *scanner) resolve(app *cli.App) (line, error) {
	l := line{help: s.help, globals: map[string]string{}, flags: map[string]string{}}
	words, commands, within := s.words, app.Commands, ""
	for len(words) > 0 && commands != nil {
		word := words[0]
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == word })
		switch {
		case i >= 0:
			l.path = append(l.path, commands[i])
			commands, within = commands[i].Subcommands, word
		case word == "help":
			l.help = true
		default:
			return l, unknownCommand(within, word, commands)
		}
		words = words[1:]
	}
	l.args = append([]string{}, words...)
	return l, nil
}

func unknownCommand(within, word string, commands []*cli.Command) error {
	names := make([]string, 0, len(commands))
	for _, c := range commands {
		names = append(names, c.Name)
	}
	typed := strings.TrimSpace(within + " " + word)
	if near := models.Nearest(word, names); len(near) > 0 {
		return models.Errorf(models.CodeInvalid, "there is no command %q; did you mean %s?", typed, strings.Join(near, " or "))
	}
	return models.Errorf(models.CodeInvalid, "there is no command %q; `lotteryadmin %s` lists them all", typed, strings.TrimSpace(within+" --help"))
}

// unknownFlag returns the error for the first flag that the command does not have.
func (s *scanner) unknownFlag(app *cli.App, l *line) error {
	known := flagNames(app.Flags)
	if l.complete() {
		known = append(known, flagNames(l.command().Flags)...)
	} else {
		for _, kind := range s.kinds {
			known = append(known, kind.name)
		}
		slices.Sort(known)
		known = slices.Compact(known)
	}
	for _, g := range s.flags {
		if g.name != "" && slices.Contains(known, g.name) {
			continue
		}
		fault := "there is no flag " + g.typed
		if len(l.path) > 0 {
			fault = l.name() + " has no flag " + g.typed
		}
		if near := models.Nearest(strings.TrimLeft(g.typed, "-"), known); len(near) > 0 {
			return models.Errorf(models.CodeInvalid, "%s; did you mean --%s?", fault, strings.Join(near, " or --"))
		}
		return models.Errorf(models.CodeInvalid, "%s; `%s` lists its flags", fault, strings.Join(strings.Fields("lotteryadmin "+l.name()+" --help"), " "))
	}
	return nil
}

func flagNames(flags []cli.Flag) []string {
	names := make([]string, 0, len(flags))
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}

// name returns the command as typed: accounts create.
func (l *line) name() string {
	names := make([]string, 0, len(l.path))
	for _, c := range l.path {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// sort assigns the flags to the program or the command. A flag given twice is an error: either value might be meant.
func (s *scanner) sort(app *cli.App, l *line) error {
	globals := flagNames(app.Flags)
	for _, g := range s.flags {
		into := l.flags
		if slices.Contains(globals, g.name) {
			into = l.globals
		}
		if _, twice := into[g.name]; twice {
			return models.Errorf(models.CodeInvalid, "--%s was given twice; give it once", g.name)
		}
		if g.value == "" && !s.kinds[g.name].text {
			return models.Errorf(models.CodeInvalid, "--%s is empty; give it a value, or leave the flag out", g.name)
		}
		into[g.name] = g.value
	}
	return nil
}

// check returns an error about what is missing or too much.
func (l *line) check() error {
	for _, f := range l.command().Flags {
		if required(f) && strings.TrimSpace(l.flags[f.Names()[0]]) == "" {
			return models.Errorf(models.CodeInvalid, "%s needs %s; usage: %s", l.name(), flagUsage(f), l.usage())
		}
	}
	want := strings.Fields(l.command().ArgsUsage)
	needed := len(slices.DeleteFunc(slices.Clone(want), optionalArg))
	if len(l.args) < needed {
		return models.Errorf(models.CodeInvalid, "%s needs %s; usage: %s", l.name(), strings.TrimSuffix(want[len(l.args)], "…"), l.usage())
	}
	many := len(want) > 0 && strings.HasSuffix(want[len(want)-1], "…")
	if len(l.args) > len(want) && !many {
		return models.Errorf(models.CodeInvalid, "unexpected argument %q; usage: %s", l.args[len(want)], l.usage())
	}
	return nil
}

// optionalArg reports whether an argument may be left out, like [ACCOUNT]. Optional arguments come last.
func optionalArg(arg string) bool { return strings.HasPrefix(arg, "[") }

// usage returns the command's synopsis.
func (l *line) usage() string { return strings.Join(l.synopsis(), " ") }

// synopsis returns the command, then its required flags, arguments, and optional flags in brackets, each of them a part.
func (l *line) synopsis() []string {
	cmd := l.command()
	parts := []string{"lotteryadmin", l.name()}
	if len(cmd.Subcommands) > 0 {
		parts = append(parts, "COMMAND")
	}
	var optional []string
	for _, f := range cmd.Flags {
		if required(f) {
			parts = append(parts, flagUsage(f))
		} else {
			optional = append(optional, "["+flagUsage(f)+"]")
		}
	}
	return slices.Concat(parts, strings.Fields(cmd.ArgsUsage), optional)
}

func required(f cli.Flag) bool {
	r, ok := f.(cli.RequiredFlag)
	return ok && r.IsRequired()
}

// flagUsage returns a flag with its placeholder: --plan free|pro.
func flagUsage(f cli.Flag) string {
	text := "--" + f.Names()[0]
	if placeholder, _ := describe(f); placeholder != "" {
		text += " " + placeholder
	}
	return text
}

// describe splits a flag's text into its placeholder, which is in backquotes, and the text without the quotes.
func describe(f cli.Flag) (placeholder, text string) {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	text = doc.GetUsage()
	before, rest, ok1 := strings.Cut(text, "`")
	placeholder, after, ok2 := strings.Cut(rest, "`")
	switch {
	case ok1 && ok2:
		return placeholder, before + placeholder + after
	case takesValue(f):
		return "VALUE", text
	default:
		return "", text
	}
}
