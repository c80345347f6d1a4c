package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focused is the element with the keyboard's focus: its text, its name, and whether the focus is visible.
type focused struct {
	Text, Name string
	Seen       bool
}

// seeFocus describes the focused element. The focus is visible if the element has an outline or a shadow, and the page
// has scrolled to it, which takes a moment.
const seeFocus = `(async () => {
	const e = document.activeElement, s = getComputedStyle(e)
	const drawn = (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1) || s.boxShadow !== "none"
	if (e === document.body) return {Text: "", Name: "", Seen: false}
	const inView = () => {
		const box = e.getBoundingClientRect()
		return box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight
	}
	for (let wait = 0; wait < 100 && !inView(); wait++) await new Promise(done => setTimeout(done, 20))
	return {
		Text: (e.getAttribute("aria-label") || e.textContent).replace(/\s+/g, " ").trim(), Name: e.name || e.id || "",
		Seen: drawn && inView(),
	}
})()`

// tabTo presses the tab key until the focused element satisfies is; the focus must be visible at every stop.
func (b *tab) tabTo(what string, is func(focused) bool) {
	b.t.Helper()
	var stops []string
	for range 80 {
		var f focused
		b.do("press tab", chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(seeFocus, &f, awaiting))
		stops = append(stops, f.Text+f.Name)
		if f.Text+f.Name != "" && !f.Seen { // the page itself, after the last stop, has neither
			b.t.Errorf("%s: nobody sees that %q (%s) has the focus", b.address(), f.Text, f.Name)
		}
		if is(f) {
			return
		}
	}
	b.t.Fatalf("%s: the tab key does not lead to %s, only to %q", b.address(), what, stops)
}

func (b *tab) tabToText(text string) {
	b.t.Helper()
	b.tabTo(text, func(f focused) bool { return strings.Contains(f.Text, text) })
}

func (b *tab) tabToField(name string) {
	b.t.Helper()
	b.tabTo("the field "+name, func(f focused) bool { return f.Name == name })
}

func (b *tab) enter() {
	b.t.Helper()
	b.follow("press enter", chromedp.KeyEvent(kb.Enter))
}

// Tab, letters and enter are enough to get from the start page to a key, to a second one, and to Pro. The focus is
// always visible.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	p := startDemo(t, t.TempDir())
	b := newTab(t, browser)

	b.open(p.base + "/")
	b.tabTo("the link past the menu", func(f focused) bool { return strings.HasPrefix(f.Text, "Skip") })
	b.tabToText("Get a free key")
	b.enter()
	b.tabToField("email")
	b.do("type a wrong address", chromedp.KeyEvent("hedy"))
	b.enter()
	b.says("Enter an email address, such as")
	var kept string
	b.do("read what was typed", chromedp.Value("#email", &kept, chromedp.ByQuery))
	if kept != "hedy" {
		t.Errorf("the form has forgotten what was typed: %q", kept)
	}
	var f focused
	b.do("look where the focus is", chromedp.Evaluate(seeFocus, &f, awaiting))
	if f.Name != "email" {
		t.Errorf("what is wrong has not the focus, but %q", f.Text+f.Name)
	}
	b.do("type the rest", chromedp.KeyEvent(kb.End), chromedp.KeyEvent("@example.com"))
	b.enter()
	b.says("Check your email")
	b.followMail(p.base)

	b.tabToText("I have copied it")
	b.enter()
	b.tabToText("API keys")
	b.enter()
	b.tabToField("name")
	b.do("type a name", chromedp.KeyEvent("by keyboard"))
	b.enter()
	b.says("Your new key")
	if status, _, _ := call(t, p.base, b.text("#key")); status != http.StatusOK {
		t.Errorf("the second key: %d", status)
	}
	b.open(p.base + "/dashboard/plan")
	b.tabToText("Upgrade to Pro")
	b.enter()
	b.says("Sandbox: no real money")
}

// A link older than a quarter of an hour does nothing, and leads to a new one.
func TestLinkExpired(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	dir := t.TempDir()
	p := startDemo(t, dir)
	b := newTab(t, browser)
	b.open(p.base + "/sign-up")
	b.askLink("joan@example.com")
	b.open(p.base + "/dev/mail")
	b.press("Your sign-in link")
	b.pressAt("pre a")
	b.says("Sign in as joan@example.com")

	// A quarter of an hour passes.
	db := open(t, "sqlite:"+filepath.Join(dir, "data", "demo.db"))
	result, err := db.Exec("UPDATE links SET created_at = ?, expires_at = ?", time.Now().UTC().Add(-16*time.Minute), time.Now().UTC().Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d links grew old (%v)", n, err)
	}
	b.pressAt("main form button")
	b.says("This link no longer works")
	b.press("Request a new link")
	b.askLink("joan@example.com")
	b.followMail(p.base)
	b.says("Welcome: here is your key")
}
