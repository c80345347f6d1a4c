package middleware_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Pipelined requests are all answered, in order, by fast handlers and slow ones.
func TestPipelinedRequests(t *testing.T) {
	t.Parallel()
	server, _ := bounded(t, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "7") {
			time.Sleep(300 * time.Millisecond) // until watch has read the first byte of the next request
		}
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
	}
	client := dial(t, server, text.String())
	_ = client.SetReadDeadline(time.Now().Add(30 * time.Second))
	answers := bufio.NewReader(client)
	for i := range 40 {
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if want := fmt.Sprintf("/%d", i); err != nil || string(body) != want {
			t.Fatalf("answer %d: %q %v", i, body, err)
		}
	}
}

// What is seen of the next requests while slow ones are answered belongs to them, however the client cuts them; it does
// not end the slow ones.
func TestPipelinedSlowRequests(t *testing.T) {
	t.Parallel()
	at := make(chan string)
	server, _ := bounded(t, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at <- r.Method + " " + r.URL.Path
		time.Sleep(350 * time.Millisecond) // until watch has started
		if err := r.Context().Err(); err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	client := dial(t, server, "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n")
	_ = client.SetReadDeadline(time.Now().Add(30 * time.Second))
	answers := bufio.NewReader(client)
	for _, c := range []struct{ path, more string }{
		{"/a", "G"}, {"/b", "ET /c HTTP/1.1\r\nHost: x\r\n\r\nGET /d HTTP/1.1\r\nHost: x\r\n\r"}, {"/c", "\n"}, {"/d", ""},
	} {
		if got, want := <-at, "GET "+c.path; got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
		if _, err := io.WriteString(client, c.more); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.path, err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(body) != c.path {
			t.Fatalf("%s: %q %v", c.path, body, err)
		}
	}
}

// Answers arrive complete, however their length relates to net/http's buffer, written at once or in parts that fill it
// again and again, on many connections at once and in series.
func TestAnswersOfEveryLength(t *testing.T) {
	t.Parallel()
	text := make([]byte, 200_000)
	for i := range text {
		text[i] = byte(i * 31 >> 3)
	}
	server, _ := bounded(t, 0, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Path[1:])
		w.Header().Set("Content-Length", r.URL.Path[1:])
		part := len(text)
		if r.URL.RawQuery == "parts" {
			part = 700
		}
		for piece := range slices.Chunk(text[:n], part) {
			_, _ = w.Write(piece)
		}
	}))
	var lengths []int
	for n := 3600; n < 4400; n++ { // with its headers, one of these fills the buffer exactly
		lengths = append(lengths, n)
	}
	lengths = append(lengths, 0, 1, 8191, 8192, 8193, 20_000, 32_768, 40_000, 200_000)
	var clients sync.WaitGroup
	for c := range 20 {
		clients.Go(func() {
			client := dial(t, server, "")
			from := bufio.NewReader(client)
			_ = client.SetDeadline(time.Now().Add(time.Minute))
			for i := c; i < len(lengths); i += 5 {
				two := []int{lengths[i], lengths[(i*7)%len(lengths)]}
				fmt.Fprintf(client, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\nGET /%d?parts HTTP/1.1\r\nHost: x\r\n\r\n", two[0], two[1])
				for _, n := range two {
					res, err := http.ReadResponse(from, nil)
					if err != nil {
						t.Errorf("%d bytes: %v", n, err)
						return
					}
					body, err := io.ReadAll(res.Body)
					if err != nil || !bytes.Equal(body, text[:n]) {
						t.Errorf("%d bytes: %v, %d came", n, err, len(body))
						return
					}
				}
			}
		})
	}
	clients.Wait()
}

// An answer that is exactly as long as net/http's buffer is sent when the server turns to the next request, or ends the
// connection. The fastest of several counts, since a busy machine delays some.
func TestAnswerOfOneBufferIsNotDelayed(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(server net.Conn){
		"next request": func(server net.Conn) { _, _ = server.Read(make([]byte, 10)) },
		"close":        func(server net.Conn) { _ = server.Close() },
	} {
		fastest := time.Hour
		for range 10 {
			server, client, stop, err := accepted()
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err := server.Write(make([]byte, 4096)); err != nil {
				t.Fatal(err)
			}
			go then(server)
			_ = client.SetReadDeadline(began.Add(30 * time.Second))
			if _, err := io.ReadFull(client, make([]byte, 4096)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fastest = min(fastest, time.Since(began))
			stop()
		}
		if fastest > 50*time.Millisecond {
			t.Errorf("%s: it took %s", name, fastest)
		}
	}
}

// A handler that sends its answer in parts is not delayed, even if a part is exactly as long as net/http's buffer.
func TestAnswersBitByBit(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	server := timed(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = conn.Write(bytes.Repeat([]byte("x"), 4096))
		<-gone
	})
	client := dial(t, server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	_ = client.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.ReadFull(client, make([]byte, 4096)); err != nil {
		t.Error(err)
	}
	close(gone)
}
