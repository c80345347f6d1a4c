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

// The style sheet names the fonts under which browsers may keep them.
func TestStyleFindsItsFonts(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	style := regexp.MustCompile(`href="(/static/style[^"]*)"`).FindStringSubmatch(p.get("/").text)
	if style == nil {
		t.Fatal("there is no style sheet")
	}
	sheet := p.get(style[1])
	sheet.says(t, http.StatusOK, "@font-face")
	fonts := regexp.MustCompile(`url\("([^"]*)"\)`).FindAllStringSubmatch(sheet.text, -1)
	if n := strings.Count(sheet.text, "url("); n == 0 || n != len(fonts) {
		t.Fatalf("%d of %d files that it uses are read here", len(fonts), n)
	}
	for _, used := range fonts {
		if got := p.get(used[1]); got.status != http.StatusOK || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %q", used[1], got.status, got.header.Get("Cache-Control"))
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
	p.get("/explore/ny-numbers").says(t, http.StatusOK, "New York &#34;Numbers&#34; &lt;3&gt;", "007",
		`<th scope="row">7</th><td class="num">3</td><td class="num">75.00%</td><td class="num">3.60%</td>`, // 36 of 1,000 numbers
		`<th scope="row">27</th><td class="num">0</td><td class="num">0.00%</td><td class="num">0.10%</td>`,
		`<th scope="row">0</th><td class="num">1</td><td class="num">2</td><td class="num">2</td><td class="num">5</td><td class="num">41.67%</td>`, // of 12 digits
		"<title>Digit 0 in position 2: 2 times, 50.0%</title>", ">1st</text>")
	p.get("/").says(t, http.StatusOK, "/v1/draws/date/2024-07-02?game=ny-numbers&amp;tod=Evening", "618")
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
