package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shopWindow is a demo with an account that has something to show, and every page of it.
type shopWindow struct {
	base  string
	tab   *tab
	pages []shopPage
}

type shopPage struct{ name, path string }

// dressed starts a demo, signs somebody up, makes some calls, and lists the pages: public ones first, since the others
// need the session.
func dressed(t *testing.T) *shopWindow {
	t.Helper()
	p := startDemo(t, t.TempDir())
	b := newTab(t, chromium(t))
	key := b.signUp(p.base, "firstname.lastname56@department.example.com")
	for range 37 {
		call(t, p.base, key)
	}
	b.open(p.base + "/dashboard/keys")
	b.fill("#name", "nightly report")
	b.press("Create a key")
	b.open(p.base + "/sign-up")
	b.until(p.base+"/dashboard", "/v1/draws/recent")
	b.open(p.base + "/dashboard/keys")
	var revoke, rotate string
	b.do("find the key's pages", chromedp.AttributeValue(".actions a:last-of-type", "href", &revoke, nil, chromedp.ByQuery),
		chromedp.AttributeValue(".actions a", "href", &rotate, nil, chromedp.ByQuery))
	return &shopWindow{p.base, b, []shopPage{
		{"home", "/"}, {"pricing", "/pricing"}, {"docs", "/docs"}, {"docs-authentication", "/docs/authentication"}, {"docs-limits", "/docs/limits"},
		{"docs-pagination", "/docs/pagination"}, {"docs-errors", "/docs/errors"}, {"docs-error", "/docs/errors/quota_exceeded"},
		{"docs-coverage", "/docs/coverage"}, {"docs-sources", "/docs/sources"}, {"docs-reference", "/docs/reference"},
		{"explore", "/explore"}, {"explore-game", "/explore/sample-pick-4"}, {"status", "/status"}, {"terms", "/terms"}, {"privacy", "/privacy"},
		{"not-found", "/nothing"}, {"link-gone", "/sign-in/link?token=x"}, {"mailbox", "/dev/mail"}, {"mail", "/dev/mail/1"},
		{"dashboard", "/dashboard"}, {"dashboard-keys", "/dashboard/keys"}, {"dashboard-rotate", rotate}, {"dashboard-revoke", revoke},
		{"dashboard-plan", "/dashboard/plan"}, {"dashboard-account", "/dashboard/account"}, {"dashboard-close", "/dashboard/account/close"},
		{"dashboard-support", "/dashboard/support"}, {"sign-in", "/sign-in"}, {"sign-up", "/sign-up"},
	}}
}

// each visits every page in both schemes; the sign-in pages last, signed out.
func (s *shopWindow) each(visit func(p shopPage, scheme string)) {
	for _, p := range s.pages {
		if p.name == "sign-in" {
			s.tab.open(s.base + "/dashboard/account")
			s.tab.press("Sign out everywhere")
		}
		for _, scheme := range []string{"light", "dark"} {
			s.tab.do("choose the scheme", emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}))
			s.tab.open(s.base + p.path)
			visit(p, scheme)
		}
	}
}

// TestScreenshots takes a picture of every page, for people to look at: `make screenshots`.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("LOTTERY_SCREENSHOTS")
	if folder == "" {
		t.Skip("make screenshots takes them")
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	s := dressed(t)
	only := os.Getenv("LOTTERY_SCREENSHOTS_ONLY")
	s.each(func(p shopPage, scheme string) {
		if only != "" && !strings.Contains(only, p.name) {
			return
		}
		for _, width := range []int64{360, 1440} {
			var picture []byte
			s.tab.do("take a picture", emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500), chromedp.FullScreenshot(&picture, 100))
			name := filepath.Join(folder, fmt.Sprintf("%s-%s-%d.png", p.name, scheme, width))
			if err := os.WriteFile(name, picture, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Every page, in both schemes and at both widths, passes all checks of axe-core; and is not wider than the screen. The
// dark scheme differs in its colors only, so these alone are checked there.
func TestAccessible(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	s := dressed(t)
	s.each(func(p shopPage, scheme string) {
		for _, width := range []int64{320, 1440} {
			var found string
			s.tab.fits(width)
			s.tab.do("check", chromedp.Evaluate(string(script), nil))
			s.tab.do("check", chromedp.Evaluate(`(async () => {
				document.querySelectorAll("details").forEach(d => d.open = true);
				const dark = matchMedia("(prefers-color-scheme: dark)").matches;
				const r = await axe.run(document, {resultTypes: ["violations"], ...(dark ? {runOnly: {type: "rule", values: ["color-contrast"]}} : {})});
				return JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 160) + " — " + (n.any[0] || n.all[0] || n.none[0] || {}).message)})));
			})()`, &found, chromedp.EvalAsValue, awaiting))
			var violations []struct {
				ID, Help string
				Nodes    []string
			}
			if err := json.Unmarshal([]byte(found), &violations); err != nil {
				t.Fatal(err)
			}
			for _, v := range violations {
				t.Errorf("%s, %s, %d px: %s (%s)\n  %s", p.path, scheme, width, v.ID, v.Help, strings.Join(v.Nodes[:min(4, len(v.Nodes))], "\n  "))
			}
		}
	})
}

// fits sets the screen's width, and fails the test if the page is wider or hides something cut off at its side.
func (b *tab) fits(width int64) {
	b.t.Helper()
	var across int64
	var cut []string
	b.do("measure", emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500), chromedp.Evaluate(`document.documentElement.scrollWidth`, &across),
		chromedp.Evaluate(`[...document.querySelectorAll("main *")].filter(e => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === "hidden" &&
			!e.matches(".hidden, .side-title")).map(e => e.outerHTML.slice(0, 160))`, &cut))
	if across > width {
		b.t.Errorf("%s is %d px wide at %d px", b.address(), across, width)
	}
	if len(cut) > 0 {
		b.t.Errorf("%s at %d px cuts off what is in %s", b.address(), width, strings.Join(cut, "\n  "))
	}
}

// On a phone, the row of links beside a page shows the one to the page that is open; and with text twice as large, as a
// reader may set it in the browser, nothing is wider than the screen.
func TestOnAPhone(t *testing.T) {
	t.Parallel()
	s := dressed(t)
	for _, p := range s.pages {
		if p.name == "sign-in" { // it leads to the dashboard, as sign-up does
			break
		}
		s.tab.do("take a phone", emulation.SetDeviceMetricsOverride(360, 900, 1, true))
		s.tab.open(s.base + p.path)
		var seen bool
		s.tab.do("look for the link", chromedp.Evaluate(`[...document.querySelectorAll(".side [aria-current]")].every(link => {
			const a = link.getBoundingClientRect(), row = link.closest("ul").getBoundingClientRect();
			return a.left >= row.left - 1 && a.right <= row.right + 1;
		})`, &seen))
		if !seen {
			t.Errorf("%s: the link to it is out of view", p.path)
		}
		s.tab.do("enlarge the text", chromedp.Evaluate(`document.documentElement.style.fontSize = "200%"`, nil))
		s.tab.fits(360)
	}
}

// However long a key's name is, the key's buttons are on the screen beside it.
func TestLongKeyName(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	b := newTab(t, chromium(t))
	b.signUp(p.base, "ada@example.com")
	name := strings.Repeat("W", 100)
	b.open(p.base + "/dashboard/keys")
	b.fill("#name", name)
	b.press("Create a key")
	b.open(p.base + "/dashboard/keys")
	b.says(name)
	for _, width := range []int64{320, 390, 1440} {
		b.fits(width)
		var beyond []string
		b.do("measure", chromedp.Evaluate(`[...document.querySelectorAll(".keys td, .keys td a, .keys td code")]
			.filter(e => e.getBoundingClientRect().right > document.querySelector(".keys").closest(".scroll").getBoundingClientRect().right + 1).map(e => e.textContent.trim())`, &beyond))
		if len(beyond) > 0 {
			t.Errorf("at %d px one must scroll to see %q", width, beyond)
		}
	}
}

// The page of all games is no wider than the screen, even with a game of as many digits as possible.
func TestTenDigits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url, file := "sqlite:"+filepath.Join(dir, "lottery.db"), filepath.Join(dir, "draws.csv")
	if err := os.WriteFile(file, []byte("game,date,tod,number\nten,2026-01-01,Afternoon,0123456789\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"games", "add", "--id", "ten", "--name", "Ten_" + strings.Repeat("w", 96), "--digits", "10", "--tods", "Afternoon", "--jurisdiction", "ZZ", "--timezone", "UTC"},
		{"draws", "import", "--feed", "csv", file},
	} {
		if out, code := admin(t, url, args...); code != 0 {
			t.Fatalf("%v: %d %s", args, code, out)
		}
	}
	p := start(t, dir, "serve", "--listen", "127.0.0.1:0", "--database-url", url)
	b := newTab(t, chromium(t))
	for path, says := range map[string]string{"/explore": "Afternoon, 2026-01-01", "/explore/ten": "0123456789", "/status": "January 1, 2026"} {
		b.open(p.base + path)
		b.says(says)
		for _, width := range []int64{320, 390, 1440} {
			b.fits(width)
		}
	}
}

// The status page is no wider than a phone, even with a long version name, with feeds, and while the database is away.
func TestStatusOnAPhone(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	b := newTab(t, chromium(t))
	b.open(p.base + "/status")
	b.do("make it say more", chromedp.Evaluate(`{
		const runs = [...document.querySelectorAll("[aria-labelledby=runs] td")], last = document.querySelector("main section:last-of-type");
		runs[1].innerHTML = '<span class="tag warn">unreachable; draws are served from memory</span>';
		runs[2].innerHTML = "<code>v1.2.3-0.20261124223300-983239c3a66b (983239c3a66b)</code>";
		last.outerHTML += '<section class="card"><table><tbody><tr><td><code>ny-open-data</code></td><td>November 24, 2026, 22:33 UTC <span class="soft">(12 minutes ago)</span></td></tr></tbody></table></section>';
	}`, nil))
	b.says("12 minutes ago")
	for _, width := range []int64{280, 320, 390} {
		b.fits(width)
	}
}

// The longest possible local part: every page that shows an address shows all of it on a phone's screen.
func TestLongAddress(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	b := newTab(t, chromium(t))
	address := strings.Repeat("a", 64) + "@example.com"
	fits := func(says string) {
		t.Helper()
		b.says(says)
		for _, width := range []int64{320, 390} {
			b.fits(width)
		}
	}
	b.open(p.base + "/sign-up")
	b.askLink(address)
	fits("We sent a link to " + address)
	b.open(p.base + "/dev/mail")
	fits("to " + address)
	b.press("Your sign-in link")
	fits("to " + address)
	b.pressAt("pre a")
	fits(address)
	b.pressAt("main form button")
	b.open(p.base + "/dashboard/account")
	b.fill("#email", "b"+address[1:])
	b.press("Send a confirmation link")
	fits("You sign in as " + address)
	b.says("We sent a link to b" + address[1:])
	b.open(p.base + "/dev/mail/2")
	b.pressAt("pre a")
	fits("b" + address[1:])
	for _, path := range []string{"/dashboard/account/close", "/dashboard/support"} {
		b.open(p.base + path)
		fits("@")
	}
}
