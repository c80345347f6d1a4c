package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// A long list has the same records as its pages, in every form, and the length that HEAD reports; over a real
// connection that asks again and again, where it is written in pieces, and over others, where it is written whole.
func TestLongListsAreTheirPages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.live.Swap(manyDraws(t, 1))
	server := httptest.NewServer(s.handler)
	t.Cleanup(server.Close)
	askBy := func(client *http.Client, method, uri string) (http.Header, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", s.key)
		r.Header.Set("Accept-Encoding", "identity")
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %v", method, uri, res.StatusCode, err)
		}
		return res.Header, body
	}
	again := server.Client()
	anew := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(method, uri string) (http.Header, []byte) { return askBy(again, method, uri) }
	// records splits an answer into its records and the envelope without them.
	records := func(form string, body []byte) (list []string, envelope string) {
		t.Helper()
		if form != "json" {
			lines := strings.SplitAfter(string(body), "\n")
			if form == "csv" {
				lines, envelope = lines[1:], lines[0]
			}
			return lines[:len(lines)-1], envelope
		}
		var answer map[string]json.RawMessage
		var draws []json.RawMessage
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answer["draws"], &draws); err != nil {
			t.Fatal(err)
		}
		for _, d := range draws {
			list = append(list, string(d))
		}
		delete(answer, "draws")
		delete(answer, "next_cursor")
		rest, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		return list, string(rest)
	}
	for _, path := range []string{
		"/v1/draws/recent?game=many-1&count=", "/v1/draws/by-sum?game=many-0&sum=14&limit=", "/v1/draws/by-pair?game=many-2&pair=17&limit=",
		"/v1/draws/search?number=1012&limit=", "/v1/draws/search?game=many-0&number=1107&order=asc&limit=",
	} {
		for _, form := range []string{"json", "csv", "ndjson"} {
			for _, count := range []int{499, 500, 501, 750, 1000} {
				uri := path + strconv.Itoa(count) + "&format=" + form
				ask(http.MethodGet, path+"1000") // from here on this connection asks again
				header, long := ask(http.MethodGet, uri)
				if _, whole := askBy(anew, http.MethodGet, uri); !bytes.Equal(whole, long) {
					t.Fatalf("%s: %q, in pieces %q", uri, whole, long)
				}
				got, envelope := records(form, long)
				var want []string
				for next := path + "100&format=" + form; len(want) < count && next != ""; {
					pageHeader, page := ask(http.MethodGet, next)
					list, ofPage := records(form, page)
					want = append(want, list...)
					if ofPage != envelope || pageHeader.Get("X-Total-Count") != header.Get("X-Total-Count") {
						t.Fatalf("%s: %q %q, of its page %q %q", uri, envelope, header.Get("X-Total-Count"), ofPage, pageHeader.Get("X-Total-Count"))
					}
					next = strings.TrimSuffix(strings.TrimPrefix(pageHeader.Get("Link"), "<http://localhost:8080"), `>; rel="next"`)
				}
				want = want[:min(count, len(want))]
				if len(got) != len(want) {
					t.Fatalf("%s: %d records, its pages have %d", uri, len(got), len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%s: %s, its pages have %s", uri, got[i], want[i])
					}
				}
				head, none := ask(http.MethodHead, uri)
				if length := strconv.Itoa(len(long)); header.Get("Content-Length") != length || head.Get("Content-Length") != length || len(none) > 0 {
					t.Fatalf("%s: Content-Length %s, %s of HEAD, and %s bytes", uri, header.Get("Content-Length"), head.Get("Content-Length"), length)
				}
				if form == "json" && !bytes.HasSuffix(long, []byte("}\n")) {
					t.Fatalf("%s ends with %q", uri, long[len(long)-10:])
				}
			}
		}
	}
}

// A long list goes to a single client in pieces, so that it need not wait for the last draw; with several clients, and
// for CSV, pieces only cost (decision 0028).
func TestWhoGetsLongListsInPieces(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.live.Swap(manyDraws(t, 1))
	const one, two, path = "192.0.2.1:1001", "192.0.2.1:1002", "/v1/draws/recent?game=many-1&count="
	for _, c := range []struct {
		from, uri string
		pieces    bool
	}{
		{one, path + "1000", false},
		{one, path + "1000", true},
		{one, path + "1000&format=ndjson", true},
		{one, path + "1000&format=csv", false},
		{one, path + "499", false},
		{two, path + "1000", false},
		{one, path + "1000", false},
		{one, path + "499", false},
		{one, path + "500", true},
	} {
		r := httptest.NewRequest(http.MethodGet, c.uri, nil)
		r.RemoteAddr = c.from
		r.Header.Set("X-Api-Key", s.key)
		w := &writeCounter{ResponseRecorder: httptest.NewRecorder()}
		s.handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.writes == 0 || (w.writes > 1) != c.pieces {
			t.Errorf("%s from %s: %d in %d pieces; in several: want %t", c.uri, c.from, w.Code, w.writes, c.pieces)
		}
	}
}

type writeCounter struct {
	*httptest.ResponseRecorder

	writes int
}

func (w *writeCounter) Write(b []byte) (int, error) {
	w.writes++
	return w.ResponseRecorder.Write(b)
}
