package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// Messages of Go's own HTTP client about a lottery's server are logged like any others: JSON lines with a level.
func TestLogOfLibraries(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		time.Sleep(50 * time.Millisecond) // until the client has returned the connection to its pool
		_, _ = io.WriteString(conn, "and what nobody asked for\n")
		time.Sleep(50 * time.Millisecond)
	}))
	t.Cleanup(server.Close)
	feed := lottery{url: server.URL}
	p := start(t, t.TempDir(), feed.args(storetest.EmptyURL(t))...)
	storetest.Until(t, "the client to say something", func() bool { return strings.Contains(p.stderr.String(), "what nobody asked for") })
	p.stop(t)
	for line := range strings.Lines(p.stderr.String()) {
		var said struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Time == "" || said.Level == "" || said.Msg == "" {
			t.Errorf("no line of JSON: %v %q", err, line)
		}
	}
}
