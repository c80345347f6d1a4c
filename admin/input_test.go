package admin_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"lottery/admin"
)

// Ctrl-C ends a command that is waiting for a person or a pipe.
func TestInterruptedWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"keys", "revoke", "-", "--yes"},
		{"draws", "import", "--feed", "csv", "-", "--report", "REPORT"},
	} {
		d := newDesk(t)
		args[len(args)-1] = strings.Replace(args[len(args)-1], "REPORT", filepath.Join(d.dir, "report.csv"), 1)
		d.run(0, "db", "migrate")
		ctx, cancel := context.WithCancel(context.Background())
		stdin, feed := io.Pipe()
		var out, messages bytes.Buffer
		done := make(chan int)
		go func() { done <- admin.Run(ctx, args, d.env(stdin, &out, &messages)) }()
		if _, err := feed.Write([]byte("g")); err != nil { // returns when the command reads
			t.Fatal(err)
		}
		cancel()
		if code := <-done; code != 1 || messages.String() != "lotteryadmin: interrupted\n" {
			t.Errorf("%q: exit code %d, %q", args, code, &messages)
		}
		if left, err := filepath.Glob(filepath.Join(d.dir, "*report*")); err != nil || len(left) != 0 {
			t.Errorf("%q leaves %q, %v", args, left, err)
		}
	}
}

// typed is what a person types at a terminal: one line per Read, then Ctrl-D. A Read after that would wait for more
// input.
type typed struct {
	lines []string
	ended bool
	t     *testing.T
}

func (k *typed) Read(p []byte) (int, error) {
	if len(k.lines) == 0 {
		if k.ended {
			k.t.Error("the end must be typed twice")
		}
		k.ended = true
		return 0, io.EOF
	}
	n := copy(p, k.lines[0])
	k.lines = k.lines[1:]
	return n, nil
}

// Typed draws end at the first Ctrl-D.
func TestImportOfWhatIsTyped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var stdout, stderr strings.Builder
	keys := &typed{lines: []string{"game,date,tod,number\n", "ny-numbers,2025-09-29,Evening,123\n"}, t: t}
	code := admin.Run(t.Context(), []string{"draws", "import", "--feed", "csv", "-", "-o", "json"}, d.env(keys, &stdout, &stderr))
	if code != 0 || !strings.Contains(stdout.String(), `"inserted": 1`) {
		t.Errorf("exit code %d: %s%s", code, stdout.String(), stderr.String())
	}
}
