package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store/storetest"
	"lottery/web"
)

func TestSignUp(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	got := p.signIn("Ada@Example.com")
	got.says(t, http.StatusOK, "Welcome: here is your key", "curl -H")
	key := keyForm.FindString(got.text)
	if !secret.WellFormed(key) {
		t.Fatalf("no key: %q", key)
	}
	stored, err := h.store.KeyByHash(context.Background(), secret.Hash(key))
	if err != nil || stored.Account.ID != h.account("ada@example.com").ID {
		t.Errorf("the key is not the account's: %v", err)
	}
	if cache := got.header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("a page with a key: Cache-Control %q", cache)
	}
	p.get("/dashboard").says(t, http.StatusOK, "Usage", "Ada<wbr>@Example.com")
	if again := p.get("/dashboard/keys"); strings.Contains(again.text, key) {
		t.Error("the key is shown again")
	}

	// Signing in a second time creates neither an account nor a key.
	p2 := h.person()
	p2.signIn("ada@example.com").leads(t, "/dashboard")
	keys, err := h.store.Keys(context.Background(), stored.AccountID)
	if err != nil || len(keys) != 1 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

// The limit in the description for search engines is that of the plan.
func TestSignUpTellsTheLimit(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) {
		d.Plans = models.DefaultPlans()
		free := d.Plans[models.PlanFree]
		free.RequestsPerDay = 2500
		d.Plans[models.PlanFree] = free
	})
	h.person().get("/sign-up").says(t, http.StatusOK, "2,500 requests a day, free, no card")
}

// The intent to upgrade survives a mail that did not arrive and a link that has expired, with or without an account.
func TestUpgradeIsNotForgotten(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	const again = `href="/sign-up?next=upgrade">`
	for email, known := range map[string]bool{"new@example.com": false, "known@example.com": true} {
		if known {
			h.person().signIn(email)
		}
		p := h.person()
		p.post("/dashboard/plan/upgrade").leads(t, "/sign-up?next=upgrade")
		got := p.get("/sign-up?next=upgrade")
		got.says(t, http.StatusOK, "<h1>Upgrade to Pro</h1>", "whether or not you have an account", `name="next" value="upgrade"`)
		if strings.Contains(got.text, "Already have an account?") {
			t.Error("who has an account is led to a page that forgets the upgrade")
		}
		p.post("/sign-in", "email", "ada", "next", "upgrade", "new", "1").says(t, http.StatusUnprocessableEntity, "<h1>Upgrade to Pro</h1>", `name="next" value="upgrade"`)
		p.post("/sign-in", "email", email, "next", "upgrade", "new", "1").says(t, http.StatusOK, again+"request a new link")
		token := h.tokenOf(email)
		h.clock.move(models.LinkLives + time.Second)
		p.get("/sign-in/link?token="+token).says(t, http.StatusGone, again+"Request a new link")
		p.post("/sign-in/link", "token", token).says(t, http.StatusGone, again+"Request a new link")
	}
	p := h.person()
	p.get("/sign-up").says(t, http.StatusOK, "<h1>Get a free key</h1>", `href="/sign-in">Sign in</a>; it works the same way`)
	p.post("/sign-in", "email", "other@example.com").says(t, http.StatusOK, `href="/sign-in">request a new link`)
	p.get("/sign-in/link?token=lnk_x").says(t, http.StatusGone, `href="/sign-in">Request a new link`)
}

// The page does not reveal whether an address has an account.
func TestNoEnumeration(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.person().signIn("known@example.com")
	ask := func(email string) string {
		got := h.person().post("/sign-in", "email", email)
		return strings.ReplaceAll(got.text, email, "EMAIL")
	}
	if a, b := ask("known@example.com"), ask("other@example.com"); a != b {
		t.Errorf("the answers differ:\n%s\n%s", a, b)
	}
	if len(h.box.All()) != 3 {
		t.Errorf("%d mails", len(h.box.All()))
	}
	for range 5 {
		h.person().post("/sign-in", "email", "known@example.com")
		h.person().post("/sign-in", "email", "other@example.com")
	}
	if a, b := ask("known@example.com"), ask("other@example.com"); a != b || !strings.Contains(a, "several links") {
		t.Errorf("throttled answers differ:\n%s\n%s", a, b)
	}
}

// However a phone spells the domain, it is the same account.
func TestSignInBySpelling(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.signedIn("ada@öl.example")
	for _, spelled := range []string{"Ada@Öl.example", "ada@ÖL.EXAMPLE", "ada@o\u0308l.example", "ada@xn--l-0ga.example"} {
		p := h.person()
		p.post("/sign-in", "email", spelled).says(t, http.StatusOK, "öl.example")
		p.post("/sign-in/link", "token", h.tokenOf("ada@öl.example")).leads(t, "/dashboard")
	}
}

func TestSignInForm(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	for _, wrong := range []string{"", "ada", "ada@", "ada@localhost", "a b@example.com", "x@example.com\r\nBcc: y@example.com", strings.Repeat("a", 300) + "@example.com",
		"ada@[127.0.0.1]", "ada@127.0.0.1", "ada@127.0.0.xn--1-", "ada@xn--.com", "ada@xn--99999999.com", "ada@example..com", "ada@" + strings.Repeat("ü", 63) + ".example"} {
		got := h.person().post("/sign-in", "email", wrong)
		got.says(t, http.StatusUnprocessableEntity, "name@example.com")
	}
	got := h.person().post("/sign-in", "email", `"><script>alert(1)</script>`)
	if strings.Contains(got.text, "<script>alert") {
		t.Error("what was typed is not escaped")
	}
	got.says(t, http.StatusUnprocessableEntity, "&#34;&gt;&lt;script&gt;")
	if n := len(h.box.All()); n != 0 {
		t.Errorf("%d mails", n)
	}
}

// A form that is too large is reported as such, signed in or not, and not as one with a missing field.
func TestFormsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p, mails := h.person(), 0
	for _, path := range []string{"/sign-in", "/sign-in/link", "/dashboard/plan/upgrade", "/dashboard/keys", "/dashboard/account/email", "/dashboard/account/close"} {
		p.post(path, "email", "ada@example.com", "name", "n", "confirm", "yes", "more", strings.Repeat("x", 16<<10)).says(t, http.StatusRequestEntityTooLarge, "The form is too large")
		if path == "/sign-in/link" {
			p.post("/sign-in", "email", "ada@example.com", "more", strings.Repeat("x", 15<<10)).says(t, http.StatusOK, "Check your email")
			p.post("/sign-in/link", "token", h.tokenOf("ada@example.com"))
			mails++
		}
	}
	if n := len(h.box.All()); n != mails {
		t.Errorf("%d mails, want %d", n, mails)
	}
	p.post("/nowhere", "more", strings.Repeat("x", 16<<10)).says(t, http.StatusNotFound)
}

func TestNoMail(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) { d.Mail, d.Mailbox = nil, nil })
	p := h.person()
	p.get("/sign-up").says(t, http.StatusOK, "sends no email", `<a href="mailto:help@example.com">`)
	p.get("/docs").says(t, http.StatusOK, "Ask the operator of this service for a key.")
	for _, path := range []string{"/", "/pricing"} {
		if got := p.get(path); !strings.Contains(got.text, "Pro is not for sale here at the moment") || strings.Contains(got.text, "works as usual") {
			t.Errorf("%s promises a plan that nobody can get", path)
		}
	}
	h.person().post("/sign-in", "email", "ada@example.com").leads(t, "/sign-in")
	h.person().get("/dev/mail").says(t, http.StatusNotFound)
}

// The link in a mail begins with the configured URL, whatever host the request names.
func TestHostIsNotTrusted(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	req := h.request(http.MethodPost, "/sign-in", "email=ada%40example.com")
	req.Host = "evil.example"
	req.Header.Set("X-Forwarded-Host", "evil.example")
	p.do(req).says(t, http.StatusOK)
	if link := h.box.All()[0].Link; !strings.HasPrefix(link, h.base+"/sign-in/link?token=") {
		t.Errorf("the mail leads to %s", link)
	}
	req = h.request(http.MethodGet, "/pricing", "")
	req.Host = "evil.example"
	if got := p.do(req); strings.Contains(got.text, "evil.example") {
		t.Error("a page repeats the host of the request")
	}
}

// Only our own words decide what follows signing in: there is no open redirect.
func TestNoOpenRedirect(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	for _, next := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/dashboard/account/close"} {
		p := h.person()
		got := p.get("/sign-in?next=" + url.QueryEscape(next))
		if strings.Contains(got.text, "evil") {
			t.Errorf("%s stands in the page", next)
		}
		p.post("/sign-in", "email", "ada@example.com", "next", next)
		to := p.post("/sign-in/link", "token", h.tokenOf("ada@example.com"), "next", next)
		if at := to.header.Get("Location"); at != "" && at != "/dashboard" {
			t.Errorf("%s leads to %s", next, at)
		}
	}
	for _, path := range []string{"//evil.example", "/%2f%2fevil.example", "/\\evil.example", "/docs//evil.example"} {
		if at := h.person().get(path).header.Get("Location"); strings.HasPrefix(at, "//") || strings.Contains(at, "://") {
			t.Errorf("%s leads to %s", path, at)
		}
	}
}

// Some letters become ASCII letters in lower case. An address with such a letter belongs to a different mailbox.
func TestAddressesThatLookAlike(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.person().signIn("kim@example.com")
	victim := h.account("kim@example.com").ID
	for _, other := range []string{"k\u0130m@example.com", "\u212Aim@example.com", "kim@example.c\u00F6m", "k\u0131m@example.com"} {
		p := h.person()
		p.signIn(other).says(t, http.StatusOK, "Welcome: here is your key")
		if id := h.account(other).ID; id == victim {
			t.Errorf("%s signs in to the account of kim@example.com", other)
		}
	}
	h.person().signIn("KIM@Example.COM").leads(t, "/dashboard")
}

// A link whose mail could not be sent does not count towards the limit per hour.
func TestUnsentLinksDoNotCount(t *testing.T) {
	t.Parallel()
	box := &refusing{}
	h := open(t, func(d *web.Deps) { box.Sender, d.Mail = d.Mail, box })
	box.refuse = true
	for range 7 {
		h.person().post("/sign-in", "email", "ada@example.com").says(t, http.StatusServiceUnavailable, "could not send the email")
	}
	if wait := h.person().post("/sign-in", "email", "ada@example.com").header.Get("Retry-After"); wait != "60" {
		t.Errorf("Retry-After %q", wait)
	}
	box.refuse = false
	h.person().signIn("ada@example.com").says(t, http.StatusOK, "Welcome")
}

// A mistyped address that the mail server refuses is the visitor's to correct, and no fault of the service: nothing is
// retried, no alert counts it, and neither does the limit per hour.
func TestAddressesThatTheMailServerRefuses(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) { d.Mail, d.Mailbox = choosy(t, "ada@example.com"), nil })
	for range 7 {
		page := h.person().post("/sign-in", "email", "ada@exmaple.com", "next", "upgrade")
		page.says(t, http.StatusUnprocessableEntity, "Check it for typos", `value="ada@exmaple.com"`, `value="upgrade"`)
		if wait := page.header.Get("Retry-After"); wait != "" {
			t.Errorf("Retry-After %q", wait)
		}
	}
	h.person().post("/sign-in", "email", "ada@example.com").says(t, http.StatusOK, "Check your email")
}

// Nor does one whose client disconnected before sending failed: a stranger who hangs up keeps nobody from signing in.
func TestUnsentLinksOfWhoeverHangsUpDoNotCount(t *testing.T) {
	t.Parallel()
	box := &refusing{refuse: true}
	h := open(t, func(d *web.Deps) { box.Sender, d.Mail = d.Mail, box })
	for range 5 {
		ctx, hangUp := context.WithCancel(t.Context())
		box.hangUp = hangUp
		r := h.request(http.MethodPost, "/sign-in", "email=ada%40example.com").WithContext(ctx)
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
			t.Fatal("nobody hung up")
		}
		box.sent.Wait()
	}
	box.refuse, box.hangUp = false, nil
	storetest.Until(t, "a link for the owner", func() bool { // the last of them may still be being withdrawn
		return h.person().post("/sign-in", "email", "ada@example.com").status == http.StatusOK
	})
}
