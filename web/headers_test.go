package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"lottery/api/problem"
	"lottery/models"
	"lottery/models/catalog"
	"lottery/web"
)

// publicPages are the pages that anyone can open.
var publicPages = []string{
	"/", "/pricing", "/explore", "/explore/ny-numbers", "/status", "/terms", "/privacy", "/docs", "/docs/authentication", "/docs/limits",
	"/docs/pagination", "/docs/errors", "/docs/coverage", "/docs/sources", "/docs/reference", "/docs/errors/quota_exceeded", "/sign-in", "/sign-up",
	"/nothing", "/sign-in/link?token=x", "/dev/mail",
}

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

// Every page is well-formed HTML without inline scripts or styles, every internal link works, and ids are unique.
func TestPages(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	seen := map[string]bool{}
	pages := append([]string{"/dashboard", "/dashboard/keys", "/dashboard/plan", "/dashboard/account", "/dashboard/account/close", "/dashboard/support", "/dev/mail/1"}, publicPages...)
	for _, path := range pages {
		if path == "/sign-in" || path == "/sign-up" {
			continue // lead to the dashboard
		}
		got := p.get(path)
		tree, err := html.Parse(strings.NewReader(got.text))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		headings := 0
		for n := range tree.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if n.Data == "h1" {
				headings++
			}
			if n.Data == "style" || n.Data == "script" && n.FirstChild != nil {
				t.Errorf("%s: inline <%s>", path, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: <%s %s>", path, n.Data, a.Key)
				case a.Key == "id" && ids[a.Val]:
					t.Errorf("%s: id %q is there twice", path, a.Val)
				case a.Key == "id":
					ids[a.Val] = true
				case (a.Key == "href" || a.Key == "src") && strings.HasPrefix(a.Val, "/"):
					seen[strings.SplitN(a.Val, "#", 2)[0]] = true
				case a.Key == "src" || a.Key == "href" && n.Data == "link":
					if !strings.HasPrefix(a.Val, h.base) {
						t.Errorf("%s loads %s", path, a.Val)
					}
				}
			}
		}
		if headings != 1 {
			t.Errorf("%s has %d h1", path, headings)
		}
		for _, ref := range regexp.MustCompile(`aria-(?:labelledby|describedby)="([^"]*)"`).FindAllStringSubmatch(got.text, -1) {
			for id := range strings.FieldsSeq(ref[1]) {
				if !ids[id] {
					t.Errorf("%s: nothing has the id %q", path, id)
				}
			}
		}
	}
	for link := range seen {
		if strings.HasPrefix(link, "/openapi.") {
			continue // the API's
		}
		if got := p.get(link); got.status >= 400 {
			t.Errorf("the link %s leads to %d", link, got.status)
		}
	}
}

// Every error code of the API has the page that problem documents point to.
func TestErrorPages(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	for code := range problem.Codes() {
		h.person().get("/docs/errors/"+string(code)).says(t, http.StatusOK, string(code), "What to do")
	}
	h.person().get("/docs/errors/no_such_code").says(t, http.StatusNotFound)
}

func TestTextFiles(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) { d.Terms = "# Ours\n\n<script>alert(1)</script>\n\n**Be kind.**" })
	p := h.person()
	p.get("/llms.txt").says(t, http.StatusOK, "# Lottery Draws API", "`GET /v1/draws/recent?game=`", "`GET /v1/draws/date/{date}`", "`ny-numbers`")
	p.get("/robots.txt").says(t, http.StatusOK, "Disallow: /v1/", "Sitemap: "+h.base+"/sitemap.xml")
	p.get("/sitemap.xml").says(t, http.StatusOK, "<loc>"+h.base+"/docs/errors/quota_exceeded</loc>", "/explore/ny-numbers</loc>")
	p.get("/favicon.ico").says(t, http.StatusOK, "<svg")
	terms := p.get("/terms")
	terms.says(t, http.StatusOK, "<strong>Be kind.</strong>")
	if strings.Contains(terms.text, "<script>alert") {
		t.Error("the operator's Markdown may hold scripts")
	}
	p.get("/privacy").says(t, http.StatusOK, "What is stored")
	p.get("/explore/ny-numbers").says(t, http.StatusOK, "New York &#34;Numbers&#34; &lt;3&gt;", "007")
	p.get("/").says(t, http.StatusOK, "/v1/draws/date/2024-07-02?game=ny-numbers&amp;tod=Evening", "618")
}

// The landing page and everything that it loads take at most 60 KB on the wire.
func TestFirstViewIsSmall(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	total := 0
	fetch := func(path string) {
		req := h.request(http.MethodGet, path, "")
		req.Header.Set("Accept-Encoding", "gzip")
		got := h.person().do(req)
		total += len(got.text)
		for name, values := range got.header {
			total += len(name) + len(strings.Join(values, "")) + 4
		}
	}
	fetch("/")
	for _, asset := range regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`).FindAllStringSubmatch(h.person().get("/").text, -1) {
		fetch(asset[1])
	}
	if total > 60_000 {
		t.Errorf("%d bytes", total)
	}
	t.Logf("%d bytes", total)
}

// A page whose style sheet does not arrive is still of use: without sizes of their own, its pictures would fill it.
func TestPicturesHaveTheirSizeWithoutStyle(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	picture := regexp.MustCompile(`<svg[^>]*>`)
	for _, path := range []string{"/", "/explore/ny-numbers"} {
		found := picture.FindAllString(h.person().get(path).text, -1)
		if len(found) == 0 {
			t.Errorf("%s has no pictures", path)
		}
		for _, tag := range found {
			if !strings.Contains(tag, ` width="`) || !strings.Contains(tag, ` height="`) {
				t.Errorf("%s: %s", path, tag)
			}
		}
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

// A single thing is not written in the plural.
func TestOneOfSomething(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) {
		b := catalog.NewBuilder(models.DataVersion{Number: 2, Token: "v2"})
		game := b.Game(models.Game{ID: "one", Name: "One", Digits: 1, Tods: models.NewTodSet(models.Midday), Jurisdiction: "NY"})
		if err := game.Add(models.NewDate(2024, 7, 1), models.Midday, 1, []byte("7")); err != nil {
			t.Fatal(err)
		}
		c, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		d.Catalog = &catalog.Live{}
		d.Catalog.Swap(c)
		d.Plans = models.Plans{models.PlanFree: {RequestsPerDay: 100, MaxKeys: 1}, models.PlanPro: {RequestsPerDay: 10_000, MaxKeys: 20}}
	})
	p := h.signedIn("ada@example.com")
	yesterday := models.UsageDay{AccountID: h.account("ada@example.com").ID, Day: models.DateOf(h.clock.now().UTC()) - 1, Endpoint: "games", Class: 2, Requests: 1}
	if err := h.store.AddUsage(t.Context(), []models.UsageDay{yesterday}); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		"/": "<strong>1</strong> game</li>", "/pricing": "<li>1 API key</li>", "/docs/coverage": "1 draw</strong> of 1 game", "/llms.txt": "One, 1 draw,",
		"/explore": "1 draw of 1 game, from", "/explore/one": "1 draw of 1 digit", "/dashboard": `<span class="small soft">1 request</span>`,
		"/dashboard/keys": "Your plan allows 1 live key, and you have one.", "/dashboard/plan": "1 API key.",
	} {
		got := p.get(path)
		got.says(t, http.StatusOK, says)
		if wrong := regexp.MustCompile(`\b1 (draws|games|digits|requests|API keys|live keys|times|places|years)\b`).FindString(got.text); wrong != "" {
			t.Errorf("%s says %q", path, wrong)
		}
	}
	p.get("/pricing").says(t, http.StatusOK, "<li>20 API keys</li>")
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
