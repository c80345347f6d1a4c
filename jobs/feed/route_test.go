package feed

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http/httpproxy"
)

// If a proxy is configured, feeds are fetched through it, even if it is in a private network. What may not be fetched
// directly may not be fetched through it either, nor may the proxy itself.
func TestFetchThroughAProxy(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.RequestURI)
		switch {
		case r.Method == http.MethodConnect:
			w.WriteHeader(http.StatusForbidden)
		case strings.HasSuffix(r.RequestURI, "/leads-inside"):
			http.Redirect(w, r, "http://10.1.2.3/", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "game,date,tod,number\n")
		}
	}))
	defer proxy.Close()
	env := &httpproxy.Config{HTTPProxy: proxy.URL, HTTPSProxy: strings.TrimPrefix(proxy.URL, "http://")}
	f := NewFetcher(FetchOptions{Contact: "http://localhost", FirstWait: 1, Proxy: env})
	for _, c := range []struct{ address, asked, fault string }{
		{"http://198.51.100.7/draws.csv", "GET http://198.51.100.7/draws.csv", ""},
		{"https://198.51.100.7/draws.csv", "CONNECT 198.51.100.7:443", "Forbidden"},
		{"http://198.51.100.7/leads-inside", "GET http://198.51.100.7/leads-inside", "10.1.2.3, which is not on the public internet"},
		{"http://10.1.2.3/draws.csv", "", "10.1.2.3, which is not on the public internet"},
		{"https://[::ffff:10.1.2.3]/draws.csv", "", "10.1.2.3, which is not on the public internet"},
		{"http://127.0.0.1:1/draws.csv", "", "127.0.0.1, which is not on the public internet"},
		{proxy.URL + "/", "", "127.0.0.1, which is not on the public internet"},
	} {
		asked.Store("")
		got, err := f.Fetch(t.Context(), c.address, Known{}, nil)
		if err == nil {
			_ = got.Close()
		}
		if (err == nil) != (c.fault == "") || (err != nil && !strings.Contains(err.Error(), c.fault)) || asked.Load() != c.asked {
			t.Errorf("%s: the proxy was asked %q, %v", c.address, asked.Load(), err)
		}
	}
	for _, c := range []struct {
		env            httpproxy.Config
		allow          bool
		address, asked string
	}{
		{httpproxy.Config{HTTPProxy: proxy.URL}, false, "http://198.51.100.7/draws.csv", "GET http://198.51.100.7/draws.csv"},
		{httpproxy.Config{HTTPSProxy: proxy.URL}, false, "https://198.51.100.7/draws.csv", "CONNECT 198.51.100.7:443"},
		{*env, true, "http://10.1.2.3/draws.csv", "GET http://10.1.2.3/draws.csv"},
		{*env, true, "https://10.1.2.3/draws.csv", "CONNECT 10.1.2.3:443"},
	} {
		asked.Store("")
		f := NewFetcher(FetchOptions{Contact: "http://localhost", FirstWait: 1, Proxy: &c.env, AllowPrivate: c.allow})
		if got, err := f.Fetch(t.Context(), c.address, Known{}, nil); err == nil {
			_ = got.Close()
		}
		if asked.Load() != c.asked {
			t.Errorf("%s: the proxy was asked %q", c.address, asked.Load())
		}
	}
}

// A proxy URL without a port means its scheme's default.
func TestHostPort(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://p": "p:80", "https://p": "p:443", "socks5://p": "p:1080", "http://p:3128": "p:3128", "http://[::1]": "[::1]:80",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := hostPort(u); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
