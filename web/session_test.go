package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
)

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
