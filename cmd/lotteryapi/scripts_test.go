package main

import (
	"log/slog"
	"lottery/models/store/storetest"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A copy button says so for a moment, then shows its old text again, however often it is pressed.
func TestCopyTwice(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	b := newTab(t, chromium(t))
	b.open(p.base + "/docs")
	label := func() string {
		var text string
		b.do("read the button", chromedp.Evaluate(`document.querySelector(".copy").innerHTML`, &text))
		return text
	}
	before := label()
	b.do("press the button", chromedp.Click(".copy", chromedp.ByQuery))
	storetest.Until(t, "the button to say what it did", func() bool { return label() != before })
	b.do("press it again", chromedp.Click(".copy", chromedp.ByQuery))
	b.do("wait until the page has done all that it had in mind", chromedp.Evaluate(`new Promise(done => setTimeout(done, 2500))`, nil, awaiting))
	if after := label(); after != before {
		t.Errorf("the button says %q for good; before, %q", after, before)
	}
}

// tryIt opens the reference page, with the form for the newest draws open, and returns it with one of the demo's keys.
func tryIt(t *testing.T, p *process, base string) (b *tab, key string) {
	t.Helper()
	b = newTab(t, chromium(t))
	b.open(base + "/docs/reference")
	b.do("open the form", chromedp.Evaluate(`document.querySelector("#listRecentDraws .try").open = true`, nil))
	return b, regexp.MustCompile(`ldk_[0-9A-Za-z]{38}`).FindString(p.stdout.String())
}

const (
	tryCount = "#listRecentDraws-count"
	trySend  = "#listRecentDraws .try button"
	tryTold  = "#listRecentDraws .try output"
)

// Text that cannot be a key is refused as one, without any request.
func TestTryItWithoutAWholeKey(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	b, key := tryIt(t, p, p.base)
	for _, wrong := range []string{key[:8] + "…", "“" + key + "”", key[:20] + " " + key[20:]} {
		b.do("paste "+wrong, chromedp.SetValue("#try-key", wrong, chromedp.ByQuery), chromedp.Click(trySend, chromedp.ByQuery))
		if told := b.text(tryTold); !strings.HasPrefix(told, "This is not a complete key. Paste the whole key") {
			t.Errorf("%s: %s", wrong, told)
		}
	}
	b.do("paste the key", chromedp.SetValue("#try-key", key, chromedp.ByQuery), chromedp.SetValue(tryCount, "1", chromedp.ByQuery),
		chromedp.Click(trySend, chromedp.ByQuery))
	storetest.Until(t, "the answer", func() bool { return strings.Contains(b.text(tryTold), "→ 200") })
}

// Of two requests in quick succession only the newer one's answer is shown, even if the older answer arrives last.
func TestTryItTwice(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	to, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // that nobody waits any more
	asked, given := make(chan string, 2), make(chan struct{}, 2)
	slow := map[string]chan struct{}{"1": make(chan struct{}), "2": make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count := r.URL.Query().Get("count")
		if hold, ok := slow[count]; ok {
			asked <- count
			defer func() { given <- struct{}{} }()
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b, key := tryIt(t, p, server.URL)
	b.do("paste the key", chromedp.SetValue("#try-key", key, chromedp.ByQuery))
	for _, count := range []string{"1", "2"} {
		b.do("ask for "+count, chromedp.SetValue(tryCount, count, chromedp.ByQuery), chromedp.Click(trySend, chromedp.ByQuery))
		if got := <-asked; got != count {
			t.Fatalf("asked for %s, not for %s", got, count)
		}
	}
	for _, count := range []string{"1", "2"} {
		close(slow[count])
		<-given
	}
	storetest.Until(t, "the answer", func() bool { return strings.Contains(b.text(tryTold), "count=2 → 200") })
	if told := b.text(tryTold); strings.Contains(told, "count=1") || strings.Count(told, `"total"`) > 1 {
		t.Errorf("two answers: %s", told)
	}
}
