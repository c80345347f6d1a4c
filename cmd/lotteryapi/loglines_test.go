package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lottery/configs"
	"lottery/models/store/storetest"
)

// Lines arrive whole and in order. If nobody reads, lines that find no room are dropped and counted, and no writer
// waits.
func TestLogLines(t *testing.T) {
	t.Parallel()
	reader, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	lines := newLogLines(out)
	log := newLogger(configs.Config{LogFormat: "text"}, lines)
	const said = 50_000 // 2 MB and more; a pipe holds 64 KB
	for i := range said {
		log.Info("said", "n", i)
	}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(reader)
		read <- string(text)
	}()
	storetest.Until(t, "all that waited to be written", func() bool {
		lines.mu.Lock()
		defer lines.mu.Unlock()
		return len(lines.waiting) == 0 && lines.left == 0
	})
	log.Info("said after that")
	lines.close()
	out.Close()
	next, left := 0, -1
	for line := range strings.Lines(<-read) {
		switch {
		case left < 0 && strings.HasSuffix(line, fmt.Sprintf("msg=said n=%d\n", next)):
			next++
		case left < 0 && strings.Contains(line, "level=WARN"):
			if _, err := fmt.Sscanf(line[strings.Index(line, "lines="):], "lines=%d", &left); err != nil {
				t.Fatal(err)
			}
		case !strings.Contains(line, "said after that"):
			t.Fatalf("after %d lines, %d left out: %q", next, left, line)
		}
	}
	if left < 1 || next+left != said {
		t.Errorf("%d lines came, and %d are said to be left out, of %d", next, left, said)
	}
}

// What was logged before close is written, and close does not wait for a reader that does not read.
func TestLogLinesEnd(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	lines := newLogLines(&out)
	fmt.Fprintln(lines, "the last word")
	lines.close()
	if out.String() != "the last word\n" {
		t.Errorf("%q", out.String())
	}
	reader, pipe := io.Pipe()
	defer reader.Close()
	lines = newLogLines(pipe)
	fmt.Fprintln(lines, "nobody reads this")
	ended := make(chan struct{})
	go func() {
		lines.close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("it waits for the reader")
	}
}

// A server whose log nobody reads goes on serving and counting, and stops when told to.
func TestServerWhoseLogIsNotRead(t *testing.T) {
	t.Parallel()
	storetest.AwayFromMidnight(t)
	url := storetest.EmptyURL(t)
	p := start(t, t.TempDir(), serveArgs(url, "--access-log", "true")...)
	key := newKey(t, url, "dev@example.com", "--plan", "pro")
	release := p.stderr.Hold() // from here on the pipe fills
	served := 0
	for range 4000 {
		if status, _ := p.get(t, "/v1/games", key); status == http.StatusOK {
			served++
		}
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	storetest.Until(t, "the server to end", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
	release()
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if count := usedToday(t, url, "dev@example.com"); served != 4000 || count != served {
		t.Errorf("the database counts %d, served were %d", count, served)
	}
}
