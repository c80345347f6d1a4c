package admin

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/urfave/cli/v2"

	"lottery/configs"
	"lottery/jobs/importer"
)

//go:embed completion/*.tmpl
var completionScripts embed.FS

func (t *tool) completion() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a script that completes lotteryadmin's commands in your shell", ArgsUsage: "bash|zsh|fish",
		Description: "Example:\n  bash: source <(lotteryadmin completion bash)\n" +
			"  zsh:  lotteryadmin completion zsh > \"${fpath[1]}/_lotteryadmin\"\n" +
			"  fish: lotteryadmin completion fish > ~/.config/fish/completions/lotteryadmin.fish",
		Action: func(c *cli.Context) error {
			shell, err := oneOf("the shell", c.Args().First(), "bash", "zsh", "fish")
			if err != nil {
				return err
			}
			return t.writeCompletion(shell, c.App)
		},
	}
}

// writeCompletion fills the shell's script template from the command tree.
func (t *tool) writeCompletion(shell string, app *cli.App) error {
	script := template.New(shell + ".tmpl").Funcs(template.FuncMap{"join": strings.Join, "quote": singleQuoted, "colons": escapedColons})
	script, err := script.ParseFS(completionScripts, "completion/"+shell+".tmpl")
	if err != nil {
		return fmt.Errorf("completion: %w", err)
	}
	tree, err := completionOf(app)
	if err != nil {
		return err
	}
	if err := script.Execute(t.env.Stdout, tree); err != nil {
		return fmt.Errorf("completion: %w", err)
	}
	return nil
}

// completionTree is everything that can be typed.
type completionTree struct {
	Nouns    []string // those that need a verb
	Places   []completionPlace
	Global   []completionFlag
	Flags    []completionFlag // of all commands, each name once
	Valued   []string         // the flags that take a value, as typed
	HelpText string
}

// completionPlace is a point that a command line may have reached.
type completionPlace struct {
	Path  string // accounts create; "" before any command
	Words []completionWord
	Flags []completionFlag // the command's own
	Args  []completionValues
}

type completionWord struct{ Word, Usage string }

type completionFlag struct {
	Names []string // as typed: --output, -o
	Usage string
	Value bool
	completionValues
}

// completionValues lists a value's possible words, if they are known.
type completionValues struct {
	Position int // of an argument, from 0
	Words    []string
	Files    bool
}

func completionOf(app *cli.App) (completionTree, error) {
	games, err := configs.Games()
	if err != nil {
		return completionTree{}, fmt.Errorf("completion: %w", err)
	}
	known := map[string][]string{"tod": allTods(), "tods": allTods(), "feed": importer.Feeds()}
	for _, g := range games {
		known["game"] = append(known["game"], g.ID)
	}
	tree := completionTree{Places: []completionPlace{{}}, HelpText: "explain the command"}
	tree.Global = completionFlags(app.Flags, known)
	tree.add(tree.Global)
	for _, noun := range app.Commands {
		tree.Places[0].Words = append(tree.Places[0].Words, completionWord{noun.Name, noun.Usage})
		if len(noun.Subcommands) == 0 {
			tree.Places = append(tree.Places, placeOf(noun.Name, noun, known))
			continue
		}
		tree.Nouns = append(tree.Nouns, noun.Name)
		place := completionPlace{Path: noun.Name}
		for _, verb := range noun.Subcommands {
			place.Words = append(place.Words, completionWord{verb.Name, verb.Usage})
		}
		tree.Places = append(tree.Places, place)
		for _, verb := range noun.Subcommands {
			tree.Places = append(tree.Places, placeOf(noun.Name+" "+verb.Name, verb, known))
		}
	}
	for _, p := range tree.Places {
		tree.add(p.Flags)
	}
	return tree, nil
}

// add adds the flags that the tree lacks.
func (tree *completionTree) add(flags []completionFlag) {
	for _, f := range flags {
		if slices.ContainsFunc(tree.Flags, func(known completionFlag) bool { return known.Names[0] == f.Names[0] }) {
			continue
		}
		tree.Flags = append(tree.Flags, f)
		if f.Value {
			tree.Valued = append(tree.Valued, f.Names...)
		}
	}
}

func placeOf(path string, c *cli.Command, known map[string][]string) completionPlace {
	place := completionPlace{Path: path, Flags: completionFlags(c.Flags, known)}
	for i, arg := range strings.Fields(c.ArgsUsage) {
		if values := valuesOf(strings.Trim(arg, "[]"), nil); values.Files || values.Words != nil {
			values.Position = i
			place.Args = append(place.Args, values)
		}
	}
	return place
}

func completionFlags(flags []cli.Flag, known map[string][]string) []completionFlag {
	var list []completionFlag
	for _, f := range flags {
		placeholder, usage := describe(f)
		entry := completionFlag{Usage: usage, Value: takesValue(f), completionValues: valuesOf(placeholder, known[f.Names()[0]])}
		for _, name := range f.Names() {
			hyphens := "--"
			if len(name) == 1 {
				hyphens = "-"
			}
			entry.Names = append(entry.Names, hyphens+name)
		}
		list = append(list, entry)
	}
	return list
}

// valuesOf interprets a placeholder: FILE is a file, free|pro is one of two words.
func valuesOf(placeholder string, known []string) completionValues {
	if known != nil {
		return completionValues{Words: known}
	}
	words := strings.Split(placeholder, "|")
	for _, w := range words {
		if w == "FILE" {
			return completionValues{Files: true}
		}
		if len(words) == 1 || strings.ToLower(w) != w || strings.ContainsAny(w, "0123456789") {
			return completionValues{}
		}
	}
	return completionValues{Words: words}
}

// singleQuoted quotes for the three shells.
func singleQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// escapedColons escapes colons for zsh's "word:text" pairs.
func escapedColons(text string) string { return strings.ReplaceAll(text, ":", `\:`) }
