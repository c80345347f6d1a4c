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
	"lottery/models/store"
)

func (p *person) cookie() string {
	u, err := url.Parse(p.h.base)
	if err != nil {
		p.h.t.Fatal(err)
	}
	for _, c := range p.jar.Cookies(u) {
		if c.Name == "session" {
			return c.Value
		}
	}
	return ""
}

func TestSessions(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.person()
	got := p.signIn("ada@example.com")
	for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"} {
		if !strings.Contains(got.header.Get("Set-Cookie"), want) {
			t.Errorf("the cookie lacks %s: %s", want, got.header.Get("Set-Cookie"))
		}
	}
	first := p.cookie()
	sessions, err := h.store.Sessions(context.Background(), h.account("ada@example.com").ID, 9)
	if err != nil || len(sessions) != 1 || strings.Contains(string(sessions[0].Hash), first) {
		t.Errorf("sessions %v, %v", sessions, err)
	}

	// Signing in again gives a new token, and the previous one no longer works.
	p.signIn("ada@example.com")
	if p.cookie() == first || p.cookie() == "" {
		t.Error("the token is not renewed at sign-in")
	}
	old := h.person()
	old.holds(first)
	old.get("/dashboard").leads(t, "/sign-in")

	// A session ends after 30 days without a visit; every visit extends it.
	h.clock.move(29 * 24 * time.Hour)
	p.get("/dashboard").says(t, http.StatusOK)
	h.clock.move(29 * 24 * time.Hour)
	p.get("/dashboard").says(t, http.StatusOK)
	h.clock.move(30*24*time.Hour + time.Minute)
	p.get("/dashboard").leads(t, "/sign-in")

	// Signing out ends this session; signing out everywhere ends all of them.
	a, b, c := h.person(), h.person(), h.person()
	for _, p := range []*person{a, b, c} {
		p.signIn("ada@example.com")
	}
	kept := a.cookie()
	a.post("/sign-out").leads(t, "/")
	a.holds(kept)
	a.get("/dashboard").leads(t, "/sign-in")
	b.post("/dashboard/account/sign-out").leads(t, "/sign-in")
	c.get("/dashboard").leads(t, "/sign-in")
	for _, forged := range []string{"", "x", strings.Repeat("x", 4000), "ses_00000000000000000000"} {
		a.holds(forged)
		a.get("/dashboard").leads(t, "/sign-in")
	}
}

// Of very many sessions the page shows a hundred and the visitor's own: a script could open thousands, and a page that
// long would slow down everybody.
func TestManySessions(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	h.clock.move(time.Minute)
	sign := func(n int) {
		for range n {
			link, session := secret.Hash(secret.NewID("lnk_")), secret.Hash(secret.NewID("ses_"))
			in := store.NewLink{Hash: link, Purpose: models.LinkSignIn, Email: "ada@example.com", PerHour: 1000}
			if err := h.store.CreateLink(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if _, err := h.store.SignIn(t.Context(), models.DefaultPlans(), store.SignIn{Link: link, Session: session}); err != nil {
				t.Fatal(err)
			}
		}
	}
	shows := func(want int, older bool) {
		t.Helper()
		got := p.get("/dashboard/account")
		got.says(t, http.StatusOK, "this browser")
		if rows := strings.Count(got.text, "<tr><td>"); rows != want || strings.Contains(got.text, "Older sessions are not shown") != older {
			t.Errorf("%d sessions are shown, want %d; that there are more: %t, want %t", rows, want, !older, older)
		}
	}
	sign(99)
	shows(100, false)
	sign(20)
	shows(101, true)
}

// holds sets the person's session cookie to token.
func (p *person) holds(token string) {
	u, err := url.Parse(p.h.base)
	if err != nil {
		p.h.t.Fatal(err)
	}
	p.jar.SetCookies(u, []*http.Cookie{{Name: "session", Value: token, Path: "/"}})
}

// Nobody can see or change what belongs to another account.
func TestTenants(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	ada, eve := h.person(), h.person()
	ada.signIn("ada@example.com")
	eve.signIn("eve@example.com")
	key := h.keysOf("ada@example.com")[0]
	for _, path := range []string{"/dashboard/keys/" + key.ID + "/revoke", "/dashboard/keys/" + key.ID + "/rotate"} {
		theirs, nobodys := eve.get(path), eve.get(strings.Replace(path, key.ID, "key_nobodys", 1))
		if theirs.status != http.StatusNotFound || theirs.text != nobodys.text {
			t.Errorf("%s: %d, and other than for a key that is not there", path, theirs.status)
		}
		eve.post(path, "grace", "0").says(t, http.StatusNotFound)
		h.person().post(path).leads(t, "/sign-in")
	}
	if key := h.keysOf("ada@example.com")[0]; key.RevokedAt != nil || key.GraceUntil != nil {
		t.Error("a stranger has ended a key")
	}
	if len(h.keysOf("ada@example.com")) != 1 {
		t.Error("a stranger has made a key")
	}
}

func (h *house) keysOf(email string) []models.APIKey {
	h.t.Helper()
	keys, err := h.store.Keys(context.Background(), h.account(email).ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return keys
}

func TestKeys(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	p.post("/dashboard/keys", "name", "").says(t, http.StatusUnprocessableEntity, "Give the key a name")
	p.post("/dashboard/keys", "name", strings.Repeat("x", 101), "expires", "90").says(t, http.StatusUnprocessableEntity, "at most 100", `<option value="90" selected>`)
	p.post("/dashboard/keys", "name", `<b>"report"</b>`, "expires", "30").says(t, http.StatusOK, "Your new key")
	p.get("/dashboard/keys").says(t, http.StatusOK, "&lt;b&gt;&#34;report&#34;&lt;/b&gt;")
	p.post("/dashboard/keys", "name", "third").says(t, http.StatusConflict, "no more live keys", `value="third"`)
	first := h.keysOf("ada@example.com")[0]
	p.get("/dashboard/keys/"+first.ID+"/rotate").says(t, http.StatusOK, "24 hours")
	p.post("/dashboard/keys/"+first.ID+"/rotate", "grace", "1h").says(t, http.StatusOK, "keeps working for one hour")
	p.post("/dashboard/keys/"+first.ID+"/rotate", "grace", "1h").says(t, http.StatusConflict, "has already been rotated: only an active key can be rotated; if you did not see the key that replaced it, rotate that one")
	p.get("/dashboard/keys/"+first.ID+"/revoke").says(t, http.StatusOK, "cannot be undone")
	p.post("/dashboard/keys/"+first.ID+"/revoke").leads(t, "/dashboard/keys")
	p.get("/dashboard/keys").says(t, http.StatusOK, "Keys that no longer work (1)")
	h.clock.move(31 * 24 * time.Hour)
	p.signIn("ada@example.com")
	p.get("/dashboard/keys").says(t, http.StatusOK, "Keys that no longer work (2)", "expired")
}

func TestChangeEmail(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.person().signIn("taken@example.com")
	p := h.signedIn("ada@example.com")
	id := h.account("ada@example.com").ID
	p.post("/dashboard/account/email", "email", "nonsense").says(t, http.StatusUnprocessableEntity, `value="nonsense"`, "name@example.com")
	p.post("/dashboard/account/email", "email", "ada@xn--.com").says(t, http.StatusUnprocessableEntity, "name@example.com")
	p.post("/dashboard/account/email", "email", "ada@example.com").says(t, http.StatusUnprocessableEntity, "already")
	p.post("/dashboard/account/email", "email", "lovelace@example.com").says(t, http.StatusOK, "We sent a link")
	if h.account("ada@example.com").ID != id {
		t.Fatal("the address changed before it was confirmed")
	}
	token := h.tokenOf("lovelace@example.com")
	h.person().get("/dashboard/account/email/confirm?token="+token).says(t, http.StatusOK, "Use lovelace@example.com")
	h.person().post("/dashboard/account/email/confirm", "token", token).says(t, http.StatusOK, "Your address has changed")
	if h.account("lovelace@example.com").ID != id {
		t.Error("the address is not the account's")
	}
	if told := h.box.All()[0]; told.To != "ada@example.com" || !strings.Contains(told.Text(), "lovelace@example.com") {
		t.Errorf("the old address was not told: %+v", told)
	}
	p.get("/dashboard").says(t, http.StatusOK, "lovelace@example.com")
	p.post("/dashboard/account/email", "email", "Taken@example.com").says(t, http.StatusOK, "We sent a link") // as for an unused address
	h.person().post("/dashboard/account/email/confirm", "token", h.tokenOf("Taken@example.com")).says(t, http.StatusConflict, "another account")
}

// A link mailed to a mistyped address stops working once another one is requested, and stays so after that one is used.
// Signing out everywhere voids a pending link.
func TestChangeEmailSuperseded(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p, stranger := h.person(), h.person()
	p.signIn("ada@example.com")
	id := h.account("ada@example.com").ID
	dead := func(token string) {
		t.Helper()
		stranger.get("/dashboard/account/email/confirm?token="+token).says(t, http.StatusGone, "no longer works")
		stranger.post("/dashboard/account/email/confirm", "token", token).says(t, http.StatusGone, "no longer works")
	}
	p.post("/dashboard/account/email", "email", "typo@example.com").says(t, http.StatusOK, "We sent a link")
	typo := h.tokenOf("typo@example.com")
	p.post("/dashboard/account/email", "email", "right@example.com").says(t, http.StatusOK, "We sent a link")
	dead(typo)
	p.post("/dashboard/account/email/confirm", "token", h.tokenOf("right@example.com")).says(t, http.StatusOK, "Your address has changed")
	dead(typo)
	p.post("/dashboard/account/email", "email", "typo@example.com").says(t, http.StatusOK, "We sent a link")
	p.post("/dashboard/account/sign-out").leads(t, "/sign-in")
	dead(h.tokenOf("typo@example.com"))
	if h.account("right@example.com").ID != id {
		t.Error("the account is not at the address that was confirmed")
	}
}

// A closed account's keys and sessions stop working. An account that is opened again on the same day keeps the day's
// count; on the next day it starts at zero.
func TestCloseAccount(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	h.uses("ada@example.com", 70)
	p.get("/dashboard/account/close").says(t, http.StatusOK, "Close your account?")
	p.post("/dashboard/account/close").says(t, http.StatusUnprocessableEntity, "Check the box")
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK, "Your account is closed")
	p.get("/dashboard").leads(t, "/sign-in")
	p.signIn("ADA@example.com").says(t, http.StatusOK, "Welcome")
	if used := h.used("ada@example.com"); used != 70 {
		t.Errorf("signed up again on the same day: %d used, not 70", used)
	}
	h.uses("ada@example.com", 20)
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusOK)
	p.signIn("ada@example.com")
	if used := h.used("ada@example.com"); used < 90 {
		t.Errorf("closed twice: %d used, less than 90", used)
	}
	h.person().signIn("other@example.com")
	if used := h.used("other@example.com"); used != 0 {
		t.Errorf("somebody else: %d used", used)
	}
	p.post("/dashboard/account/close", "confirm", "yes")
	h.clock.move(24 * time.Hour)
	p.signIn("ada@example.com")
	if used := h.used("ada@example.com"); used != 0 {
		t.Errorf("signed up again on another day: %d used", used)
	}
}

func (h *house) uses(email string, n int64) {
	h.t.Helper()
	_, _, err := h.store.ApplyQuota(context.Background(), []store.QuotaOp{{Kind: store.QuotaTake, Key: h.account(email).ID, Period: 24 * time.Hour, Need: n, Limit: 100}})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) used(email string) int64 {
	h.t.Helper()
	used, _, err := h.store.CountedToday(context.Background(), h.account(email).ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return used
}

// A suspension cannot be escaped by closing the account, or giving up its address, and signing up again.
func TestSuspendedStays(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	p := h.signedIn("ada@example.com")
	if _, err := h.store.SetAccountStatus(context.Background(), "ada@example.com", models.AccountSuspended); err != nil {
		t.Fatal(err)
	}
	p.get("/dashboard").says(t, http.StatusOK, "Your account is suspended")
	p.post("/dashboard/account/close", "confirm", "yes").says(t, http.StatusConflict, "Contact support")
	p.post("/dashboard/account/email", "email", "other@example.com").says(t, http.StatusConflict, "cannot change until the suspension is lifted. Contact support")
	p.get("/dashboard").says(t, http.StatusOK)
	if _, err := h.store.SetAccountStatus(context.Background(), "ada@example.com", models.AccountActive); err != nil {
		t.Fatal(err)
	}
	p.post("/dashboard/account/email", "email", "other@example.com").says(t, http.StatusOK, "We sent a link")
}
