package web_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"testing"

	"lottery/models"
	"lottery/web"
)

func TestThrottle(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) { d.Limits = web.Limits{PerAddress: 2, PerClient: 7} })
	ask := func(p *person, path, email string, status int, wait string) page {
		t.Helper()
		got := p.post(path, "email", email)
		if got.status != status || got.header.Get("Retry-After") != wait {
			t.Errorf("%s at %s: %d, Retry-After %q, want %d, %q", email, path, got.status, got.header.Get("Retry-After"), status, wait)
		}
		return got
	}
	p := h.person()
	ask(p, "/sign-in", "Ada@example.com", 200, "")
	ask(p, "/sign-in", "Ada@example.com", 200, "")
	ask(p, "/sign-in", "Ada@example.com", 429, "900").says(t, 429, "one of them still works")
	h.clock.move(models.LinkLives)
	p.signIn("ada@example.com").says(t, http.StatusOK, "Welcome") // a stranger's requests keep nobody out
	const change = "/dashboard/account/email"
	ask(p, change, "new@example.com", 200, "")
	ask(p, change, "new@example.com", 200, "")
	ask(p, change, "new@example.com", 429, "900").says(t, 429, "several links")
	ask(p, change, "b@example.com", 429, "3600").says(t, 429, "from your network", `value="b@example.com"`)
	ask(h.person(), "/sign-in", "b@example.com", 429, "3600").says(t, 429, "from your network", `value="b@example.com"`)
}

// The limit of links to a mailbox holds however its domain is spelled: it is counted as mail servers read it.
func TestThrottleBySpelling(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) { d.Limits = web.Limits{PerAddress: 2, PerClient: 50} })
	p := h.signedIn("stranger@example.net")
	for path, spellings := range map[string][]string{
		"/sign-in":                 {"ada@example.com", "ada@ⓔxample.com", "Ada@EXAMPLE.ｃom", "ada@𝐞𝐱ample.com"},
		"/dashboard/account/email": {"ada@bücher.example", "ada@BÜCHER.example", "ada@xn--bcher-kva.example", "ada@bu\u0308cher.example"},
	} {
		var sent []int
		for _, email := range spellings {
			sent = append(sent, p.post(path, "email", email).status)
		}
		if !slices.Equal(sent, []int{200, 200, 429, 429}) {
			t.Errorf("%s: %v", path, sent)
		}
	}
}

// Closing an account that requested links does not let its owner send more of them to a stranger's mailbox.
func TestThrottleOutlivesAccounts(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) { d.Limits = web.Limits{PerAddress: 2, PerClient: 50} })
	var sent []int
	for range 3 {
		p := h.signedIn("stranger@example.net")
		sent = append(sent, p.post("/dashboard/account/email", "email", "ada@example.com").status, p.post("/dashboard/account/email", "email", "ada@example.com").status)
		p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "Your account is closed")
	}
	if !slices.Equal(sent, []int{200, 200, 429, 429, 429, 429}) {
		t.Errorf("%v", sent)
	}
}

// Whoever has thousands of IPv6 networks can request no more mails than a site or a provider may; and one address that
// keeps asking locks out none of its neighbours.
func TestThrottleByNetwork(t *testing.T) {
	t.Parallel()
	h := open(t, func(d *web.Deps) {
		d.Limits = web.Limits{PerAddress: 5, PerClient: 2}
		d.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	p, asked := h.person(), 0
	ask := func(from string) int {
		t.Helper()
		asked++
		form := url.Values{"email": {fmt.Sprintf("p%d@example.com", asked)}}
		req := h.request(http.MethodPost, "/sign-in", form.Encode())
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("X-Forwarded-For", from)
		return p.do(req).status
	}
	served := func(times int, from func(i int) string) (n int) {
		for i := range times {
			if ask(from(i)) == http.StatusOK {
				n++
			}
		}
		return n
	}
	if n := served(40, func(int) string { return "2001:db8:1:1::1" }); n != 2 {
		t.Errorf("one address: %d", n)
	}
	if n := served(30, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", 0x100+i) }); n != 18 {
		t.Errorf("30 others of its /48: %d more, want 18", n)
	}
	if n := served(250, func(i int) string { return fmt.Sprintf("2001:db8:%x:%x::1", 0x100+i/18, i) }); n != 180 {
		t.Errorf("250 others of its /32: %d more, want 180", n)
	}
	// One may share its counter with an address that sent too many.
	if n := served(30, func(i int) string { return fmt.Sprintf("203.0.113.%d", i) }); n < 28 {
		t.Errorf("30 IPv4 addresses: %d", n)
	}
	if ask("2001:db9::1") != http.StatusOK {
		t.Error("another provider's customer is refused")
	}
}
