package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"lottery/api/openapi"
	"lottery/configs"
	"lottery/jobs"
	"lottery/jobs/importer"
)

// rows returns the rows of the tables in a document, without their heads.
func rows(t *testing.T, file string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| ") {
			list = append(list, line)
		}
	}
	return list
}

// The tables of the documents list every endpoint, feed, job and built-in game.
func TestDocsListEverything(t *testing.T) {
	t.Parallel()
	readme, operations, sources := rows(t, "../README.md"), rows(t, "../docs/operations.md"), rows(t, "../web/content/sources.md")
	listed := func(rows []string, begin string) bool {
		return slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, "| `"+begin) })
	}
	doc, err := openapi3.NewLoader().LoadFromData(openapi.YAML())
	if err != nil {
		t.Fatal(err)
	}
	for path := range doc.Paths.Map() {
		before, _, _ := strings.Cut(path, "{")
		if strings.HasPrefix(path, "/v1/") && !listed(readme, before) {
			t.Errorf("README.md does not list %s", path)
		}
	}
	for _, feed := range importer.Feeds() {
		if !listed(readme, feed+"`") {
			t.Errorf("README.md does not say what the feed %s reads", feed)
		}
	}
	for _, name := range jobs.Names() {
		if !listed(operations, name+"`") {
			t.Errorf("docs/operations.md does not explain the job %s", name)
		}
	}
	games, err := configs.Games()
	if err != nil {
		t.Fatal(err)
	}
	for i := range games {
		if !slices.ContainsFunc(sources, func(row string) bool { return names(row, games[i].Name) }) {
			t.Errorf("web/content/sources.md does not list the lottery of %s", games[i].Name)
		}
	}
}

// Every command of lotteryadmin is in a manual; --help alone does not say what it is good for.
func TestDocsNameEveryCommand(t *testing.T) {
	t.Parallel()
	var manuals strings.Builder
	for _, file := range []string{"../README.md", "../docs/operations.md", "../docs/billing.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manuals.Write(text)
	}
	synopses, err := os.ReadFile("../admin/testdata/synopses.txt") // the commands, as a test of package admin compares them
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(synopses)) {
		command := regexp.MustCompile(`^lotteryadmin ([a-z][a-z-]*( [a-z][a-z-]*\b)?)`).FindStringSubmatch(line)
		if command == nil || !regexp.MustCompile(regexp.QuoteMeta(command[1])+`([^a-z-]|$)`).MatchString(manuals.String()) {
			t.Errorf("no manual mentions %s", strings.TrimSpace(line))
		}
	}
}

// The log lines that the manual explains are those that the programs write, from their first word to the "…".
func TestDocsQuoteTheLog(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted, inTable := 0, false
	for line := range strings.Lines(string(manual)) {
		if strings.HasPrefix(line, "| log line |") {
			inTable = true
		}
		if inTable = inTable && line != "\n"; !inTable {
			continue
		}
		lines, _, _ := strings.Cut(line, " | ")
		lines, _, _ = strings.Cut(lines, ", with ") // a line's attributes
		for _, of := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(lines, -1) {
			quoted++
			begin, _, cut := strings.Cut(of[1], "…")
			if begin = `"` + strings.TrimSpace(begin); !cut {
				begin += `"`
			}
			if !strings.Contains(source.String(), begin) {
				t.Errorf("docs/operations.md explains a log line that nothing writes: %s", of[1])
			}
		}
	}
	if quoted < 30 {
		t.Errorf("only %d log lines are explained", quoted)
	}
}

// The files and packages that documents lead to are there.
func TestDocsLeadToFiles(t *testing.T) {
	t.Parallel()
	documents := []string{"../CONTRIBUTING.md", "../README.md"} // the changelog may name what is gone
	for _, in := range []string{"../docs/*.md", "../docs/*/*.md"} {
		found, err := filepath.Glob(in)
		if err != nil || len(found) == 0 {
			t.Fatal(in, err)
		}
		documents = append(documents, found...)
	}
	place := regexp.MustCompile("`((?:api|admin|billing|cmd|configs|docs|jobs|models|web)/[A-Za-z0-9_./*-]*[A-Za-z0-9*])`")
	found := 0
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range place.FindAllStringSubmatch(string(text), -1) {
			found++
			if there, err := filepath.Glob("../" + of[1]); err != nil || len(there) == 0 {
				t.Errorf("%s leads to %s, which is not there (%v)", document, of[1], err)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d files are named", found)
	}
}

// names reports whether a row begins with a state and names its game: both together are the game's name.
func names(row, game string) bool {
	for i, r := range game {
		if r == ' ' && strings.HasPrefix(row, "| "+game[:i]+" ") && strings.Contains(row, game[i+1:]) {
			return true
		}
	}
	return false
}
