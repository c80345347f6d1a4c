package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lottery/models/store/storetest"
)

// chromiumPath finds Chromium, without its own windows if there is such a one, which takes half the time; "" = none.
func chromiumPath() string {
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// running is the one Chromium of all tests, because it takes seconds to start.
var running = sync.OnceValues(func() (context.Context, error) {
	folder, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, err
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(chromiumPath()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(folder),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	storetest.OnExit(func() {
		_ = chromedp.Cancel(ctx) // waits for its end
		stop()
		_ = os.RemoveAll(folder)
	})
	return ctx, chromedp.Run(ctx)
})

// chromium returns a browser that nobody has used, without cookies or history, for this test alone; it skips the test if
// there is no Chromium.
func chromium(t *testing.T) context.Context {
	t.Helper()
	if chromiumPath() == "" {
		storetest.Missing(t, "Chromium")
	}
	parent, err := running()
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	executor := cdp.WithExecutor(parent, chromedp.FromContext(parent).Browser)
	profile, err := target.CreateBrowserContext().Do(executor)
	if err != nil {
		t.Fatalf("make a browser: %v", err)
	}
	t.Cleanup(func() {
		if err := target.DisposeBrowserContext(profile).Do(executor); err != nil {
			t.Errorf("close the browser: %v", err)
		}
	})
	// Chromium with windows opens a tab only where there is one.
	if _, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(executor); err != nil {
		t.Fatalf("open a window: %v", err)
	}
	ctx, end := chromedp.NewContext(parent, chromedp.WithExistingBrowserContext(profile))
	t.Cleanup(end)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	return ctx
}

// tab is one tab of a browser: what a person does and sees there.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T, browser context.Context) *tab { //nolint:revive // t is first, as in all tests
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil { // the tab lives as long as the first run's context
		t.Fatalf("open a tab: %v", err)
	}
	return &tab{t, ctx}
}

// stepTimeout is how long one step may take: long enough for axe-core on the longest page of a machine that is busy with
// all other tests.
const stepTimeout = 2 * time.Minute

func (b *tab) do(what string, actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var address, text string
		short, cancel := context.WithTimeout(b.ctx, 3*time.Second)
		defer cancel()
		_ = chromedp.Run(short, chromedp.Location(&address), chromedp.Text("body", &text, chromedp.ByQuery))
		b.t.Fatalf("%s: %v\nat %s:\n%s", what, err, address, text)
	}
}

func (b *tab) open(address string) {
	b.t.Helper()
	b.do("open "+address, chromedp.Navigate(address))
}

// press presses the first button or link that has the text, with the keyboard, and waits for the page that follows.
func (b *tab) press(text string) {
	b.t.Helper()
	b.follow("press "+text, chromedp.Focus(saying(text), chromedp.BySearch), chromedp.KeyEvent(kb.Enter))
}

// pressAt is press for a selector.
func (b *tab) pressAt(selector string) {
	b.t.Helper()
	b.follow("press "+selector, chromedp.Focus(selector, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
}

// saying finds a button or link by its text.
func saying(text string) string {
	return `(//*[self::a or self::button][contains(normalize-space(.), "` + text + `")])[1]`
}

// follow does something and waits until another page has loaded.
func (b *tab) follow(what string, actions ...chromedp.Action) {
	b.t.Helper()
	b.do(what, append([]chromedp.Action{chromedp.Evaluate("window.before = true", nil)}, actions...)...)
	storetest.Until(b.t, what+": the page that follows", func() bool {
		ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
		defer cancel()
		var there bool // while a page is being replaced there is nothing to query
		err := chromedp.Run(ctx, chromedp.Evaluate(`!window.before && document.readyState === "complete"`, &there))
		return err == nil && there
	})
}

func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do("fill "+selector, chromedp.WaitVisible(selector, chromedp.ByQuery), chromedp.SendKeys(selector, text, chromedp.ByQuery))
}

func (b *tab) choose(selector string) {
	b.t.Helper()
	b.do("choose "+selector, chromedp.Click(selector, chromedp.ByQuery))
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	var text string
	b.do("read "+selector, chromedp.TextContent(selector, &text, chromedp.ByQuery))
	return strings.TrimSpace(text)
}

func (b *tab) address() string {
	b.t.Helper()
	var address string
	b.do("read the address", chromedp.Location(&address))
	return address
}

// says fails the test unless the page says text.
func (b *tab) says(text string) {
	b.t.Helper()
	if got := b.body(); !strings.Contains(got, text) {
		b.t.Fatalf("%s does not say %q:\n%s", b.address(), text, got)
	}
}

// body returns the page's text. It retries while the page is being replaced by the next.
func (b *tab) body() string {
	b.t.Helper()
	var text string
	for attempt := 1; ; attempt++ {
		ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
		err := chromedp.Run(ctx, chromedp.Evaluate("document.body.textContent", &text))
		cancel()
		if err == nil {
			return squeezed(text)
		}
		if attempt == 5 {
			b.t.Fatalf("read the page: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

// until reloads a URL until the page says text.
func (b *tab) until(address, text string) {
	b.t.Helper()
	storetest.Until(b.t, address+" to say "+text, func() bool {
		b.open(address)
		return strings.Contains(b.body(), text)
	})
}

// back presses the browser's back button.
func (b *tab) back() {
	b.t.Helper()
	b.do("go back", chromedp.NavigateBack())
}

// withoutScripts turns JavaScript off in this tab.
func (b *tab) withoutScripts() {
	b.t.Helper()
	b.do("turn scripts off", emulation.SetScriptExecutionDisabled(true))
}

// signUp goes from the start page to the first key, as a person would, and returns the key.
func (b *tab) signUp(base, email string) string {
	b.t.Helper()
	b.open(base + "/")
	b.press("Get a free key")
	b.askLink(email)
	b.followMail(base)
	b.says("Welcome: here is your key")
	return b.text("#key")
}

func (b *tab) askLink(email string) {
	b.t.Helper()
	b.fill("#email", email)
	b.press("Send me a link")
	b.says("Check your email")
}

// followMail opens the newest mail with a sign-in link, follows it, and presses the button there.
func (b *tab) followMail(base string) {
	b.t.Helper()
	b.open(base + "/dev/mail")
	b.press("Your sign-in link")
	b.pressAt("pre a")
	b.pressAt("main form button")
}

// call sends an API request with a key and returns the status, the day's limit and what is left of it.
func call(t *testing.T, base, key string) (status int, limit, left string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, base+"/v1/draws/recent?game=sample-pick-3&count=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode, res.Header.Get("X-RateLimit-Limit"), res.Header.Get("X-RateLimit-Remaining")
}

// stripeOf returns the address of the demo's stand-in for Stripe.
func stripeOf(t *testing.T, p *process) string {
	t.Helper()
	for field := range strings.FieldsSeq(p.stdout.String()) {
		if at, ok := strings.CutSuffix(field, "/_sandbox"); ok {
			return at
		}
	}
	t.Fatal("the demo names no stand-in for Stripe")
	return ""
}

// sessionsOf returns the checkout sessions of the stand-in for Stripe, by status.
func sessionsOf(t *testing.T, stripe string) map[string]int {
	t.Helper()
	sessions, _ := stateOf(t, stripe)
	return sessions
}

// subscriptionsOf returns the subscriptions of the stand-in for Stripe, by status.
func subscriptionsOf(t *testing.T, stripe string) map[string]int {
	t.Helper()
	_, subscriptions := stateOf(t, stripe)
	return subscriptions
}

func stateOf(t *testing.T, stripe string) (sessions, subscriptions map[string]int) {
	t.Helper()
	res, err := http.Get(stripe + "/_sandbox/state")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var state struct {
		Sessions      []struct{ Status string } `json:"checkout_sessions"`
		Subscriptions []struct{ Status string } `json:"subscriptions"`
	}
	if err := json.NewDecoder(res.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	sessions, subscriptions = map[string]int{}, map[string]int{}
	for _, s := range state.Sessions {
		sessions[s.Status]++
	}
	for _, s := range state.Subscriptions {
		subscriptions[s.Status]++
	}
	return sessions, subscriptions
}

// pay pays on the stand-in's checkout page.
func (b *tab) pay(card string) {
	b.t.Helper()
	b.choose(`input[value="` + card + `"]`)
	b.press("Subscribe for")
}

// awaiting makes an evaluation wait for its promise.
func awaiting(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
