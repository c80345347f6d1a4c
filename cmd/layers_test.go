// Package cmd_test checks what must hold for the whole tree.
package cmd_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// floors says which package may import which: only those on lower floors.
var floors = map[string]int{
	"models": 1, "models/secret": 1, "configs": 1, "web/mail": 1, "api/openapi": 1, "api/accept": 1, "api/deflate": 1, "models/store/migrations": 1,
	"models/catalog": 2, "models/store": 2, "jobs/feed": 2, "api/problem": 2,
	"models/store/storetest": 3, "jobs/feed/feedtest": 3, "jobs/feed/nyopendata": 3, "jobs/feed/texas": 3, "jobs/feed/northcarolina": 3,
	"jobs/feed/virginia": 3, "jobs/feed/generic": 3, "jobs/importer": 3, "billing": 3, "api/quota": 3, "api/middleware": 3,
	"jobs": 4, "api": 4, "web": 4, "billing/sandbox": 4, "billing/sandbox/sandboxtest": 5,
	"admin":          5,
	"cmd/lotteryapi": 6, "cmd/lotteryadmin": 6, "cmd": 7,
}

// exceptions lists justified imports within a floor.
var exceptions = map[[2]string]string{
	{"configs", "models"}:                        "the vocabulary itself: configs holds plans and games in its words",
	{"jobs/importer", "jobs/feed/nyopendata"}:    "the importer is the table of feeds",
	{"jobs/importer", "jobs/feed/texas"}:         "the importer is the table of feeds",
	{"jobs/importer", "jobs/feed/northcarolina"}: "the importer is the table of feeds",
	{"jobs/importer", "jobs/feed/virginia"}:      "the importer is the table of feeds",
	{"jobs/importer", "jobs/feed/generic"}:       "the importer is the table of feeds",
}

const module = "lottery"

// TestLayers reads the sources instead of running `go list`, whose result the test cache would keep.
func TestLayers(t *testing.T) {
	t.Parallel()
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		checkFile(t, path, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkFile(t *testing.T, path, from string) {
	t.Helper()
	floor, known := floors[from]
	if !known {
		t.Errorf("%s: the package %s has no floor: add it to floors, and to the table in CONTRIBUTING.md", path, from)
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	isTest := strings.HasSuffix(path, "_test.go")
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		to, ours := strings.CutPrefix(name, module+"/")
		switch {
		case !ours:
			if from == "models" && !isTest && strings.Contains(strings.SplitN(name, "/", 2)[0], ".") {
				t.Errorf("%s imports %s: models imports the standard library only", path, name)
			}
		case to == from, exceptions[[2]string{from, to}] != "":
		case isTest && (to == "models/store/storetest" || to == "jobs/feed/feedtest" || to == "billing/sandbox" || to == "billing/sandbox/sandboxtest"): // made for tests
		case floors[to] >= floor:
			t.Errorf("%s (floor %d) imports %s (floor %d): only lower floors may be imported, unless exceptions gives a reason", path, floor, to, floors[to])
		}
	}
}
