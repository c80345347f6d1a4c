package admin_test

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestProgressBarOnlyOnATerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	file := filepath.Join(d.dir, "draws.csv")
	write(t, file, "game,date,tod,number\nva-pick-3,2020-05-04,Day,007\n")
	if _, messages := d.run(0, "draws", "import", "--feed", "csv", file); messages != "" {
		t.Errorf("without a terminal: %q", messages)
	}
	d.terminal = true
	if _, messages := d.run(0, "draws", "import", "--feed", "csv", file); !strings.Contains(messages, "reading draws.csv") || !strings.HasSuffix(messages, "\r") {
		t.Errorf("on a terminal: %q", messages)
	}
	more := filepath.Join(d.dir, "more.csv")
	write(t, more, "game,date,tod,number\nva-pick-3,2020-05-05,Day,007\n")
	d.stdin = "game,date,tod,number\nva-pick-3,2020-05-06,Day,007\n"
	_, messages := d.run(0, "draws", "import", "--feed", "csv", file, more, "-")
	for _, name := range []string{"draws.csv", "more.csv", "stdin"} {
		if !strings.Contains(messages, "reading "+name) {
			t.Errorf("%s is not named: %q", name, messages)
		}
	}
	copied := "sqlite:" + filepath.Join(d.dir, "copy.db")
	if _, messages := d.run(0, "db", "copy", "--from", "sqlite:"+filepath.Join(d.dir, "lottery.db"), "--database-url", copied); !strings.Contains(messages, "copying draws") || !strings.Contains(messages, "\rCopied ") {
		t.Errorf("on a terminal: %q", messages)
	}
	if _, messages := d.run(0, "draws", "import", "--feed", "csv", file, "-q"); messages != "" {
		t.Errorf("on a terminal with --quiet: %q", messages)
	}
}
