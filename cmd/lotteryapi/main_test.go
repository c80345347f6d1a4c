package main

import (
	"strings"
	"testing"
)

// What lotteryadmin knows as words, lotteryapi does, too.
func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args         string
		code         int
		says, errors string
	}{
		{"help", 0, "COMMANDS:\n   serve", ""},
		{"help serve", 0, "lotteryapi serve - serve the API", ""},
		{"help version", 0, "lotteryapi version - print the version", ""},
		{"help no", 2, "", `there is no command "no"; there are serve, demo, healthcheck, help and version`},
		{"version", 0, "lotteryapi version ", ""},
		{"--version", 0, "lotteryapi version ", ""},
		{"version 2", 2, "", "version takes no arguments"},
	} {
		var stdout, stderr strings.Builder
		code := run(t.Context(), strings.Fields("lotteryapi "+c.args), func(string) string { return "" }, &stdout, &stderr)
		if code != c.code || !strings.Contains(stdout.String(), c.says) || !strings.Contains(stderr.String(), c.errors) || (code == 0) != (stderr.Len() == 0) {
			t.Errorf("%s: exit code %d, %s%s", c.args, code, stdout.String(), stderr.String())
		}
	}
}
