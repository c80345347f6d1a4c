package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"lottery/web"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) { d.PublicURL = "https://draws.example" })
	p := h.person()
	for _, path := range append([]string{"/robots.txt", "/dashboard"}, publicPages...) {
		got := p.get(path)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
			"Strict-Transport-Security": "max-age=31536000", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, got.header.Get(name))
			}
		}
		policy := got.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: %s", path, policy)
		}
	}
	got := p.post("/sign-in", "email", "ada@example.com")
	got.says(t, http.StatusOK)
	signedIn := p.post("/sign-in/link", "token", h.tokenOf("ada@example.com"))
	if cookie := signedIn.header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-session=") || !strings.Contains(cookie, "; Secure") {
		t.Errorf("on https: %s", cookie)
	}
	if plain := open(t, nil).person().get("/"); plain.header.Get("Strict-Transport-Security") != "" {
		t.Error("HSTS without https")
	}
}

// Forms from other sites are refused, wherever they are posted.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	key := h.keysOf("ada@example.com")[0].ID
	for _, path := range []string{
		"/sign-in", "/sign-in/link", "/sign-out", "/dashboard/keys", "/dashboard/keys/" + key + "/revoke", "/dashboard/keys/" + key + "/rotate",
		"/dashboard/plan/upgrade", "/dashboard/plan/portal", "/dashboard/account/email", "/dashboard/account/email/confirm",
		"/dashboard/account/sign-out", "/dashboard/account/close",
	} {
		for name, headers := range map[string][2]string{
			"other site": {"Sec-Fetch-Site", "cross-site"}, "sister host": {"Sec-Fetch-Site", "same-site"},
			"old browser": {"Origin", "https://evil.example"}, "hidden origin": {"Origin", "null"},
		} {
			req := h.request(http.MethodPost, path, "confirm=yes&name=x&email=eve@example.com")
			req.Header.Set(headers[0], headers[1])
			if got := p.do(req); got.status != http.StatusForbidden || !strings.Contains(got.text, "from another site") {
				t.Errorf("%s, %s: %d", path, name, got.status)
			}
		}
	}
	p.get("/dashboard").says(t, http.StatusOK)
	if keys := h.keysOf("ada@example.com"); len(keys) != 1 || keys[0].RevokedAt != nil {
		t.Errorf("a form from another site has done something: %v", keys)
	}
}

// Pages and files are compressed for clients that accept it, and for no others.
func TestGzip(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	style := regexp.MustCompile(`/static/style\.[0-9a-f]+\.css`).FindString(p.get("/").text)
	for _, c := range []struct {
		header []string
		want   string
	}{
		{[]string{"gzip"}, "gzip"},
		{[]string{"br, GZIP;q=0.5"}, "gzip"},
		{[]string{"br", "gzip"}, "gzip"},
		{[]string{"*"}, "gzip"},
		{[]string{"gzip, identity"}, "gzip"},
		{[]string{"gzip, *;q=0"}, "gzip"},
		{[]string{""}, ""},
		{[]string{"gzip;q=0"}, ""},
		{[]string{"*, gzip;q=0"}, ""},
		{[]string{"x-gzip, identity"}, ""},
		{[]string{"identity, gzip;q=0.5"}, ""},
	} {
		for _, path := range []string{"/pricing", style, "/favicon.ico"} {
			req := h.request(http.MethodGet, path, "")
			req.Header["Accept-Encoding"] = c.header
			got := p.do(req)
			if coding := got.header.Get("Content-Encoding"); coding != c.want || strings.HasPrefix(got.text, "\x1f\x8b") != (c.want == "gzip") {
				t.Errorf("%s for %q: %d coded as %q, want %q", path, c.header, got.status, coding, c.want)
			}
			if !strings.Contains(got.header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("%s for %q: Vary: %s", path, c.header, got.header.Get("Vary"))
			}
		}
	}
}

// Search engines are told the one address of a public page, and to leave out those for one person that anybody can open.
// A page for one person is neither kept nor compressed: its size would tell what is in it.
func TestPagesForOnePerson(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	for _, c := range []struct {
		who     *person
		path    string
		private bool
		open    bool // to anybody
	}{
		{h.person(), "/pricing?utm=x", false, true}, {h.person(), "/explore/ny-numbers", false, true}, {h.person(), "/sign-in/link?token=x", true, true},
		{h.signedIn("ada@example.com"), "/dashboard/keys", true, false},
	} {
		req := h.request(http.MethodGet, c.path, "")
		req.Header.Set("Accept-Encoding", "gzip")
		got := c.who.do(req)
		text := got.text
		if got.header.Get("Content-Encoding") == "gzip" {
			r, err := gzip.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			text = string(plain)
		}
		page, _, _ := strings.Cut(c.path, "?")
		for what, is := range map[string]struct{ got, want bool }{
			"a page":              {got.status != http.StatusSeeOther, true},
			"not kept":            {got.header.Get("Cache-Control") == "no-store", c.private},
			"compressed":          {got.header.Get("Content-Encoding") == "gzip", !c.private},
			"the one address":     {strings.Contains(text, `<link rel="canonical" href="`+h.base+page+`">`), !c.private},
			"any address":         {strings.Contains(text, `rel="canonical"`), !c.private},
			"a card to share":     {strings.Contains(text, "og:title"), !c.private},
			"noindex as a header": {got.header.Get("X-Robots-Tag") == "noindex", c.private && c.open},
			"noindex in the page": {strings.Contains(text, `<meta name="robots" content="noindex">`), c.private && c.open},
		} {
			if is.got != is.want {
				t.Errorf("%s: %s: %v, want %v", c.path, what, is.got, is.want)
			}
		}
	}
}

// Responses that shared caches may keep carry no session cookie.
func TestPublicFilesHaveNoCookie(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	for _, path := range []string{"/favicon.ico", "/robots.txt", "/sitemap.xml", "/llms.txt", "/static/style.css", "/pricing", "/dashboard"} {
		got := p.get(path)
		if public := strings.HasPrefix(got.header.Get("Cache-Control"), "public") || strings.HasPrefix(path, "/static/"); public && got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s is %q and sets a cookie", path, got.header.Get("Cache-Control"))
		} else if !public && got.header.Get("Set-Cookie") == "" {
			t.Errorf("%s does not keep the session alive", path)
		}
	}
	for _, path := range []string{"//dashboard", "/dashboard//keys", "/./pricing", "//v1/games", "//", "/%2F"} {
		if got := p.get(path); got.status != http.StatusNotFound {
			t.Errorf("%s: %d to %s", path, got.status, got.header.Get("Location"))
		}
	}
}

// A page that is requested with an unsupported method lists the supported ones; an unknown path is 404 with any method.
func TestMethods(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	for _, c := range []struct{ path, allow string }{
		{"/", "GET, HEAD, OPTIONS"},
		{"/pricing", "GET, HEAD, OPTIONS"},
		{"/docs/limits", "GET, HEAD, OPTIONS"},
		{"/robots.txt", "GET, HEAD, OPTIONS"},
		{"/static/style.css", "GET, HEAD, OPTIONS"},
		{"/sign-in", "GET, HEAD, POST, OPTIONS"},
		{"/sign-out", "POST, OPTIONS"},
		{"/dashboard", "GET, HEAD, OPTIONS"},
		{"/dashboard/keys", "GET, HEAD, POST, OPTIONS"},
		{"/dashboard/plan/portal", "POST, OPTIONS"},
		{"/nothing", ""},
		{"/docs/limits/nothing", ""},
		{"/dashboard/nothing", ""},
		{"/sign-in/", ""},
		{"/static", ""},
		{"/static/", ""},
		{"/static/a/b", ""},
		{"//pricing", ""},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, "BREW", http.MethodOptions} {
			want := http.StatusMethodNotAllowed
			switch {
			case c.allow == "":
				want = http.StatusNotFound
			case method == http.MethodOptions:
				want = http.StatusNoContent
			case strings.Contains(c.allow, method):
				continue // the page
			}
			req := h.request(method, c.path, "")
			got := h.person().do(req)
			if got.status != want || got.header.Get("Allow") != c.allow {
				t.Errorf("%s %s: %d, Allow: %q; want %d, %q", method, c.path, got.status, got.header.Get("Allow"), want, c.allow)
			}
			if want == http.StatusMethodNotAllowed && method != http.MethodHead && !strings.Contains(got.text, "This URL answers "+c.allow) {
				t.Errorf("%s %s says %.300s", method, c.path, got.text)
			}
		}
	}
}

// While nodes of two releases run side by side, a page of one asks the other for its files. It gets those of the node
// that answers, rather than none, and no cache keeps them under the other's address.
func TestFilesOfAnotherRelease(t *testing.T) {
	t.Parallel()
	p := open(t, nil).person()
	for name, address := range map[string]string{"style": `/static/style\.[0-9a-f]+\.css`, "app": `/static/app\.[0-9a-f]+\.js`} {
		ours := regexp.MustCompile(address).FindString(p.get("/").text)
		want, got := p.get(ours), p.get("/static/"+name+".0123456789"+ours[strings.LastIndex(ours, "."):])
		got.says(t, http.StatusOK, want.text)
		if kept := got.header.Get("Cache-Control"); kept != "no-store" || got.header.Get("Content-Type") != want.header.Get("Content-Type") {
			t.Errorf("%s of another release: %q, %s", name, kept, got.header.Get("Content-Type"))
		}
		if kept := want.header.Get("Cache-Control"); !strings.Contains(kept, "immutable") {
			t.Errorf("%s: %q", ours, kept)
		}
	}
	for _, path := range []string{"/static/style.css", "/static/style.0123.css", "/static/style.0123456789.js", "/static/other.0123456789.css"} {
		p.get(path).says(t, http.StatusNotFound)
	}
}
