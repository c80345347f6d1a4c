package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"lottery/models/store/storetest"
)

// Every sample of the docs runs as it is shown, and prints draws.
func TestSamples(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	key := regexp.MustCompile(`ldk_[0-9A-Za-z]{38}`).FindAllString(p.stdout.String(), -1)[1]
	for _, page := range []string{"/docs", "/docs/pagination"} {
		for name, text := range samplesOn(t, p.base+page) {
			t.Run(strings.Trim(page, "/")+" "+name, func(t *testing.T) { runSample(t, name, text, key) })
		}
	}
}

// samplesOn returns the samples of a page by their language.
func samplesOn(t *testing.T, address string) map[string]string {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	tree, err := html.Parse(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]string{}
	for n := range tree.Descendants() {
		if n.Data != "pre" || n.FirstChild == nil || n.FirstChild.FirstChild == nil {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == "aria-label" {
				samples[a.Val] = n.FirstChild.FirstChild.Data
			}
		}
	}
	if len(samples) < 2 {
		t.Fatalf("%s has %d samples", address, len(samples))
	}
	return samples
}

// interpreters is how a sample of a language is run.
var interpreters = map[string]struct {
	file    string
	command []string
}{
	"curl":       {"sample.sh", []string{"sh"}},
	"Python":     {"sample.py", []string{"python3"}},
	"JavaScript": {"sample.mjs", []string{"node"}},
	"Go":         {"sample.go", []string{"go", "run"}},
	"R":          {"sample.R", []string{"Rscript", "--vanilla"}},
}

var threeDigits = regexp.MustCompile(`\d{3}`)

func runSample(t *testing.T, language, text, key string) {
	t.Helper()
	how, ok := interpreters[language]
	if !ok {
		t.Fatalf("nobody knows how to run %s", language)
	}
	if _, err := exec.LookPath(how.command[0]); err != nil {
		storetest.Missing(t, how.command[0])
	}
	file := filepath.Join(t.TempDir(), how.file)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, how.command[0], append(how.command[1:], file)...)
	command.Env = append(os.Environ(), "LOTTERY_API_KEY="+key)
	out, err := command.CombinedOutput()
	if err != nil || len(threeDigits.FindAllString(string(out), -1)) < 3 {
		t.Errorf("%s: %v\n%s", language, err, out)
	}
}

// firstKey returns a key that the demo printed.
func firstKey(t *testing.T, p *process) string {
	t.Helper()
	found := regexp.MustCompile(`ldk_[0-9A-Za-z]{38}`).FindString(p.stdout.String())
	if found == "" {
		t.Fatal("the demo printed no key")
	}
	return found
}

func textAt(t *testing.T, address, key string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-Api-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// plain returns the text of a piece of HTML.
func plain(s string) string {
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(s, ""))
}
