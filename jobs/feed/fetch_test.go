package feed

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The validator that the server sent, a date or a tag, goes back to it, and an unchanged file is not sent again. A 304
// to a request without a validator is an error.
func TestFetchOfWhatHasNotChanged(t *testing.T) {
	t.Parallel()
	changed := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for name, tag := range map[string]string{"by its date": "", "by its tag": `"1"`} {
		fetcher := answered(func(r *http.Request) *http.Response {
			w := httptest.NewRecorder()
			modified := changed
			if tag != "" {
				w.Header().Set("ETag", tag)
				modified = time.Time{}
			}
			http.ServeContent(w, r, "draws.csv", modified, strings.NewReader("date,number\n"))
			res := w.Result()
			if res.StatusCode == http.StatusNotModified { // some servers do not say it again
				res.Header.Del("ETag")
				res.Header.Del("Last-Modified")
			}
			return res
		})
		var known Known
		for _, unchanged := range []bool{false, true, true} {
			got, err := fetcher.Fetch(t.Context(), "https://data.example/draws.csv", known, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got.NotModified != unchanged || got.Known == (Known{}) {
				t.Errorf("%s: %+v, want not modified: %v", name, got, unchanged)
			}
			known = got.Known
			if got.file == nil {
				continue
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	fetcher := answered(func(*http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusNotModified, Status: "304 Not Modified", Body: http.NoBody}
	})
	if got, err := fetcher.Fetch(t.Context(), "https://data.example/draws.csv", Known{}, nil); err == nil {
		t.Errorf("not modified, since nothing: %+v", got)
	}
}

// A server that hangs up, perhaps because it expects TLS, is told as that.
func TestFetchFromAServerThatHangsUp(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer server.Close()
	_, err := NewFetcher(FetchOptions{AllowPrivate: true, FirstWait: time.Millisecond}).Fetch(t.Context(), server.URL, Known{}, nil)
	if err == nil || err.Error() != "the server closed the connection without a response" {
		t.Errorf("%v", err)
	}
}

// A connection is not kept for long, since a Fetcher is not closed.
func TestFetchKeepsNoConnection(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "date,number\n") }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	server.Start()
	defer server.Close()
	got, err := NewFetcher(FetchOptions{AllowPrivate: true, Stall: 2 * time.Second}).Fetch(t.Context(), server.URL, Known{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("it stays open")
	}
}

// Anything not on the public internet is refused, however its address is written; neighbouring addresses are not.
func TestPublicOnly(t *testing.T) {
	t.Parallel()
	for address, public := range map[string]bool{
		"127.0.0.1:80": false, "127.255.255.255:80": false, "0.0.0.0:80": false, "[::1]:80": false, "[::]:80": false,
		"9.255.255.255:80": true, "10.0.0.0:80": false, "10.255.255.255:80": false, "11.0.0.0:80": true,
		"100.63.255.255:80": true, "100.64.0.0:80": false, "100.127.255.255:80": false, "100.128.0.0:80": true,
		"169.254.169.254:80": false, "172.15.255.255:80": true, "172.16.0.0:80": false, "172.31.255.255:80": false, "172.32.0.0:80": true,
		"192.168.0.1:80": false, "224.0.0.1:80": false, "255.255.255.255:80": false, "[fe80::1]:80": false, "[fd00::1]:80": false,
		"[ff02::1]:80": false, "[2606:4700::1111]:80": true,
		"[::ffff:10.0.0.1]:80": false, "[::ffff:100.64.0.1]:80": false, "[::ffff:8.8.8.8]:80": true,
		"[64:ff9b::10.0.0.1]:80": false, "[64:ff9b::127.0.0.1]:80": false, "[64:ff9b::169.254.169.254]:80": false, "[64:ff9b::8.8.8.8]:80": true,
		"nowhere": false,
	} {
		if err := publicOnly("tcp", address, nil); (err == nil) != public {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// through is a transport that answers requests itself.
type through func(*http.Request) *http.Response

func (f through) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// answered returns a fetcher whose requests answer handles.
func answered(answer through) *Fetcher {
	return NewFetcher(FetchOptions{Through: func(http.RoundTripper) http.RoundTripper { return answer }})
}

// slowBody sends pieces, each after a pause.
type slowBody struct {
	pieces int
	pause  time.Duration
	r      *http.Request
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.pieces == 0 {
		return 0, io.EOF
	}
	select {
	case <-b.r.Context().Done():
		return 0, b.r.Context().Err()
	case <-time.After(b.pause):
	}
	b.pieces--
	return copy(p, "piece\n"), nil
}

func (b *slowBody) Close() error { return nil }

// A body may come in pieces, but may neither stall nor go on for ever: other feeds are waiting.
func TestFetchWaitsForTheNextPiece(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pieces int
		pause  time.Duration
		fault  string
	}{
		{4, longestStall - time.Second, ""},
		{4, longestStall + time.Second, "the server sent nothing for 30s"},
		{1000, time.Second, "the server had not sent all of it after 2m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			fetcher := answered(func(r *http.Request) *http.Response {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &slowBody{tc.pieces, tc.pause, r}}
			})
			got, err := fetcher.Fetch(t.Context(), "https://lottery.example/draws.csv", Known{}, nil)
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("a piece every %s: %v", tc.pause, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("a piece every %s: %v", tc.pause, err)
			}
			defer got.Close()
			if got.Size != int64(tc.pieces)*int64(len("piece\n")) {
				t.Errorf("%d bytes", got.Size)
			}
		})
	}
}

// A server that is away is asked four times for its first URL, and once for each further one, until it answers.
func TestFetchAsksAServerThatIsAwayLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, status := 0, 0
		fetcher := answered(func(*http.Request) *http.Response {
			asked++
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}
		})
		for i, step := range []struct {
			address string
			status  int
			asked   int
		}{
			{"https://a.example/1", 500, 4},
			{"https://a.example/2", 500, 1},
			{"https://b.example/1", 503, 4},
			{"https://a.example/3", 404, 1}, // it is there
			{"https://a.example/4", 502, 4},
			{"https://a.example/5", 200, 1},
			{"https://a.example/6", 429, 4},
		} {
			asked, status = 0, step.status
			got, err := fetcher.Fetch(t.Context(), step.address, Known{}, nil)
			if (err == nil) != (status == http.StatusOK) || asked != step.asked {
				t.Errorf("step %d, %d for %s: asked %d times, want %d: %v", i+1, status, step.address, asked, step.asked, err)
			}
			if err == nil {
				if err := got.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// A server may ask to be left alone for up to a minute; otherwise it is asked again after one, two and four seconds, or
// half of that.
func TestFetchWaitsAsLongAsTheServerWants(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) func() string {
		return func() string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	}
	is := func(text string) func() string { return func() string { return text } }
	for name, c := range map[string]struct {
		status      int
		after       func() string
		asked       int
		least, most time.Duration
	}{
		"says nothing":          {503, is(""), 4, 3500 * time.Millisecond, 7 * time.Second},
		"ten seconds":           {503, is("10"), 4, 30 * time.Second, 30 * time.Second},
		"too many requests":     {429, is("10"), 4, 30 * time.Second, 30 * time.Second},
		"at once":               {503, is("0"), 4, 0, 0},
		"a minute":              {503, is("60"), 4, 3 * time.Minute, 3 * time.Minute},
		"too long":              {503, is("61"), 1, 0, 0},
		"less than nothing":     {503, is("-5"), 4, 3500 * time.Millisecond, 7 * time.Second},
		"no number":             {503, is("soon"), 4, 3500 * time.Millisecond, 7 * time.Second},
		"a moment":              {503, in(20 * time.Second), 4, 57 * time.Second, time.Minute},
		"a moment that is past": {503, in(-time.Hour), 4, 0, 0},
		"tomorrow":              {429, in(24 * time.Hour), 1, 0, 0},
		"of another kind":       {500, is("10"), 4, 3500 * time.Millisecond, 7 * time.Second},
		"not to be asked again": {404, is("10"), 1, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked, began := 0, time.Now()
			fetcher := answered(func(*http.Request) *http.Response {
				asked++
				return &http.Response{StatusCode: c.status, Header: http.Header{"Retry-After": {c.after()}}, Body: http.NoBody}
			})
			_, err := fetcher.Fetch(t.Context(), "https://lottery.example/draws.csv", Known{}, nil)
			if took := time.Since(began); err == nil || asked != c.asked || took < c.least || took > c.most {
				t.Errorf("%s: asked %d times in %s: %v", name, asked, took, err)
			}
		})
	}
}

// A URL that leads into a private network, or whose host does not exist, is not tried again in a moment.
func TestFetchTriesWhatCannotSucceedOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for address, fault := range map[string]string{
		"http://127.0.0.1:1/draws.csv":                             "not on the public internet",
		"http://" + strings.Repeat("a", 64) + ".example/draws.csv": "no such host", // too long for a name in DNS
	} {
		_, err := NewFetcher(FetchOptions{FirstWait: time.Hour}).Fetch(ctx, address, Known{}, nil)
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Five redirects are followed; a sixth is not, nor is the first URL requested again.
func TestFetchFollowsFiveRedirects(t *testing.T) {
	t.Parallel()
	for hops, fault := range map[int]string{5: "", 6: "it redirects more than 5 times"} {
		asked := 0
		fetcher := answered(func(r *http.Request) *http.Response {
			asked++
			if hop := len(r.URL.Path); hop <= hops {
				return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {r.URL.Path + "+"}}, Body: http.NoBody}
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("[]"))}
		})
		got, err := fetcher.Fetch(t.Context(), "https://lottery.example/", Known{}, nil)
		if asked != mostRedirect+1 {
			t.Errorf("%d redirects: %d requests", hops, asked)
		}
		switch {
		case err == nil && fault == "":
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		case err == nil || fault == "" || !strings.Contains(err.Error(), fault):
			t.Errorf("%d redirects: %v", hops, err)
		}
	}
}

// A token is sent only to the server that was asked, however far it redirects.
func TestFetchKeepsTheTokenFromOthers(t *testing.T) {
	t.Parallel()
	const asked = "https://data.example/draws.json"
	for name, c := range map[string]struct {
		hops []string
		told bool // whether the last server gets the token
	}{
		"the same server":               {[]string{"https://data.example/2.json"}, true},
		"another server":                {[]string{"https://evil.example/"}, false},
		"a server below":                {[]string{"https://evil.data.example/"}, false},
		"another port":                  {[]string{"https://data.example:8443/"}, false},
		"in the clear":                  {[]string{"http://data.example/draws.json"}, false},
		"another server's second":       {[]string{"https://evil.example/", "https://evil.example/2"}, false},
		"another server, and back":      {[]string{"https://evil.example/", "https://data.example/2.json"}, true},
		"the same server, then another": {[]string{"https://data.example/2.json", "https://evil.example/"}, false},
	} {
		var last http.Header
		next := c.hops
		fetcher := answered(func(r *http.Request) *http.Response {
			last = r.Header
			if len(next) == 0 {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("[]"))}
			}
			to := next[0]
			next = next[1:]
			return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {to}}, Body: http.NoBody}
		})
		got, err := fetcher.Fetch(t.Context(), asked, Known{ETag: `"1"`}, http.Header{"X-App-Token": {"secret"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
		if told := last.Get("X-App-Token") != ""; told != c.told {
			t.Errorf("%s: the token is told: %v", name, told)
		}
		if told := last.Get("Referer") != ""; told && !c.told {
			t.Errorf("%s: the address that was asked is told", name)
		}
		if last.Get("User-Agent") == "" || last.Get("If-None-Match") == "" {
			t.Errorf("%s: the fetcher's own headers are lost: %v", name, last)
		}
	}
}
