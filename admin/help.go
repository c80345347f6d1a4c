package admin

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

const helpWidth = 100 // columns

// writeHelp explains the command that l names, or the whole tool.
func writeHelp(w io.Writer, app *cli.App, l *line) error {
	var b strings.Builder
	cmd := l.command()
	switch {
	case cmd == nil:
		fmt.Fprintf(&b, "lotteryadmin is %s.\n\nUsage:\n  lotteryadmin COMMAND [flags] [arguments]\n", app.Usage)
		b.WriteString("  Flags can go anywhere. `lotteryadmin COMMAND --help` explains a command and gives an example.\n")
		b.WriteString("\nCommands:\n")
		helpList(&b, commandLines(app.Commands))
	case len(cmd.Subcommands) > 0:
		fmt.Fprintf(&b, "lotteryadmin %s: %s\n\nUsage:\n  %s\n\nCommands:\n", cmd.Name, cmd.Usage, l.usage())
		helpList(&b, commandLines([]*cli.Command{cmd}))
	default:
		fmt.Fprintf(&b, "lotteryadmin %s: %s\n\nUsage:\n", l.name(), cmd.Usage)
		wrap(&b, l.synopsis())
		b.WriteByte('\n')
		b.WriteString(cmd.Description + "\n")
		if len(cmd.Flags) > 0 {
			b.WriteString("\nFlags:\n")
			helpList(&b, flagLines(cmd.Flags))
		}
	}
	b.WriteString("\nGlobal flags:\n")
	helpList(&b, append(flagLines(app.Flags), [2]string{"-h, --help", "explain the command"}))
	if cmd == nil {
		b.WriteString("\nExit codes:\n")
		b.WriteString("  0 done, 1 failed, 2 usage, 3 done but some rows rejected, 4 not found, 5 conflict\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// commandLines lists the executable commands with one line of text each.
func commandLines(nouns []*cli.Command) [][2]string {
	var lines [][2]string
	for _, noun := range nouns {
		if len(noun.Subcommands) == 0 {
			lines = append(lines, [2]string{strings.TrimSpace(noun.Name + " " + noun.ArgsUsage), noun.Usage})
		}
		for _, verb := range noun.Subcommands {
			lines = append(lines, [2]string{strings.TrimSpace(noun.Name + " " + verb.Name + " " + verb.ArgsUsage), verb.Usage})
		}
	}
	return lines
}

func flagLines(flags []cli.Flag) [][2]string {
	var lines [][2]string
	for _, f := range flags {
		name := flagUsage(f)
		for _, alias := range f.Names()[1:] {
			name = "-" + alias + ", " + name
		}
		_, text := describe(f)
		lines = append(lines, [2]string{name, text})
	}
	return lines
}

// helpList writes names and texts in two columns.
func helpList(b *strings.Builder, lines [][2]string) {
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l[0]))
	}
	for _, l := range lines {
		fmt.Fprintf(b, "  %-*s   %s\n", width, l[0], l[1])
	}
}

// wrap writes the parts of a synopsis in lines of helpWidth, and breaks none of them.
func wrap(b *strings.Builder, parts []string) {
	line := " "
	for _, part := range parts {
		if utf8.RuneCountInString(line+" "+part) > helpWidth {
			b.WriteString(line + "\n")
			line = "     "
		}
		line += " " + part
	}
	b.WriteString(line + "\n")
}
