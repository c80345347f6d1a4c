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

// A long list, written in pieces, has the same records as its pages, which are not; over a real connection, in every
// form, and with the length that HEAD reports.
func TestLongListsAreTheirPages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.live.Swap(manyDraws(t, 1))
	server := httptest.NewServer(s.handler)
	t.Cleanup(server.Close)
	ask := func(method, uri string) (http.Header, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", s.key)
		r.Header.Set("Accept-Encoding", "identity")
		res, err := http.DefaultClient.Do(r)
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
				header, long := ask(http.MethodGet, uri)
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
